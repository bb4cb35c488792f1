"""Minutes that follow from as few samples are left out of rollups.

Compatibility: code before 0051 works after it until minutes are left out; then it refuses to draw these days, until
`normstat rollup rebuild`. Going back has all rollups of such hosts made again.
"""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0049"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.add_column("hosts", sa.Column("minutes_left_out_until", sa.DateTime(timezone=True)))


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    for table in ("rollups", "rollup_marks"):
        op.execute(f"DELETE FROM {table} WHERE host_id IN (SELECT id FROM hosts WHERE minutes_left_out_until IS NOT NULL)")
    op.execute("UPDATE hosts SET rolled_until = NULL WHERE minutes_left_out_until IS NOT NULL")
    op.drop_column("hosts", "minutes_left_out_until")
