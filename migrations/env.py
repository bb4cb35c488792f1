"""Configure Alembic: which tables it manages, and on which connection."""

from typing import Literal

from alembic import context
from sqlalchemy import Connection
from sqlalchemy.schema import SchemaItem

from normstat.settings import load_settings
from normstat.db.schema.all_models import Base
from normstat.db.session import make_sync_engine

ObjectType = Literal["schema", "table", "column", "index", "unique_constraint", "foreign_key_constraint", "check_constraint"]


def is_ours(item: SchemaItem, name: str | None, type_: ObjectType, reflected: bool, compare_to: SchemaItem | None) -> bool:
    """Return whether a table is in the default schema; `stat` is created from the specs, other schemas belong to TimescaleDB."""
    del name, type_, reflected, compare_to
    return getattr(item, "schema", None) is None


def run(connection: Connection) -> None:
    """Run the requested migrations, each in its own transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=is_ours,
        compare_type=True,
        compare_server_default=True,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


engine = make_sync_engine(context.config.attributes.get("database_url") or load_settings().database_url)
try:
    with engine.connect() as connection:
        run(connection)
finally:
    engine.dispose()
