"""Profiles: the statistics of every series of a baseline, computed once and kept.

Responsible for: sketches of hours, joining them to a profile, its storage format, bands and seasonality. Never: what an
incident did (`comparison`). Entry points: `profile_job` computes, `stored_profile` reads. `sketch` is pure.
"""
