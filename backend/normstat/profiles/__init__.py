"""Profiles: the statistics of every series of a baseline, computed once and stored.

Responsible for: sketches of hours, building profiles from them, their storage format, bands and seasonality. Never: incidents
(`comparison`). Entry points: `profile_job` computes, `stored_profile` reads. `sketch` is pure.
"""
