"""PostgreSQL and TimescaleDB: tables, sessions and bulk writes.

Responsible for: every statement that writes, the schema and its migrations, retention, backup. Never: reading tool output,
statistics. Entry points: `session`, `samples`, `schema.models`.
"""
