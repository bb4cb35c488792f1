"""Read-only queries: turn a window and series keys into columns of numbers.

Never: writing, statistics beyond what a graph needs. Entry points: `series_points` for graphs, `raw_reports` for what a tool
printed, `export`.
"""
