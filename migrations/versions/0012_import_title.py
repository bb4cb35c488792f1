"""imports: the title of what a tracer printed.

Code before 0012 works after it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("imports", sa.Column("title", sa.Text))


def downgrade() -> None:
    op.drop_column("imports", "title")
