"""Rollups: minutes, hours and days of every series, so that a year draws as fast as an hour.

Responsible for: their codec, tables, reader and the job that keeps them current. Never: raw samples (`storage`, `query`). Entry
points: `rollup_job` writes, `rollup_reader` reads.
"""
