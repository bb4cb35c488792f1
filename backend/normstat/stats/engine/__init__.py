"""Shared by all readers: lines, headers, timestamps, tables in bulk, and the ledger that accounts for every line.

Never: the layout of one tool (`readers`). Entry points: `line_engine`, which every reader derives from; `lines` for readers that go
line by line; `bulk` for plain tables, `shared_text` for those of many streams. `times` says when a line was printed, `series` reads
lines of one number, `trace` and `proc` are for the readers of these names.
"""
