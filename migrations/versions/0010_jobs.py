"""jobs: one table of background work. Queued and running work is carried over, and finished work stays listed.

Code before 0010 does not work after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

NOW = sa.text("now()")
TIME = sa.DateTime(timezone=True)
# Today's words for the states of the four old tables.
STATE = """CASE {0} WHEN 'waiting' THEN 'queued' WHEN 'working' THEN 'running' ELSE {0} END"""
OLD_STATE = """CASE {0} WHEN 'queued' THEN 'waiting' ELSE {0} END"""
IS_OPEN = "{0} IN ('waiting', 'working', 'running')"

IMPORTS = f"""
    INSERT INTO jobs (id, kind, target, state, n_done, n_total, unit, message, asked_by, queued_at, started_at, heartbeat_at, finished_at,
        next_try_at) OVERRIDING SYSTEM VALUE
    SELECT job_id, 'import', host || ': ' || name, {STATE.format("state")}, n_bytes_done, n_bytes, 'bytes', message, created_by, created_at,
        CASE state WHEN 'waiting' THEN NULL ELSE created_at END, seen_at, finished_at,
        CASE WHEN {IS_OPEN.format("state")} THEN created_at END
    FROM imports
"""
REPARSES = f"""
    INSERT INTO jobs (id, kind, host_id, target, state, n_done, n_total, unit, message, asked_by, queued_at, started_at, finished_at,
        next_try_at) OVERRIDING SYSTEM VALUE
    SELECT r.job_id, 'reparse', coalesce(r.host_id, s.host_id),
        concat_ws(', ', 'stream ' || r.stream_id, 'spec ' || r.spec, CASE WHEN r.is_outdated_only THEN 'outdated streams' END,
            CASE WHEN r.stream_id IS NULL AND r.spec IS NULL AND NOT r.is_outdated_only THEN 'all streams' END),
        {STATE.format("r.state")}, r.n_bytes_done, r.n_bytes, 'bytes', r.message, r.created_by, r.created_at,
        CASE r.state WHEN 'waiting' THEN NULL ELSE r.created_at END, r.finished_at,
        CASE WHEN {IS_OPEN.format("r.state")} THEN r.created_at END
    FROM reparses AS r LEFT JOIN streams AS s ON s.id = r.stream_id
"""
RETENTION_RUNS = f"""
    INSERT INTO jobs (id, kind, state, unit, message, asked_by, queued_at, started_at, finished_at, next_try_at) OVERRIDING SYSTEM VALUE
    SELECT job_id, 'retention', {STATE.format("state")}, 'stats', message, created_by, created_at,
        CASE state WHEN 'waiting' THEN NULL ELSE created_at END, finished_at,
        CASE WHEN {IS_OPEN.format("state")} THEN created_at END
    FROM retention_runs
"""
DELETIONS = """
    INSERT INTO jobs (id, kind, target, state, n_done, unit, asked_by, queued_at, started_at, finished_at, next_try_at)
        OVERRIDING SYSTEM VALUE
    SELECT job_id, 'deletion', host, CASE WHEN finished_at IS NULL THEN 'queued' ELSE 'done' END, n_samples, 'samples', requested_by,
        requested_at, requested_at, finished_at, CASE WHEN finished_at IS NULL THEN requested_at END
    FROM host_deletions
"""
# A profile that failed is tried again at once.
PROFILES = f"""
    INSERT INTO jobs (kind, host_id, baseline_id, state, n_done, n_total, unit, message, queued_at, started_at, finished_at, next_try_at)
    SELECT 'profile', host_id, baseline_id, {STATE.format("state")}, n_done, n_total, 'pieces', message, asked_at,
        CASE state WHEN 'waiting' THEN NULL ELSE asked_at END, finished_at,
        CASE WHEN {IS_OPEN.format("state")} OR state = 'failed' THEN asked_at END
    FROM profile_jobs
"""
OLD_IMPORTS = f"""
    UPDATE imports SET state = {OLD_STATE.format("j.state")}, message = j.message, n_bytes = j.n_total, n_bytes_done = j.n_done,
        created_by = j.asked_by, created_at = j.queued_at, seen_at = coalesce(j.heartbeat_at, j.queued_at), finished_at = j.finished_at
    FROM jobs AS j WHERE j.id = job_id
"""
OLD_REPARSES = f"""
    UPDATE reparses SET state = {OLD_STATE.format("j.state")}, message = j.message, n_bytes = j.n_total, n_bytes_done = j.n_done,
        created_by = j.asked_by, created_at = j.queued_at, finished_at = j.finished_at
    FROM jobs AS j WHERE j.id = job_id
"""
OLD_RETENTION_RUNS = """
    UPDATE retention_runs SET state = CASE j.state WHEN 'queued' THEN 'waiting' WHEN 'stopped' THEN 'failed' ELSE j.state END,
        message = j.message, created_by = j.asked_by, created_at = j.queued_at, finished_at = j.finished_at
    FROM jobs AS j WHERE j.id = job_id
"""
OLD_DELETIONS = """
    UPDATE host_deletions SET n_samples = j.n_done, requested_by = j.asked_by, requested_at = j.queued_at,
        finished_at = CASE j.state WHEN 'done' THEN j.finished_at END
    FROM jobs AS j WHERE j.id = job_id
