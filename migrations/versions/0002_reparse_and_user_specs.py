"""timing of imported streams, long instance names, reparses, user specs.

Compatibility: 0.1.0 works before and after, but fills neither `reader_version` nor `stat_names` of
a stream; a reparse then reads such streams again. Later versions need this change.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def add_stream_columns() -> None:
    """Add the columns for an import's time options and for what a reparse must know of a stream."""
    op.add_column("streams", sa.Column("time_zone", sa.Text(), nullable=True))
    op.add_column("streams", sa.Column("first_day", sa.Date(), nullable=True))
    op.add_column("streams", sa.Column("start_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("streams", sa.Column("interval_s", sa.Float(precision=53), nullable=True))
    op.add_column(
        "streams",
        sa.Column("reader_version", sa.BigInteger(), server_default="0", nullable=False),
    )
    op.add_column(
        "streams",
        sa.Column(
            "stat_names",
            postgresql.ARRAY(sa.Text()),
            server_default=sa.text("'{}'::text[]"),
            nullable=False,
        ),
    )
    op.execute("UPDATE streams SET reader_version = spec_version")
    op.execute("""
        UPDATE streams
        SET stat_names = coalesce((SELECT array_agg(stats.name ORDER BY stats.name) FROM stats WHERE stats.spec = streams.spec), '{}')
        WHERE first_sample_at IS NOT NULL
    """)


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    add_stream_columns()
    op.drop_index("uq_instances__host_id_stat_id_name", table_name="instances")
    op.create_index(
        "uq_instances__host_id_stat_id_name_md5",
        "instances",
        ["host_id", "stat_id", sa.text("md5(name)")],
        unique=True,
    )
    op.create_table(
        "reparses",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("stream_id", sa.BigInteger(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("is_outdated_only", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("newest_stream_id", sa.BigInteger(), nullable=False),
        sa.Column("last_stream_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_streams", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_streams_done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_bytes_done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_samples_before", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_samples_after", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_rejected_after", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["host_id"],
            ["hosts.id"],
            name=op.f("fk_reparses__host_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["stream_id"],
            ["streams.id"],
            name=op.f("fk_reparses__stream_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reparses")),
    )
    op.create_table(
        "user_specs",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_user_specs")),
    )


def downgrade() -> None:
    """Revert the change; fail if an instance's name is longer than the old index can hold."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("user_specs")
    op.drop_table("reparses")
    op.drop_index("uq_instances__host_id_stat_id_name_md5", table_name="instances")
    op.create_index(
        "uq_instances__host_id_stat_id_name",
        "instances",
        ["host_id", "stat_id", "name"],
        unique=True,
    )
    for column in (
        "stat_names",
        "reader_version",
        "interval_s",
        "start_at",
        "first_day",
        "time_zone",
    ):
        op.drop_column("streams", column)
