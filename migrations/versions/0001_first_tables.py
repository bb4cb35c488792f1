"""first tables.

Compatibility: no version works without these tables; 0.1.0 is the first that works with them.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def add_timescaledb() -> None:
    """Create the extension TimescaleDB if the server has loaded it and we have the right; plain tables do otherwise.

    CREATE EXTENSION without the loaded library ends the connection (FATAL), so check its setting first.
    """
    op.execute("""
        DO $$
        BEGIN
            IF current_setting('timescaledb.disable_load', true) IS NOT NULL
               AND EXISTS (SELECT FROM pg_available_extensions WHERE name = 'timescaledb') THEN
                CREATE EXTENSION IF NOT EXISTS timescaledb;
            END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE NOTICE 'TimescaleDB is here, and this role may not add it; the samples go to plain tables';
        END
        $$
    """)


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    add_timescaledb()
    op.execute("CREATE SCHEMA stat")
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_tokens__token_hash")),
    )
    op.create_table(
        "baselines",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("windows", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baselines")),
        sa.UniqueConstraint("name", name=op.f("uq_baselines__name")),
    )
    op.create_table(
        "hosts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("os", sa.Text(), server_default="", nullable=False),
        sa.Column("agent_version", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("clock_offset_s", sa.Float(precision=53), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("name", name=op.f("uq_hosts__name")),
    )
    op.create_table(
        "stats",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("spec_version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stats")),
        sa.UniqueConstraint("name", name=op.f("uq_stats__name")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users__name")),
    )
    op.create_table(
        "agent_tokens",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_agent_tokens__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_agent_tokens__token_hash")),
    )
    op.create_table(
        "baseline_hosts",
        sa.Column("baseline_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_baseline_hosts__baseline_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_baseline_hosts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("baseline_id", "host_id", name=op.f("pk_baseline_hosts")),
    )
    op.create_table(
        "instances",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("stat_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("first_sample_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_sample_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_instances__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["stat_id"], ["stats.id"], name=op.f("fk_instances__stat_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instances")),
    )
    op.create_index("uq_instances__host_id_stat_id_name", "instances", ["host_id", "stat_id", "name"], unique=True)
    op.create_table(
        "login_links",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_login_links__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_login_links")),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    op.create_table(
        "stat_fields",
        sa.Column("stat_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("definition", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("is_documented", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["stat_id"], ["stats.id"], name=op.f("fk_stat_fields__stat_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stat_id", "key", name=op.f("pk_stat_fields")),
    )
    op.create_table(
        "streams",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("command", sa.Text(), server_default="", nullable=False),
        sa.Column("acked_offset", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("spec_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("reader_state", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_received_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("first_sample_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_sample_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("n_header", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_sample", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_since_boot", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_timestamp", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_state_change", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_ignored", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_rejected", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("bytes_by_kind", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("n_gap_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_streams__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_streams")),
    )
    op.create_index("uq_streams__host_id_spec_key", "streams", ["host_id", "spec", "key"], unique=True)
    op.create_table(
        "chunks",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("start_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_chunks__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "start_offset", name=op.f("pk_chunks")),
    )
    op.create_table(
        "gaps",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("start_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("reported_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_gaps__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "start_offset", name=op.f("pk_gaps")),
    )
    op.create_table(
        "rejected_lines",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("line_offset", sa.BigInteger(), nullable=False),
        sa.Column("line_no", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("line_text", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_rejected_lines__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rejected_lines")),
    )
    op.create_index("ix_rejected_lines__stream_id_id", "rejected_lines", ["stream_id", "id"], unique=False)


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("DROP SCHEMA stat CASCADE")
    op.drop_index("ix_rejected_lines__stream_id_id", table_name="rejected_lines")
    op.drop_table("rejected_lines")
    op.drop_table("gaps")
    op.drop_table("chunks")
    op.drop_index("uq_streams__host_id_spec_key", table_name="streams")
    op.drop_table("streams")
    op.drop_table("stat_fields")
    op.drop_table("sessions")
    op.drop_table("login_links")
    op.drop_index("uq_instances__host_id_stat_id_name", table_name="instances")
    op.drop_table("instances")
    op.drop_table("baseline_hosts")
    op.drop_table("agent_tokens")
    op.drop_table("users")
    op.drop_table("stats")
    op.drop_table("hosts")
    op.drop_table("baselines")
    op.drop_table("api_tokens")
