"""The table of the continuous comparison."""

from datetime import datetime
from typing import Any

from sqlalchemy import REAL, ForeignKey, Integer, SmallInteger, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import Base


class HostScore(Base):
    """The scores of a host in the 1, 5 and 15 minutes before the end of a minute, one for each subsystem of the method.

    `n_judged`: series with a value in the minute and a normal; `findings`: the highest series of each subsystem in five minutes.
    """

    __tablename__ = "host_scores"
    host_id: Mapped[int] = mapped_column(ForeignKey("hosts.id", ondelete="CASCADE"), primary_key=True)
    minute_at: Mapped[datetime] = mapped_column(primary_key=True)
    method: Mapped[int] = mapped_column(SmallInteger)
    baseline_id: Mapped[int]
    version: Mapped[int] = mapped_column(Integer)
    n_judged: Mapped[int] = mapped_column(Integer)
    scores_1: Mapped[list[float | None]] = mapped_column(ARRAY(REAL))
    scores_5: Mapped[list[float | None]] = mapped_column(ARRAY(REAL))
    scores_15: Mapped[list[float | None]] = mapped_column(ARRAY(REAL))
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JSONB, server_default=text("'[]'::jsonb"))
