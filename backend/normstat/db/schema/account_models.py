"""Tables of accounts that hold more than the account itself."""

from datetime import datetime

from sqlalchemy import ARRAY, ForeignKey, Identity, LargeBinary, Text
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.sql import text

from normstat.db.schema.models import NOW, Base


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


class UserHostGroup(Base):
    """A host group whose hosts a limited account sees."""

    __tablename__ = "user_host_groups"
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False)
    group_id: Mapped[int] = mapped_column(
        ForeignKey("host_groups.id", ondelete="CASCADE"), primary_key=True, autoincrement=False, index=True
    )


class ShareLink(Base):
    """A link that shows one saved comparison or one report, and nothing else, without a login, until `expires_at`.

    One of `comparison_id` and `report_id` is set.
    """

    __tablename__ = "share_links"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    comparison_id: Mapped[int | None] = mapped_column(ForeignKey("comparisons.id", ondelete="CASCADE"))
    report_id: Mapped[int | None] = mapped_column(ForeignKey("reports.id", ondelete="CASCADE"))
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
    n_opened: Mapped[int] = mapped_column(server_default="0")
    last_opened_at: Mapped[datetime | None]


class JoinToken(Base):
    """A token that hosts exchange for an agent token of their own: `max_uses` hosts, until `expires_at`.

    `host_pattern`: the names that they may have, with * and ?; empty: any. `tags`: what each host is tagged with.
    `allows_takeover`: also names that another token sends for, which is revoked then.
    """

    __tablename__ = "join_tokens"
    id: Mapped[int] = mapped_column(Identity(always=True), primary_key=True)
    name: Mapped[str]
    token_hash: Mapped[bytes] = mapped_column(LargeBinary, unique=True)
    host_pattern: Mapped[str] = mapped_column(server_default="")
    tags: Mapped[list[str]] = mapped_column(ARRAY(Text()), server_default=text("'{}'::text[]"))
    allows_takeover: Mapped[bool] = mapped_column(server_default="false")
    max_uses: Mapped[int]
    n_uses: Mapped[int] = mapped_column(server_default="0")
    created_by: Mapped[str]
    created_at: Mapped[datetime] = mapped_column(server_default=NOW)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]
