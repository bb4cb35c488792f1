"""The tables as SQLAlchemy models.

Never: queries. Entry points: `all_models`, which has every table, and `models` with hosts, streams and accounts.
"""
