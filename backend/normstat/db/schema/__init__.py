"""The tables as SQLAlchemy models, the schema's version and its migrations.

Never: queries. Entry points: `models`, `job_models`, `baseline_models`, `event_models`, `artefact_models`, `view_models`,
`watch_models` and `retention_models`, `sealed_models` for the tables, `migrations` to upgrade.
"""
