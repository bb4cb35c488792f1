"""Shared by the readers of recorded /proc files: counters between snapshots, and the base of their readers.

Must not: read files, know a clock, or import a reader. Entry points: counter_reader.CounterReader, counters.CounterTable.
"""
