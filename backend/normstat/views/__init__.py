"""Saved views: panels that a person wants to see together, on whatever host is chosen.

Never: the samples that a view draws, nor who may see it. Entry points: `view_panels` for what a view consists of, `view_rows`
for their rows, and for the views that come with normstat.
"""
