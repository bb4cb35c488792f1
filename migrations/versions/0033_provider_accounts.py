"""Accounts of an OpenID Connect provider, known by issuer and subject.

Compatibility: code before 0033 works after it, and lets such accounts in by one-time links only.
"""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("users", sa.Column("provider_issuer", sa.Text))
    op.add_column("users", sa.Column("provider_subject", sa.Text))
    op.add_column("users", sa.Column("is_disabled_by_provider", sa.Boolean, nullable=False, server_default="false"))
    op.create_unique_constraint("uq_users__provider_issuer_provider_subject", "users", ["provider_issuer", "provider_subject"])


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for name in ("is_disabled_by_provider", "provider_subject", "provider_issuer"):
        op.drop_column("users", name)
