"""The table of server processes."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from normstat.db.schema.models import NOW, Base


class ServerProcess(Base):
    """A server process that runs, and when it last said so. `id` is in the names of its connections; `place` is host:pid.

    Unlogged: empty after a crash of the database, and filled again within seconds.
    """

    __tablename__ = "server_processes"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012
    id: Mapped[str] = mapped_column(primary_key=True)
    place: Mapped[str]
    started_at: Mapped[datetime] = mapped_column(server_default=NOW)
    beat_at: Mapped[datetime] = mapped_column(server_default=NOW)
