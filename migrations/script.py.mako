"""${message}.

Code before and after: (say which versions of the program work with the schema before this migration, and which after it.)
"""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    """Makes the change; gives up rather than blocking a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Undoes it."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    ${downgrades if downgrades else "pass"}
