"""Readers of reports that a tool prints once: perf, iozone, mcelog, opreport, time.

Never: shared code (`stats.engine`). Entry point: each module is a reader, found by `stats.readers`.
"""
