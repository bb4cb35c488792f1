"""Findings: scored series classified, grouped and put into words. Pure: numpy and plain values, no SQL, no HTTP, no clock.

Never: deciding how unusual a series is (`scoring`). Entry points: `classify`, `grouping`, `wording`.
"""
