"""The tables as SQLAlchemy models, the schema's version and its migrations. Entry points: `models`, `migrations`."""
