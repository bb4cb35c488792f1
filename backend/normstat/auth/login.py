"""Ways into an account: its password, a one-time link."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth.access import Principal, Sessions, to_principal
from normstat.auth.passwords import hash_password, verify_password
from normstat.auth.roles import Role
from normstat.auth.throttle import Throttle
from normstat.auth.tokens import hash_token, new_secret
from normstat.errors import Conflict, NotAllowed, NotAuthenticated, NotFound, shorten
from normstat.store import accounts
from normstat.store.models import User
from normstat.store.session import open_read_session, open_write_session

LINK_LIFETIME: Final = timedelta(hours=1)
# For so long after its end a link still says that it was used or is too old, instead of being unknown.
KEEP_LINKS: Final = timedelta(days=7)
FIRST_ADMINISTRATOR: Final = "admin"
# The same words whether the account or the password is wrong: they must not tell which accounts exist.
WRONG: Final = "Name or password is wrong"


@dataclass(frozen=True, slots=True, repr=False)
class LoggedIn:
    """An account and the token of its new session, which goes into the cookie."""

    principal: Principal
    token: str


async def log_in(
    sessions: Sessions, throttle: Throttle, *, name: str, password: str, address: str, lifetime: timedelta
) -> LoggedIn:
    """A new session of the account.

    Raises: NotAuthenticated, TooManyRequests
    """
    throttle.count_try(name, address)
    async with open_read_session(sessions) as session:
        user = await accounts.find_user(session, name)
    # No connection is held while the password is worked on.
    password_hash = None if user is None or user.disabled_at is not None else user.password_hash
    is_right = await verify_password(password_hash, password)
    if user is None or not is_right:
        raise NotAuthenticated(WRONG)
    async with open_write_session(sessions) as session:
        logged_in = await _open_session(session, user.id, password_hash, lifetime)
    throttle.succeed(name, address)
    return logged_in


async def _open_session(session: AsyncSession, user_id: int, password_hash: str | None, lifetime: timedelta) -> LoggedIn:
    secret = new_secret()
    user = await accounts.add_session(
        session, user_id=user_id, password_hash=password_hash, token_hash=secret.token_hash, lifetime=lifetime
    )
    if user is None:
        raise NotAuthenticated(WRONG)
    return LoggedIn(to_principal(user, secret.token_hash), secret.token)


async def make_link(session: AsyncSession, *, name: str | None, must_forget_password: bool) -> tuple[str, str]:
    """The account's name and the token of a new link; without a name: the oldest administrator, who is made if there is none.

    Raises: NotFound, Conflict
    """
    administrators = await accounts.lock_administrators(session)
    if name is not None:
        user = await accounts.lock_user(session, name)
        if user is None:
            raise NotFound(f"There is no account {shorten(name)}")
        if user.disabled_at is not None:
            raise Conflict(f"The account {shorten(name)} is disabled; an administrator can enable it")
    elif administrators:
        user = administrators[0]
    else:
        user = await _make_first_administrator(session)
    if must_forget_password:
        await accounts.forget_password(session, user.id)
        await accounts.delete_sessions_of(session, user.id)
    secret = new_secret()
    await accounts.add_link(session, user_id=user.id, token_hash=secret.token_hash, lifetime=LINK_LIFETIME)
    return user.name, secret.token


async def _make_first_administrator(session: AsyncSession) -> User:
    user = await accounts.add_user(session, name=FIRST_ADMINISTRATOR, role=Role.ADMINISTRATOR, password_hash=None)
    if user is None:
        # Two commands at once: the other one has made it.
        user = await accounts.lock_user(session, FIRST_ADMINISTRATOR)
    if user is None or user.role != Role.ADMINISTRATOR:
        raise Conflict(f"There is no administrator, and the name {FIRST_ADMINISTRATOR!r} belongs to another account")
    return user


async def use_link(sessions: Sessions, throttle: Throttle, *, token: str, address: str, lifetime: timedelta) -> LoggedIn:
    """A new session of the link's account; the link is spent.

    Raises: NotAuthenticated, Conflict, TooManyRequests
    """
    throttle.count_try("", address)
    token_hash = hash_token(token)
    async with open_write_session(sessions) as session:
        user_id = await accounts.spend_link(session, token_hash)
        if user_id is None:
            await _explain_link(session, token_hash)
            raise NotAuthenticated("This login link is unknown; `normstat login-link` prints a new one")
        user = await accounts.find_user_by_id(session, user_id)
        logged_in = await _open_session(session, user_id, user.password_hash, lifetime)
    throttle.succeed("", address)
    return logged_in


async def _explain_link(session: AsyncSession, token_hash: bytes) -> None:
    link = await accounts.find_link(session, token_hash)
    if link is None:
        return
    if link.used_at is not None:
        raise Conflict("This login link has been used; each works once. `normstat login-link` prints a new one", {"reason": "used"})
    raise Conflict(
        "This login link is too old; each is valid for one hour. `normstat login-link` prints a new one", {"reason": "expired"}
    )


async def change_password(
    sessions: Sessions, throttle: Throttle, principal: Principal, *, old: str | None, new: str, address: str, lifetime: timedelta
) -> LoggedIn:
    """A new session under the new password; all others of the account have ended.

    Raises: NotAllowed, NotAuthenticated, TooManyRequests
    """
    if principal.session_hash is None:
        raise NotAllowed("An API token cannot change a password; log in")
    async with open_read_session(sessions) as session:
        user = await accounts.find_user_by_id(session, principal.user_id)
    if user.password_hash is not None:
        throttle.count_try(user.name, address)
        if not await verify_password(user.password_hash, old or ""):
            raise NotAllowed("The old password is wrong")
        throttle.succeed(user.name, address)
    new_hash = await hash_password(new)
    async with open_write_session(sessions) as session:
        current = await accounts.lock_user(session, user.name)
        if current is None or current.password_hash != user.password_hash:
            raise NotAuthenticated("The account has changed meanwhile; log in again")
        await accounts.update_user(session, user.id, password_hash=new_hash)
        await accounts.delete_sessions_of(session, user.id)
        return await _open_session(session, user.id, new_hash, lifetime)


async def log_out(session: AsyncSession, principal: Principal) -> None:
    """Ends the session of the request, if it came with one."""
    if principal.session_hash is not None:
        await accounts.delete_session(session, principal.session_hash)


async def delete_expired_logins(sessions: Sessions) -> None:
    """Removes ended sessions and old links; a job."""
    async with open_write_session(sessions) as session:
        await accounts.delete_expired(session, keep_links=KEEP_LINKS)
