"""The database: sessions, roles, schema, and the differences between PostgreSQL, TimescaleDB and Citus.

Responsible for: connections and their limits, the leader among servers, standbys, clusters, budgets of rows, tables and migrations
(`schema`). Never: what a row means; its feature knows. Entry points: `session`, `schema.models`, `hypertables`.
"""
