"""Measure how far a series moved relative to its usual variation. Pure: numpy over arrays, no SQL, no HTTP, no clock.

Never: words, hosts or windows of the store. Entry points: `host_profile.score_window`, `summary.summarise`.
"""
