"""Copies a database into a folder of pieces, and restores it into an empty database.

Plain synchronous code on connections of its own. Never: what a command prints (`cli`), the differences of TimescaleDB and
PostgreSQL (`db.hypertables`). Entry points: `dump` writes what is new or changed, `restore_tables` restores it, `manifest` is the
format.
"""
