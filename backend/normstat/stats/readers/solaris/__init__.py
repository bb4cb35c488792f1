"""Readers of Solaris tools with special layouts: prstat, kstat, lockstat, truss, iostat -E, nicstat.

Never: shared code (`stats.engine`). Entry point: each module is a reader, found by `stats.readers`.
"""
