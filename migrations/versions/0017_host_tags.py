"""hosts: the tags that people gave them, and those that their agents set.

Compatibility: code before 0017 works after it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for name in ("tags", "agent_tags"):
        op.add_column("hosts", sa.Column(name, ARRAY(sa.Text()), nullable=False, server_default=sa.text("'{}'::text[]")))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for name in ("agent_tags", "tags"):
        op.drop_column("hosts", name)
