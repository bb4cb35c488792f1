"""The schema of the first release: all tables of the default schema, and the schemas of samples.

Compatibility: no version works without it. Databases of development that are at 0043 have it already, eleven foreign keys of theirs
under longer names.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0043"
down_revision = None
branch_labels = None
depends_on = None

# They are compressed already.
EXTERNAL = {
    "artefact_bytes": ("body",),
    "artefact_parts": ("body",),
    "chunks": ("body",),
    "packed_chunks": ("body", "directory"),
    "profile_pieces": ("body",),
    "profiles": ("band", "body"),
    "report_file_bytes": ("body",),
    "report_notes": ("frozen",),
    "rollups": ("body",),
    "sealed_blocks": ("body", "head"),
}
# Whoever has the server's password of the database can still drop the trigger: what must outlive that goes to syslog.
GUARD = """
CREATE FUNCTION guard_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < now() - interval '30 days' AND current_setting('normstat.audit_expiry', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'audit_entries only grows: % is refused', TG_OP;
END
$$
"""
# One order for all, so that two attempts with the same keys wait for each other without a deadlock. The locks end with the statement.
LOCK = """
CREATE FUNCTION lock_login_attempts(kinds text[], keys bytea[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(lock) FROM (
        SELECT hashtextextended(kind || encode(key, 'hex'), 30) AS lock FROM unnest(kinds, keys) AS asked (kind, key) ORDER BY 1
    ) AS ordered;
END
$$
"""
# How long an attempt under these keys has to wait. `pauses_s`: NULL where waits double, else what pays off one attempt.
WAIT = """
CREATE FUNCTION login_wait_s(
    kinds text[], keys bytea[], free_tries int[], pauses_s float8[], max_wait_s float8, forget_after_s float8, at timestamptz
) RETURNS float8 LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(greatest(0, CASE
        WHEN pause_s IS NOT NULL THEN extract(epoch FROM a.paid_at - at)::float8 - (free - 1) * pause_s
        WHEN a.n < free OR extract(epoch FROM at - a.last_at) > forget_after_s THEN 0
        -- The exponent is bounded before it is used.
        ELSE least(2.0 ^ least(a.n - free, 10), max_wait_s) + extract(epoch FROM a.last_at - at)::float8
    END)), 0)
    FROM unnest(kinds, keys, free_tries, pauses_s) AS asked (kind, key, free, pause_s)
    JOIN login_attempts AS a ON a.kind = asked.kind AND a.key = asked.key
$$
"""
# Counts an attempt under all of its keys, or under none when one of them has to wait; returns the wait in seconds.
COUNT = """
CREATE FUNCTION count_login_attempt(
    kinds text[], keys bytea[], free_tries int[], pauses_s float8[], max_wait_s float8, forget_after_s float8, at timestamptz
) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    wait_s float8;
BEGIN
    PERFORM lock_login_attempts(kinds, keys);
    -- After the locks: of two attempts the second one is later. Each statement from here on sees what the first one wrote.
    at := coalesce(at, clock_timestamp());
    wait_s := login_wait_s(kinds, keys, free_tries, pauses_s, max_wait_s, forget_after_s, at);
    IF wait_s > 0 THEN
        RETURN wait_s;
    END IF;
    INSERT INTO login_attempts AS a (kind, key, n, last_at, paid_at)
    SELECT kind, key, 1, at, at + make_interval(secs => coalesce(pause_s, 0)) FROM unnest(kinds, keys, pauses_s) AS t (kind, key, pause_s)
    ON CONFLICT (kind, key) DO UPDATE SET
        n = CASE WHEN extract(epoch FROM at - a.last_at) > forget_after_s THEN 1 ELSE a.n + 1 END,
        last_at = at,
        paid_at = greatest(a.paid_at, at) + (excluded.paid_at - at);
    RETURN 0;
END
$$
"""
# Takes an attempt back. One that was right also ends the doubling of waits; other people's attempts share the other keys.
SETTLE = """
CREATE FUNCTION settle_login_attempt(kinds text[], keys bytea[], pauses_s float8[], is_right boolean)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM lock_login_attempts(kinds, keys);
    UPDATE login_attempts AS a SET
        n = CASE WHEN is_right AND pause_s IS NULL THEN 0 ELSE greatest(0, a.n - 1) END,
        paid_at = a.paid_at - make_interval(secs => coalesce(pause_s, 0))
    FROM unnest(kinds, keys, pauses_s) AS asked (kind, key, pause_s)
    WHERE a.kind = asked.kind AND a.key = asked.key;
END
$$
"""


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
    op.execute("CREATE SCHEMA samples")
    op.create_table(
        "alert_channels",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("secrets", postgresql.JSONB(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_channels")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_channels__name")),
    )
    op.create_table(
        "alert_routes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_routes")),
        sa.UniqueConstraint("name", name=op.f("uq_alert_routes__name")),
    )
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
        "audit_entries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.Column("account", sa.Text(), nullable=True),
        sa.Column("means", sa.Text(), nullable=False),
        sa.Column("token_id", sa.BigInteger(), nullable=True),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("is_refused", sa.Boolean(), nullable=False),
        sa.Column("target", postgresql.JSONB(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index("ix_audit_entries__account_id", "audit_entries", ["account", "id"], unique=False)
    op.create_index("ix_audit_entries__at", "audit_entries", ["at"], unique=False)
    op.create_table(
        "audit_forwarding",
        sa.Column("receiver", sa.Text(), nullable=False),
        sa.Column("last_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("receiver", name=op.f("pk_audit_forwarding")),
    )
    op.create_table(
        "comparisons",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("inputs", postgresql.JSONB(), nullable=False),
        sa.Column("result", sa.LargeBinary(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparisons")),
    )
    op.create_table(
        "data_checks",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_damaged", sa.Integer(), nullable=False),
        sa.Column("damaged", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("source", name=op.f("pk_data_checks")),
    )
    op.create_table(
        "experiments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiments")),
    )
    op.create_index("uq_experiments__name", "experiments", ["name"], unique=True, postgresql_where=sa.text("deleted_at IS NULL"))
    op.create_table(
        "host_groups",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_groups")),
        sa.UniqueConstraint("name", name=op.f("uq_host_groups__name")),
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
        sa.Column("machine", sa.Text(), server_default="", nullable=False),
        sa.Column("machine_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("other_machine_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("agent_tags", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("instance_epoch", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rolled_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("profiled_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_hosts")),
        sa.UniqueConstraint("name", name=op.f("uq_hosts__name")),
    )
    op.create_table(
        "join_tokens",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("host_pattern", sa.Text(), server_default="", nullable=False),
        sa.Column("tags", sa.ARRAY(sa.Text()), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("allows_takeover", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("max_uses", sa.BigInteger(), nullable=False),
        sa.Column("n_uses", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_join_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_join_tokens__token_hash")),
    )
    op.create_table(
        "login_attempts",
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("n", sa.BigInteger(), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_login_attempts")),
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "reports",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("is_template", sa.Boolean(), nullable=False),
        sa.Column("hosts", postgresql.JSONB(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reports")),
    )
    op.create_table(
        "retention_marks",
        sa.Column("stat", sa.Text(), nullable=False),
        sa.Column("kept_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("marked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("stat", name=op.f("pk_retention_marks")),
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
        "rollup_marks",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("stat_id", sa.Integer(), nullable=False),
        sa.Column("hour_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.BigInteger(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "hour_at", name=op.f("pk_rollup_marks")),
    )
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
    op.create_table(
        "sealed_blocks",
        sa.Column("host_id", sa.Integer(), nullable=False),
        sa.Column("stat_id", sa.Integer(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("n_rows", sa.Integer(), nullable=False),
        sa.Column("n_values", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stream_ids", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "start_at", name=op.f("pk_sealed_blocks")),
    )
    op.create_table(
        "server_processes",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_server_processes")),
        prefixes=["UNLOGGED"],
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
        "storage_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("measured_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sizes", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_storage_days")),
    )
    op.create_table(
        "store_identity",
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_store_identity")),
    )
    op.create_table(
        "user_specs",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_user_specs")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("disabled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("provider_issuer", sa.Text(), nullable=True),
        sa.Column("provider_subject", sa.Text(), nullable=True),
        sa.Column("is_disabled_by_provider", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_limited", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users__name")),
        sa.UniqueConstraint("provider_issuer", "provider_subject", name=op.f("uq_users__provider_issuer_provider_subject")),
    )
    op.create_table(
        "watch_rule_changes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=True),
        sa.Column("change", sa.Text(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_rule_changes")),
    )
    op.create_index("ix_watch_rule_changes__rule_id", "watch_rule_changes", ["rule", "id"], unique=False)
    op.create_table(
        "watch_rules",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("toml", sa.Text(), nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("stopped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stopped_why", sa.Text(), server_default="", nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_watch_rules")),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("signing_key", sa.Text(), nullable=False),
        sa.Column("topics", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sa.UniqueConstraint("name", name=op.f("uq_webhooks__name")),
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
        sa.Column("join_token_id", sa.BigInteger(), nullable=True),
        sa.Column("replaces_id", sa.BigInteger(), nullable=True),
        sa.Column("rotation_asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_agent_tokens__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["join_token_id"], ["join_tokens.id"], name=op.f("fk_agent_tokens__join_token_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["replaces_id"], ["agent_tokens.id"], name=op.f("fk_agent_tokens__replaces_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_tokens")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_agent_tokens__token_hash")),
    )
    op.create_index(op.f("ix_agent_tokens__replaces_id"), "agent_tokens", ["replaces_id"], unique=False)
    op.create_table(
        "alerts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("route_id", sa.BigInteger(), nullable=True),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fired_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("renewed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("told_colour", sa.Text(), server_default="", nullable=False),
        sa.Column("told", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("level", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_messages", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("calm_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_by", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("silence_key", sa.LargeBinary(), nullable=False),
        sa.Column("silenced_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_alerts__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["route_id"], ["alert_routes.id"], name=op.f("fk_alerts__route_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
    )
    op.create_index(
        "ix_alerts__open", "alerts", ["route_id"], unique=False, postgresql_where=sa.text("state IN ('waiting', 'firing')")
    )
    op.create_index("ix_alerts__opened_at", "alerts", ["opened_at"], unique=False)
    op.create_table(
        "artefacts",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("duration_s", sa.Float(precision=53), nullable=True),
        sa.Column("exit_status", sa.BigInteger(), nullable=True),
        sa.Column("tool", sa.Text(), server_default="", nullable=False),
        sa.Column("spec", sa.Text(), server_default="", nullable=False),
        sa.Column("spec_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("question", sa.Text(), server_default="", nullable=False),
        sa.Column("command", sa.Text(), server_default="", nullable=False),
        sa.Column("file_name", sa.Text(), server_default="", nullable=False),
        sa.Column("effect", sa.Text(), server_default="none", nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("n_lines", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_rejected", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("rejected", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("search_text", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_artefacts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_artefacts")),
    )
    op.create_index(
        "ix_artefacts__author_created_at",
        "artefacts",
        ["author", "created_at"],
        unique=False,
        postgresql_where=sa.text("author <> ''"),
    )
    op.create_index("ix_artefacts__host_id_start_at", "artefacts", ["host_id", "start_at"], unique=False)
    op.create_index("ix_artefacts__sha256", "artefacts", ["sha256"], unique=False)
    op.create_index("ix_artefacts__start_at", "artefacts", ["start_at"], unique=False)
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
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("time_zone", sa.Text(), server_default="UTC", nullable=False),
        sa.Column("rrule", sa.Text(), nullable=True),
        sa.Column("rule_start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("rule_duration_s", sa.Integer(), nullable=True),
        sa.Column("keep_days", sa.Integer(), nullable=True),
        sa.Column("recording_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
        sa.Column("rolling_host_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["group_id"], ["host_groups.id"], name=op.f("fk_baselines__group_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["rolling_host_id"], ["hosts.id"], name=op.f("fk_baselines__rolling_host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baselines")),
        sa.UniqueConstraint("name", name=op.f("uq_baselines__name")),
        sa.UniqueConstraint("rolling_host_id", name=op.f("uq_baselines__rolling_host_id")),
    )
    op.create_table(
        "exclusions",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_exclusions__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_exclusions")),
    )
    op.create_table(
        "experiment_runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("experiment_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("factors", postgresql.JSONB(), server_default=sa.text("'{}'::jsonb"), nullable=False),
        sa.Column("command", sa.Text(), server_default="", nullable=False),
        sa.Column("exit_status", sa.BigInteger(), nullable=True),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("excluded_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["experiment_id"], ["experiments.id"], name=op.f("fk_experiment_runs__experiment_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_experiment_runs__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiment_runs")),
    )
    op.create_index(
        "ix_experiment_runs__author_created_at",
        "experiment_runs",
        ["author", "created_at"],
        unique=False,
        postgresql_where=sa.text("author <> ''"),
    )
    op.create_index("ix_experiment_runs__experiment_id_start_at", "experiment_runs", ["experiment_id", "start_at"], unique=False)
    op.create_index("ix_experiment_runs__host_id_start_at", "experiment_runs", ["host_id", "start_at"], unique=False)
    op.create_table(
        "host_group_hosts",
        sa.Column("group_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["host_groups.id"], name=op.f("fk_host_group_hosts__group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_host_group_hosts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("group_id", "host_id", name=op.f("pk_host_group_hosts")),
    )
    op.create_table(
        "host_scores",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("minute_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("method", sa.SmallInteger(), nullable=False),
        sa.Column("baseline_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("n_judged", sa.Integer(), nullable=False),
        sa.Column("scores_1", postgresql.ARRAY(sa.REAL()), nullable=False),
        sa.Column("scores_5", postgresql.ARRAY(sa.REAL()), nullable=False),
        sa.Column("scores_15", postgresql.ARRAY(sa.REAL()), nullable=False),
        sa.Column("findings", postgresql.JSONB(), server_default=sa.text("'[]'::jsonb"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_host_scores__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "minute_at", name=op.f("pk_host_scores")),
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
    op.create_index(
        "uq_instances__host_id_stat_id_name_hash",
        "instances",
        ["host_id", "stat_id", sa.literal_column("(md5(name)::uuid)")],
        unique=True,
    )
    op.create_table(
        "known_browsers",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("last_login_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_known_browsers__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", "user_id", name=op.f("pk_known_browsers")),
    )
    op.create_index(op.f("ix_known_browsers__user_id"), "known_browsers", ["user_id"], unique=False)
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
        "muted_series",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("stat", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("instance", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_muted_series__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_muted_series")),
    )
    op.create_table(
        "profile_pieces",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("stat_id", sa.BigInteger(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("method", sa.SmallInteger(), nullable=False),
        sa.Column("n_rows", sa.BigInteger(), nullable=False),
        sa.Column("spec_version", sa.Integer(), server_default="0", nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_profile_pieces__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["stat_id"], ["stats.id"], name=op.f("fk_profile_pieces__stat_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "start_at", "end_at", "method", name=op.f("pk_profile_pieces")),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("code_hash", sa.LargeBinary(), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_recovery_codes__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name=op.f("pk_recovery_codes")),
    )
    op.create_table(
        "report_files",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("report_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["report_id"], ["reports.id"], name=op.f("fk_report_files__report_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_report_files")),
    )
    op.create_index("ix_report_files__report_id", "report_files", ["report_id"], unique=False)
    op.create_table(
        "report_notes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("report_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("content", postgresql.JSONB(), nullable=False),
        sa.Column("frozen", sa.LargeBinary(), nullable=True),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revision", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_by", sa.Text(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["report_id"], ["reports.id"], name=op.f("fk_report_notes__report_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_report_notes")),
    )
    op.create_index("ix_report_notes__report_id_position", "report_notes", ["report_id", "position"], unique=False)
    op.create_table(
        "second_factors",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_step", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_second_factors__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_second_factors")),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_seen_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("address", sa.Text(), server_default="", nullable=False),
        sa.Column("browser", sa.Text(), server_default="", nullable=False),
        sa.Column("means", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
        sa.UniqueConstraint("id", name=op.f("uq_sessions__id")),
    )
    op.create_index(op.f("ix_sessions__user_id"), "sessions", ["user_id"], unique=False)
    op.create_table(
        "share_links",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("comparison_id", sa.BigInteger(), nullable=True),
        sa.Column("report_id", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("n_opened", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_opened_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["comparison_id"], ["comparisons.id"], name=op.f("fk_share_links__comparison_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["report_id"], ["reports.id"], name=op.f("fk_share_links__report_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_share_links")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_share_links__token_hash")),
    )
    op.create_table(
        "stat_fields",
        sa.Column("stat_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column("is_documented", sa.Boolean(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
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
        sa.Column("reader_state", postgresql.JSONB(), server_default="{}", nullable=False),
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
        sa.Column("bytes_by_kind", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("n_gap_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=True),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("interval_s", sa.Float(precision=53), nullable=True),
        sa.Column("is_first_real", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reader_version", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("stat_names", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("is_finished", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_streams__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_streams")),
    )
    op.create_index("uq_streams__host_id_spec_key", "streams", ["host_id", "spec", "key"], unique=True)
    op.create_table(
        "user_host_groups",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("group_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["host_groups.id"], name=op.f("fk_user_host_groups__group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_host_groups__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "group_id", name=op.f("pk_user_host_groups")),
    )
    op.create_index(op.f("ix_user_host_groups__group_id"), "user_host_groups", ["group_id"], unique=False)
    op.create_table(
        "view_stars",
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("view_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_view_stars__user_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "view_key", name=op.f("pk_view_stars")),
    )
    op.create_table(
        "views",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("panels", postgresql.JSONB(), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("owner_id", sa.BigInteger(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name=op.f("fk_views__owner_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_views")),
        sa.UniqueConstraint("key", name=op.f("uq_views__key")),
        sa.UniqueConstraint("owner_id", "name", name=op.f("uq_views__owner_id_name")),
    )
    op.create_table(
        "watch_limits",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Float(precision=53), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("group_id", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["host_groups.id"], name=op.f("fk_watch_limits__group_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watch_limits__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_limits")),
    )
    op.create_index(op.f("ix_watch_limits__rule"), "watch_limits", ["rule"], unique=False)
    op.create_table(
        "watch_mutes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("tag", sa.Text(), nullable=True),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("instance", sa.Text(), nullable=True),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watch_mutes__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watch_mutes")),
    )
    op.create_table(
        "watched_hosts",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("since_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("progress", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watched_hosts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", name=op.f("pk_watched_hosts")),
    )
    op.create_table(
        "watched_states",
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("from_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("colour", sa.SmallInteger(), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_watched_states__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", "source", "from_at", name=op.f("pk_watched_states")),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("webhook_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("content", postgresql.JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("n_tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_webhook_deliveries__webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint("key", name=op.f("uq_webhook_deliveries__key")),
    )
    op.create_index("ix_webhook_deliveries__created_at", "webhook_deliveries", ["created_at"], unique=False)
    op.create_index(
        "ix_webhook_deliveries__unsent",
        "webhook_deliveries",
        ["webhook_id", "id"],
        unique=False,
        postgresql_where=sa.text("state IN ('queued', 'sending')"),
    )
    op.create_index("ix_webhook_deliveries__webhook_id", "webhook_deliveries", ["webhook_id", "id"], unique=False)
    op.create_table(
        "alert_messages",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("content", postgresql.JSONB(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("n_tries", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("next_try_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tried_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answer", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name=op.f("fk_alert_messages__alert_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["channel_id"], ["alert_channels.id"], name=op.f("fk_alert_messages__channel_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alert_messages")),
        sa.UniqueConstraint("alert_id", "number", "channel_id", name=op.f("uq_alert_messages__alert_id_number_channel_id")),
        sa.UniqueConstraint("key", name=op.f("uq_alert_messages__key")),
    )
    op.create_index(op.f("ix_alert_messages__channel_id"), "alert_messages", ["channel_id"], unique=False)
    op.create_index(
        "ix_alert_messages__unsent",
        "alert_messages",
        ["channel_id", "alert_id", "number"],
        unique=False,
        postgresql_where=sa.text("state IN ('queued', 'sending')"),
    )
    op.create_table(
        "artefact_bytes",
        sa.Column("artefact_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["artefact_id"], ["artefacts.id"], name=op.f("fk_artefact_bytes__artefact_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("artefact_id", "position", name=op.f("pk_artefact_bytes")),
    )
    op.create_table(
        "artefact_parts",
        sa.Column("artefact_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("stat", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("n_rows", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["artefact_id"], ["artefacts.id"], name=op.f("fk_artefact_parts__artefact_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("artefact_id", "position", name=op.f("pk_artefact_parts")),
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
        "baseline_versions",
        sa.Column("baseline_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("windows", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("hosts", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("time_zone", sa.Text(), server_default="UTC", nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["baseline_id"], ["baselines.id"], name=op.f("fk_baseline_versions__baseline_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("baseline_id", "version", name=op.f("pk_baseline_versions")),
    )
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
        "episodes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_version", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("instance", sa.Text(), server_default="", nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_by", sa.Text(), nullable=True),
        sa.Column("colour", sa.Text(), nullable=False),
        sa.Column("worst_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("saw", postgresql.JSONB(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("acknowledged_by", sa.Text(), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("exclusion_id", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["exclusion_id"], ["exclusions.id"], name=op.f("fk_episodes__exclusion_id"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_episodes__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episodes")),
    )
    op.create_index("ix_episodes__host_id_start_at", "episodes", ["host_id", "start_at"], unique=False)
    op.create_index(
        "ix_episodes__open", "episodes", ["source", "host_id"], unique=False, postgresql_where=sa.text("ended_at IS NULL")
    )
    op.create_index("ix_episodes__start_at", "episodes", ["start_at"], unique=False)
    op.create_index(
        "uq_episodes__source",
        "episodes",
        ["source", sa.literal_column("coalesce(host_id, 0)"), sa.literal_column("md5(instance)"), "start_at"],
        unique=True,
    )
    op.create_table(
        "events",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("not_before_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.Text()), server_default=sa.text("'{}'::text[]"), nullable=False),
        sa.Column("is_for_all_hosts", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stream_id", sa.BigInteger(), nullable=True),
        sa.Column("line_offset", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_events__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
    )
    op.create_index(
        "ix_events__author_created_at", "events", ["author", "created_at"], unique=False, postgresql_where=sa.text("author <> ''")
    )
    op.create_index("ix_events__last_at", "events", [sa.literal_column("coalesce(end_at, start_at)")], unique=False)
    op.create_index("ix_events__start_at", "events", ["start_at"], unique=False)
    op.create_index("uq_events__stream_id_line_offset", "events", ["stream_id", "line_offset"], unique=True)
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
        "jobs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("baseline_id", sa.BigInteger(), nullable=True),
        sa.Column("target", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.Text(), server_default="queued", nullable=False),
        sa.Column("n_done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_total", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("unit", sa.Text(), server_default="", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("n_tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("asked_by", sa.Text(), server_default="", nullable=False),
        sa.Column("queued_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("heartbeat_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_try_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=True),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_jobs__baseline_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_jobs__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs__host_id"), "jobs", ["host_id"], unique=False)
    op.create_index(
        "ix_jobs__kind_next_try_at",
        "jobs",
        ["kind", "next_try_at"],
        unique=False,
        postgresql_where=sa.text("next_try_at IS NOT NULL"),
    )
    op.create_index("uq_jobs__packing", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'packing'"))
    op.create_index(
        "uq_jobs__profile", "jobs", ["baseline_id", "host_id"], unique=True, postgresql_where=sa.text("kind = 'profile'")
    )
    op.create_index("uq_jobs__rollup", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'rollup'"))
    op.create_index("uq_jobs__sealing", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'sealing'"))
    op.create_table(
        "loads",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_loads__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_loads__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "n_bytes", name=op.f("pk_loads")),
    )
    op.create_index("ix_loads__host_id_spec", "loads", ["host_id", "spec"], unique=False)
    op.create_table(
        "packed_chunks",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("start_offset", sa.BigInteger(), nullable=False),
        sa.Column("end_offset", sa.BigInteger(), nullable=False),
        sa.Column("n_chunks", sa.Integer(), nullable=False),
        sa.Column("last_received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("directory", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_packed_chunks__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", "start_offset", name=op.f("pk_packed_chunks")),
    )
    op.create_table(
        "profiles",
        sa.Column("baseline_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.Column("slot", sa.SmallInteger(), nullable=False),
        sa.Column("method", sa.SmallInteger(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("until_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("effective", postgresql.TSTZMULTIRANGE(), nullable=False),
        sa.Column("is_stale", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("spec_versions", postgresql.JSONB(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.Column("band", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_profiles__baseline_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_profiles__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("baseline_id", "version", "host_id", "slot", "method", name=op.f("pk_profiles")),
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
    op.create_index("ix_rejected_lines__received_at", "rejected_lines", ["received_at"], unique=False)
    op.create_index("ix_rejected_lines__stream_id_id", "rejected_lines", ["stream_id", "id"], unique=False)
    op.create_table(
        "report_file_bytes",
        sa.Column("file_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("n_bytes", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["file_id"], ["report_files.id"], name=op.f("fk_report_file_bytes__file_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("file_id", "position", name=op.f("pk_report_file_bytes")),
    )
    op.create_table(
        "run_artefacts",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("artefact_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["artefact_id"], ["artefacts.id"], name=op.f("fk_run_artefacts__artefact_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["run_id"], ["experiment_runs.id"], name=op.f("fk_run_artefacts__run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "artefact_id", name=op.f("pk_run_artefacts")),
    )
    op.create_table(
        "run_results",
        sa.Column("run_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Float(precision=53), nullable=False),
        sa.Column("unit", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["experiment_runs.id"], name=op.f("fk_run_results__run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "name", name=op.f("pk_run_results")),
    )
    op.create_table(
        "stream_changes",
        sa.Column("stream_id", sa.BigInteger(), nullable=False),
        sa.Column("kept_from", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_replaced", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_late", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("late_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("unscored_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("packed_to", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("packed_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_stream_changes__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("stream_id", name=op.f("pk_stream_changes")),
    )
    op.create_table(
        "alert_episodes",
        sa.Column("alert_id", sa.BigInteger(), nullable=False),
        sa.Column("episode_id", sa.BigInteger(), nullable=False),
        sa.Column("route_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["alert_id"], ["alerts.id"], name=op.f("fk_alert_episodes__alert_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_alert_episodes__episode_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("alert_id", "episode_id", name=op.f("pk_alert_episodes")),
        sa.UniqueConstraint("route_id", "episode_id", name=op.f("uq_alert_episodes__route_id_episode_id")),
    )
    op.create_index(op.f("ix_alert_episodes__episode_id"), "alert_episodes", ["episode_id"], unique=False)
    op.create_table(
        "backtests",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=True),
        sa.Column("toml", sa.Text(), nullable=False),
        sa.Column("hosts", postgresql.JSONB(), nullable=False),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("end_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_backtests__job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_backtests")),
        sa.UniqueConstraint("job_id", name=op.f("uq_backtests__job_id")),
    )
    op.create_index("ix_backtests__rule_version", "backtests", ["rule", "version"], unique=False)
    op.create_table(
        "event_hosts",
        sa.Column("event_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["event_id"], ["events.id"], name=op.f("fk_event_hosts__event_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_event_hosts__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("event_id", "host_id", name=op.f("pk_event_hosts")),
    )
    op.create_index(op.f("ix_event_hosts__host_id"), "event_hosts", ["host_id"], unique=False)
    op.create_table(
        "host_deletions",
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_host_deletions__job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("host_id", name=op.f("pk_host_deletions")),
        sa.UniqueConstraint("job_id", name=op.f("uq_host_deletions__job_id")),
    )
    op.create_table(
        "imports",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=True),
        sa.Column("first_day", sa.Date(), nullable=True),
        sa.Column("start_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("interval_s", sa.Float(precision=53), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("is_first_real", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_each_host", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("only_position", sa.BigInteger(), nullable=True),
        sa.Column("is_undo", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("file_path", sa.Text(), nullable=False),
        sa.Column("n_files", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_imports__job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint("job_id", name=op.f("uq_imports__job_id")),
    )
    op.create_table(
        "reparses",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("host_id", sa.BigInteger(), nullable=True),
        sa.Column("stream_id", sa.BigInteger(), nullable=True),
        sa.Column("spec", sa.Text(), nullable=True),
        sa.Column("is_outdated_only", sa.Boolean(), nullable=False),
        sa.Column("newest_stream_id", sa.BigInteger(), nullable=False),
        sa.Column("last_stream_id", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_streams", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_streams_done", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_samples_before", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_samples_after", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_rejected_after", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_reparses__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_reparses__job_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name=op.f("fk_reparses__stream_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_reparses")),
        sa.UniqueConstraint("job_id", name=op.f("uq_reparses__job_id")),
    )
    op.create_table(
        "retention_runs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("n_samples", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_instances", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_chunks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_chunk_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("n_results", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_retention_runs__job_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retention_runs")),
        sa.UniqueConstraint("job_id", name=op.f("uq_retention_runs__job_id")),
    )
    op.create_table(
        "imported_files",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=False),
        sa.ForeignKeyConstraint(["import_id"], ["imports.id"], name=op.f("fk_imported_files__import_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("import_id", "position", name=op.f("pk_imported_files")),
    )
    for table, columns in EXTERNAL.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute("INSERT INTO store_identity DEFAULT VALUES")
    for function in (GUARD, LOCK, WAIT, COUNT, SETTLE):
        op.execute(function)
    op.execute(
        "CREATE TRIGGER guard_rows BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION guard_audit_entries()"
    )
    op.execute(
        "CREATE TRIGGER guard_table BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION guard_audit_entries()"
    )


def downgrade() -> None:
    """Revert the change: drop everything, with every sample."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("DROP SCHEMA stat CASCADE")
    op.execute("DROP SCHEMA samples CASCADE")
    for table in (
        "imported_files",
        "retention_runs",
        "reparses",
        "imports",
        "host_deletions",
        "event_hosts",
        "backtests",
        "alert_episodes",
        "stream_changes",
        "run_results",
        "run_artefacts",
        "report_file_bytes",
        "rejected_lines",
        "profiles",
        "packed_chunks",
        "loads",
        "jobs",
        "gaps",
        "events",
        "episodes",
        "chunks",
        "baseline_versions",
        "baseline_hosts",
        "artefact_parts",
        "artefact_bytes",
        "alert_messages",
        "webhook_deliveries",
        "watched_states",
        "watched_hosts",
        "watch_mutes",
        "watch_limits",
        "views",
        "view_stars",
        "user_host_groups",
        "streams",
        "stat_fields",
        "share_links",
        "sessions",
        "second_factors",
        "report_notes",
        "report_files",
        "recovery_codes",
        "profile_pieces",
        "muted_series",
        "login_links",
        "known_browsers",
        "instances",
        "host_scores",
        "host_group_hosts",
        "experiment_runs",
        "exclusions",
        "baselines",
        "artefacts",
        "alerts",
        "agent_tokens",
        "webhooks",
        "watch_rules",
        "watch_rule_changes",
        "users",
        "user_specs",
        "store_identity",
        "storage_days",
        "stats",
        "server_processes",
        "sealed_blocks",
        "rollups",
        "rollup_marks",
        "retention_rules",
        "retention_marks",
        "reports",
        "login_attempts",
        "join_tokens",
        "hosts",
        "host_groups",
        "experiments",
        "data_checks",
        "comparisons",
        "audit_forwarding",
        "audit_entries",
        "api_tokens",
        "alert_routes",
        "alert_channels",
    ):
        op.drop_table(table)
    for function in ("settle_login_attempt", "count_login_attempt", "login_wait_s", "lock_login_attempts", "guard_audit_entries"):
        op.execute(f"DROP FUNCTION {function}")
