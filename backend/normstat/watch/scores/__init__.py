"""The continuous comparison: every host against its own normal, each minute, all series, the result stored.

Responsible for: the anomaly scores of a host by subsystem over the last 1, 5 and 15 minutes, the series behind them, and their
history. Never: the ranking that a person asks for (`comparison`), states and episodes (`watch`). Entry points: `score_job`, which
runs by the clock, and its `score_job.backfill` for the past. `host_bands` and `minute_scores` are pure.
"""
