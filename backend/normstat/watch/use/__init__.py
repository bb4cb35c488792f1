"""The USE matrix: utilisation, saturation and errors of each resource of a host at a moment.

Responsible for: which recorded field answers a cell, its worst instance and state, and the command that answers it where nothing is
recorded. Never: rules and their episodes (`watch`). Entry points: `checklist`, which reads checklist.toml, and `matrix`.
"""
