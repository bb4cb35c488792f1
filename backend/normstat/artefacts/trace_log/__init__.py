"""Logs of traces: read from what strace, perf, ftrace and LKST print, filtered, paired into latencies, drawn as lanes.

Responsible for: events one by one, and what follows from pairs of them. Never: tables and stacks of the same tools (`stats`), SQL,
HTTP. Entry points: `trace_reading.read_trace` makes a log of bytes, `log_filter` chooses events, `latency` measures pairs, `lanes`
bins them for a screen, `blocking` says who waited for whom, `queue_depth` how full queues were, `log_export` writes text and CSV
(`report.log_pictures` draws). All are pure.
"""
