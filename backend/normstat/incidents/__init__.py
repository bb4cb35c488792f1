"""What there is about incidents, whatever found or made it: one list by time, verdicts of changes, and what is remembered.

Never: a method of comparing, nor rows of its own. Entry points: `incident_rows`, `change_verdict_answer`, `incident_worker`.
"""
