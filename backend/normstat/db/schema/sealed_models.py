"""The table of sealed samples."""

from datetime import datetime

from sqlalchemy import Integer, LargeBinary
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class SealedBlockRow(Base):
    """Samples of a stat of one host in [start_at, end_at), packed (codecs/sealed_codec.py) and no longer rows of its table.

    Late samples of that time are rows until the block is made again. A block without rows was unsealed; it stays so until
    `held_until`.
    """

    __tablename__ = "sealed_blocks"
    host_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    stat_id: Mapped[int] = mapped_column(Integer, primary_key=True)
    start_at: Mapped[datetime] = mapped_column(primary_key=True)
    end_at: Mapped[datetime]
    n_rows: Mapped[int] = mapped_column(Integer)
    n_values: Mapped[int]
    # Of its rows; of an unsealed block, those of its span.
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]
    stream_ids: Mapped[list[int]] = mapped_column(ARRAY(Integer))
    made_at: Mapped[datetime] = mapped_column(server_default=NOW)
    held_until: Mapped[datetime | None]
    head: Mapped[bytes] = mapped_column(LargeBinary)
    body: Mapped[bytes] = mapped_column(LargeBinary)
