"""Instances that ended, packed.

Compatibility: code before 0048 works after it until instances are packed; then it does not find their names, and gives a name that
comes again another number. Going back makes them rows again. Rollups that were made meanwhile are to be made again by code before 0048:
`normstat rollup rebuild`.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

UNPACKED = """
    SELECT p.min_id + u.id_step + u.place - 1 AS id, p.host_id, p.stat_id, u.name,
        p.first_at + (u.first_step * p.unit_us) * interval '1 microsecond' AS first_sample_at,
        p.first_at + ((u.first_step + u.lived_step) * p.unit_us) * interval '1 microsecond' AS last_sample_at,
        p.first_at AS pack_first_at, p.last_at AS pack_last_at
    FROM packed_instances AS p
    CROSS JOIN LATERAL unnest(p.names, p.id_steps, p.first_steps, p.lived_steps)
        WITH ORDINALITY AS u (name, id_step, first_step, lived_step, place)
"""


def upgrade() -> None:
    """Apply the change; fail rather than block a running server."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    instant = sa.DateTime(timezone=True)
    op.create_table(
        "packed_instances",
        sa.Column("host_id", sa.BigInteger, nullable=False),
        sa.Column("stat_id", sa.BigInteger, nullable=False),
        sa.Column("min_id", sa.BigInteger, nullable=False),
        sa.Column("max_id", sa.BigInteger, nullable=False),
        sa.Column("n_instances", sa.Integer, nullable=False),
        sa.Column("first_at", instant, nullable=False),
        sa.Column("last_at", instant, nullable=False),
        sa.Column("unit_us", sa.BigInteger, nullable=False),
        sa.Column("names", postgresql.ARRAY(sa.Text), nullable=False),
        sa.Column("id_steps", postgresql.ARRAY(sa.Integer), nullable=False),
        sa.Column("first_steps", postgresql.ARRAY(sa.BigInteger), nullable=False),
        sa.Column("lived_steps", postgresql.ARRAY(sa.BigInteger), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "min_id", name=op.f("pk_packed_instances")),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_packed_instances__host_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["stat_id"], ["stats.id"], name=op.f("fk_packed_instances__stat_id"), ondelete="CASCADE"
        ),
    )
    op.create_index("ix_packed_instances__max_id", "packed_instances", ["max_id"])
    op.create_table(
        "packed_instance_slots",
        sa.Column("host_id", sa.BigInteger, nullable=False),
        sa.Column("stat_id", sa.BigInteger, nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("n_slots", sa.Integer, nullable=False),
        sa.Column("hashes", postgresql.ARRAY(sa.Integer), nullable=False),
        sa.Column("ids", postgresql.ARRAY(sa.Integer), nullable=False),
        sa.PrimaryKeyConstraint("host_id", "stat_id", "slot", name=op.f("pk_packed_instance_slots")),
        sa.ForeignKeyConstraint(
            ["host_id"], ["hosts.id"], name=op.f("fk_packed_instance_slots__host_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["stat_id"], ["stats.id"], name=op.f("fk_packed_instance_slots__stat_id"), ondelete="CASCADE"
        ),
    )
    op.execute(f"""
        CREATE VIEW all_instances AS
        SELECT id, host_id, stat_id, name, first_sample_at, last_sample_at, first_sample_at AS pack_first_at,
            last_sample_at AS pack_last_at
        FROM instances
        UNION ALL {UNPACKED}
    """)


def downgrade() -> None:
    """Revert the change."""
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("SET LOCAL statement_timeout = '10min'")
    op.execute("DROP VIEW all_instances")
    op.execute(f"""
        INSERT INTO instances (id, host_id, stat_id, name, first_sample_at, last_sample_at) OVERRIDING SYSTEM VALUE
        SELECT id, host_id, stat_id, name, first_sample_at, last_sample_at FROM ({UNPACKED}) AS packed
    """)
    op.drop_table("packed_instance_slots")
    op.drop_table("packed_instances")
