"""One list by time of what there is about incidents, whatever found or made it.

Never: rows of its own. Entry point: `incident_rows`.
"""
