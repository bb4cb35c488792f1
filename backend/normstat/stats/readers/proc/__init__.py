"""Readers of /proc files and of procps, iproute2 and nfs-utils tools.

Never: shared code (`stats.engine`). Entry point: each module is a reader, found by `stats.readers`.
"""
