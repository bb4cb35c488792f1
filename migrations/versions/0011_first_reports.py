"""first reports: what an import says of them; imports that are tried again with what was missing, or undone.

Code before 0011 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("streams", sa.Column("is_first_real", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("imports", sa.Column("is_first_real", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("imports", sa.Column("only_position", sa.BigInteger))
    op.add_column("imports", sa.Column("is_undo", sa.Boolean, nullable=False, server_default=sa.false()))
    # The files of ended imports were removed, and their paths left.
    op.execute("UPDATE imports SET file_path = '' FROM jobs WHERE jobs.id = job_id AND jobs.state IN ('done', 'failed')")


def downgrade() -> None:
    op.drop_column("imports", "is_undo")
    op.drop_column("imports", "only_position")
    op.drop_column("imports", "is_first_real")
    op.drop_column("streams", "is_first_real")
