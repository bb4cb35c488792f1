"""Counts of failed logins, which all server processes share.

Unlogged: they cost no write-ahead log, are empty after a crash of the database, and are worthless in a backup.

Compatibility: code before 0030 works after it, and counts for itself.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BYTEA

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

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


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "login_attempts",
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("key", BYTEA, primary_key=True),
        sa.Column("n", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=False),
        prefixes=["UNLOGGED"],
    )
    for function in (LOCK, WAIT, COUNT, SETTLE):
        op.execute(function)


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for function in ("settle_login_attempt", "count_login_attempt", "login_wait_s", "lock_login_attempts"):
        op.execute(f"DROP FUNCTION {function}")
    op.drop_table("login_attempts")
