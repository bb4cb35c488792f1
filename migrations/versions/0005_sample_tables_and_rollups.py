"""sample tables in a separate schema, with one index; rollups, retention, deletions.

The wide tables move from schema `stat` to `samples`, and views for people take their place. Their
columns stay as they are; tables created later have narrower ones. Compatibility: code before 0005
does not work after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

READ_FIELDS = sa.text("SELECT s.name, f.key FROM stats AS s JOIN stat_fields AS f ON f.stat_id = s.id ORDER BY s.name, f.position")


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("CREATE SCHEMA samples")
    for name, keys in read_fields().items():
        columns = ", ".join(f's."{key}"' for key in keys)
        op.execute(f'DROP VIEW stat."{name}_named"')
        op.execute(f'ALTER TABLE stat."{name}" SET SCHEMA samples')
        op.execute(f'DROP INDEX samples."ix_{name}__host_instance_time"')
        op.execute(
            f'CREATE VIEW stat."{name}" AS SELECT s.time, h.name AS host, i.name AS instance, s.host_id, s.instance_id,'
            f" s.stream_id, s.line_offset, NULLIF(s.printed, '') AS printed, {columns}"
            f' FROM samples."{name}" AS s JOIN hosts AS h ON h.id = s.host_id JOIN instances AS i ON i.id = s.instance_id'
        )
    op.add_column("hosts", sa.Column("instance_epoch", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("hosts", sa.Column("rolled_until", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "rollups",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("stat_id", sa.Integer(), nullable=False),
        sa.Column("level", sa.SmallInteger(), nullable=False),
        sa.Column("field_key", sa.Text(), nullable=False),
        sa.Column("block_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "level", "field_key", "block_at", name=op.f("pk_rollups")),
    )
    # Already compressed.
    op.execute("ALTER TABLE rollups ALTER COLUMN body SET STORAGE EXTERNAL")
    op.create_table(
        "rollup_marks",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("stat_id", sa.Integer(), nullable=False),
        sa.Column("hour_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.BigInteger(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "hour_at", name=op.f("pk_rollup_marks")),
    )
    op.create_table(
        "retention_rules",
        sa.Column("stat", sa.Text(), nullable=False),
        sa.Column("samples_days", sa.BigInteger(), nullable=True),
        sa.Column("chunks_days", sa.BigInteger(), nullable=True),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("stat", name=op.f("pk_retention_rules")),
    )
    op.create_table(
        "host_deletions",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("n_samples", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("host_id", name=op.f("pk_host_deletions")),
    )
    op.create_table(
        "storage_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sizes", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_storage_days")),
    )
    # Raw bytes are already compressed; PostgreSQL would try again in vain.
    op.execute("ALTER TABLE chunks ALTER COLUMN body SET STORAGE EXTERNAL")


def downgrade() -> None:
    """Revert the change; fail for tables created after it, because older code does not know their types."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    n_newer = op.get_bind().scalar(sa.text("SELECT count(*) FROM stat_fields WHERE definition ->> 'storage' IN ('int4', 'dec4')"))
    if n_newer:
        raise RuntimeError(f"{n_newer} columns have types that came with 0005: restore a backup instead")
    op.execute("ALTER TABLE chunks ALTER COLUMN body SET STORAGE EXTENDED")
    for table in ("storage_days", "host_deletions", "retention_rules", "rollup_marks", "rollups"):
        op.drop_table(table)
    op.drop_column("hosts", "rolled_until")
    op.drop_column("hosts", "instance_epoch")
    for name, keys in read_fields().items():
        columns = ", ".join(f's."{key}"' for key in keys)
        op.execute(f'DROP VIEW stat."{name}"')
        op.execute(f'ALTER TABLE samples."{name}" SET SCHEMA stat')
        op.execute(f'CREATE INDEX "ix_{name}__host_instance_time" ON stat."{name}" (host_id, instance_id, time)')
        op.execute(
            f'CREATE VIEW stat."{name}_named" AS SELECT s.time, h.name AS host, i.name AS instance, {columns}'
            f' FROM stat."{name}" AS s JOIN hosts AS h ON h.id = s.host_id JOIN instances AS i ON i.id = s.instance_id'
        )
    op.execute("DROP SCHEMA samples")


def read_fields() -> dict[str, list[str]]:
    """Return the field keys of each stat that has a table; stats and keys consist of letters, digits and _."""
    found: dict[str, list[str]] = {}
    for name, key in op.get_bind().execute(READ_FIELDS):
        found.setdefault(name, []).append(key)
    return found
