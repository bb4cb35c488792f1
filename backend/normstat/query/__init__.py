"""Read samples: a window and series keys in, columns of numbers out. Read-only.

Never: writing, statistics beyond what a graph needs. Entry points: `series_points` for graphs, `sample_pages` for raw rows,
`export`.
"""
