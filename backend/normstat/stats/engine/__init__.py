"""What all readers share: lines, headers, timestamps, tables in bulk, and the ledger that accounts for every line.

Never: the layout of one tool (`readers`). Entry points: `lines` for line-by-line readers, `block` and `bulk` for plain tables.
"""
