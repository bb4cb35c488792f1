"""The audit log: who did what, from where; entries are only ever added.

Compatibility: code before 0029 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

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


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.create_table(
        "audit_entries",
        sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
        sa.Column("account", sa.Text),
        sa.Column("means", sa.Text, nullable=False),
        sa.Column("token_id", sa.BigInteger),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("is_refused", sa.Boolean, nullable=False),
        sa.Column("target", JSONB, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
    )
    op.create_index("ix_audit_entries__at", "audit_entries", ["at"])
    op.create_index("ix_audit_entries__account_id", "audit_entries", ["account", "id"])
    op.execute(GUARD)
    op.execute(
        "CREATE TRIGGER guard_rows BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION guard_audit_entries()"
    )
    op.execute(
        "CREATE TRIGGER guard_table BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION guard_audit_entries()"
    )
    op.create_table(
        "audit_forwarding",
        sa.Column("receiver", sa.Text, primary_key=True),
        sa.Column("last_id", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.drop_table("audit_forwarding")
    op.drop_table("audit_entries")
    op.execute("DROP FUNCTION guard_audit_entries()")
