"""Tables of accounts that hold more than the account itself."""

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from normstat.storage.schema.models import Base


class LoginAttempt(Base):
    """Failed logins under one key, which the server's processes count together (auth/throttle.py).

    `key` is a hash of a name, an address or both. `paid_at`: when all attempts will be paid off, where each costs a pause.
    Unlogged: empty after a crash of the database.
    """

    __tablename__ = "login_attempts"
    __table_args__ = {"prefixes": ["UNLOGGED"]}  # noqa: RUF012
    kind: Mapped[str] = mapped_column(primary_key=True)
    key: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    n: Mapped[int]
    last_at: Mapped[datetime]
    paid_at: Mapped[datetime]
