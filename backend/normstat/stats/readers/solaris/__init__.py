"""Readers of Solaris tools with layouts of their own: prstat, kstat, lockstat, truss, iostat -E, nicstat.

Never: what readers share (`stats.engine`). Entry point: each module is a reader, found by `stats.readers`.
"""
