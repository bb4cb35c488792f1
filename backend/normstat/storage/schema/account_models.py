"""Tables of accounts that hold more than the account itself."""

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from normstat.storage.schema.models import NOW, Base


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


class SecondFactor(Base):
    """The authenticator app of an account; it counts once a code of it has confirmed it.

    `secret`: as auth/totp.py seals it. `last_step`: the period of 30 s of the last code that was accepted; no earlier one counts.
    """

    __tablename__ = "second_factors"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    secret: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    confirmed_at: Mapped[datetime | None]
    last_step: Mapped[int] = mapped_column(server_default="0")


class RecoveryCode(Base):
    """A code that stands in for the authenticator app, once."""

    __tablename__ = "recovery_codes"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    code_hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    used_at: Mapped[datetime | None]
