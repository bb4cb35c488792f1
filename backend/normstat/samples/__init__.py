"""Samples in the database: one wide table for each stat, its streams, instances and raw bytes.

Responsible for: making and widening tables, bulk writes, pages of rows, chunks of raw bytes, sealed blocks (`sealed`), rollups
(`rollups`), user specs. Never: reading tool output, statistics, deciding when to pack or delete. Entry points: `samples` writes,
`sample_pages` and `sample_source` read, `stat_tables` makes the tables.
"""