"""
OLD_PROFILES = """
    INSERT INTO profile_jobs (baseline_id, host_id, state, n_done, n_total, message, asked_at, finished_at)
    SELECT baseline_id, host_id,
        CASE state WHEN 'queued' THEN 'waiting' WHEN 'running' THEN 'working' WHEN 'stopped' THEN 'failed' ELSE state END,
        n_done, n_total, message, queued_at, finished_at
    FROM jobs WHERE kind = 'profile'
"""
DETAILS = {"imports": IMPORTS, "reparses": REPARSES, "retention_runs": RETENTION_RUNS, "host_deletions": DELETIONS}
OLD_COLUMNS = {
    "imports": ("state", "message", "n_bytes", "n_bytes_done", "created_by", "created_at", "seen_at", "finished_at"),
    "reparses": ("state", "message", "n_bytes", "n_bytes_done", "created_by", "created_at", "finished_at"),
    "retention_runs": ("state", "message", "created_by", "created_at", "finished_at"),
    "host_deletions": ("n_samples", "requested_by", "requested_at", "finished_at"),
}


def upgrade() -> None:
    """Makes the change; gives up rather than blocking a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
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
        sa.Column("queued_at", TIME, server_default=NOW, nullable=False),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("heartbeat_at", TIME, nullable=True),
        sa.Column("finished_at", TIME, nullable=True),
        sa.Column("next_try_at", TIME, server_default=NOW, nullable=True),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_jobs__host_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_jobs__baseline_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    for table, carry_over in DETAILS.items():
        op.add_column(table, sa.Column("job_id", sa.BigInteger(), nullable=True))
        op.execute(f"UPDATE {table} SET job_id = nextval(pg_get_serial_sequence('jobs', 'id'))")
        op.execute(carry_over)
        op.alter_column(table, "job_id", nullable=False)
        op.create_foreign_key(op.f(f"fk_{table}__job_id"), table, "jobs", ["job_id"], ["id"], ondelete="CASCADE")
        op.create_unique_constraint(op.f(f"uq_{table}__job_id"), table, ["job_id"])
        for column in OLD_COLUMNS[table]:
            op.drop_column(table, column)
    op.execute(PROFILES)
    op.drop_table("profile_jobs")
    op.create_index(op.f("ix_jobs__host_id"), "jobs", ["host_id"])
    op.create_index(
        "ix_jobs__kind_next_try_at", "jobs", ["kind", "next_try_at"], postgresql_where=sa.text("next_try_at IS NOT NULL")
    )
    op.create_index(
        "uq_jobs__profile", "jobs", ["baseline_id", "host_id"], unique=True, postgresql_where=sa.text("kind = 'profile'")
    )
    op.create_index("uq_jobs__rollup", "jobs", ["kind"], unique=True, postgresql_where=sa.text("kind = 'rollup'"))


def downgrade() -> None:
    """Undoes it."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "profile_jobs",
        sa.Column("baseline_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("host_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("n_done", sa.Integer(), server_default="0", nullable=False),
        sa.Column("n_total", sa.Integer(), server_default="0", nullable=False),
        sa.Column("message", sa.Text(), server_default="", nullable=False),
        sa.Column("asked_at", TIME, server_default=NOW, nullable=False),
        sa.Column("finished_at", TIME, nullable=True),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_profile_jobs__baseline_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["host_id"], ["hosts.id"], name=op.f("fk_profile_jobs__host_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("baseline_id", "host_id", name=op.f("pk_profile_jobs")),
    )
    op.execute(OLD_PROFILES)
    for table in ("imports", "reparses", "retention_runs"):
        op.add_column(table, sa.Column("state", sa.Text(), server_default="waiting", nullable=False))
        op.add_column(table, sa.Column("message", sa.Text(), server_default="", nullable=False))
        op.add_column(table, sa.Column("created_by", sa.Text(), server_default="", nullable=False))
        op.add_column(table, sa.Column("created_at", TIME, server_default=NOW, nullable=False))
        op.add_column(table, sa.Column("finished_at", TIME, nullable=True))
    for table in ("imports", "reparses"):
        op.add_column(table, sa.Column("n_bytes", sa.BigInteger(), server_default="0", nullable=False))
        op.add_column(table, sa.Column("n_bytes_done", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("imports", sa.Column("seen_at", TIME, server_default=NOW, nullable=False))
    op.add_column("host_deletions", sa.Column("requested_by", sa.Text(), server_default="", nullable=False))
    op.add_column("host_deletions", sa.Column("requested_at", TIME, server_default=NOW, nullable=False))
    op.add_column("host_deletions", sa.Column("n_samples", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("host_deletions", sa.Column("finished_at", TIME, nullable=True))
    for statement in (OLD_IMPORTS, OLD_REPARSES, OLD_RETENTION_RUNS, OLD_DELETIONS):
        op.execute(statement)
    op.alter_column("imports", "n_bytes", server_default=None)
    for table in ("imports", "reparses", "retention_runs"):
        op.alter_column(table, "created_by", server_default=None)
    op.alter_column("host_deletions", "requested_by", server_default=None)
    for table in DETAILS:
        op.drop_column(table, "job_id")
    op.drop_table("jobs")
