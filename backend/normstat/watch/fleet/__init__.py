"""The fleet: all hosts at one moment, each beside its own normal, most unusual first.

Responsible for: the key metrics of a host, their normal values from the baseline that covers it, means by minute, and how far they
are from normal. Never: SQL (`query`), the ranking of all series of a host (`comparison`). Entry point: `fleet_service`. `judging`
is pure.
"""
