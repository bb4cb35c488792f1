"""Rollups: minutes, hours and days of every series, so that a year draws as fast as an hour.

Responsible for: their tables, reader and the job that keeps them current. Never: their packed form (`codecs`), raw samples. Entry
points: `rollup_job` writes, `rollup_reader` reads.
"""
