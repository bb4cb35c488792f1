"""Baselines: named periods in which a host is known to be normal.

Responsible for: creating, versioning and deleting baselines, recurring hours, excluded periods, health. Never: statistics of series
(`profiles`) or the comparison (`comparison`). Entry point: `lifecycle`.
"""
