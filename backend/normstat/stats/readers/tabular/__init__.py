"""Readers of tables and other regular layouts, each described by a spec: columns, CPU blocks, named values, sentences.

Never: shared code (`stats.engine`). Entry point: each module is a reader, found by `stats.readers`.
"""
