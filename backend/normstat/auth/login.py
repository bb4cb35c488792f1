"""Login by password or one-time link."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import account_rows
from normstat.auth.access import Principal, Sessions, to_principal
from normstat.auth.account_rows import SessionOrigin
from normstat.auth.browser_words import browser_in_words
from normstat.auth.client_address import group_of
from normstat.auth.password_rules import require_good_password
from normstat.auth.passwords import hash_password, known_lane, stranger_lane, verify_password
from normstat.auth.roles import Role
from normstat.auth.second_factor import require_code
from normstat.auth.secret_tokens import Secret, hash_token, new_secret, to_secret
from normstat.auth.security_log import SecurityLog, log_after_commit, short_name
from normstat.auth.session_rows import has_second_factor
from normstat.auth.throttle import Attempt, Throttle
from normstat.db.schema.models import LoginLink, User
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import (
    Conflict,
    NormstatError,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    Overloaded,
    SecondFactorNeeded,
    TooManyRequests,
    shorten,
)

# How the account of a session proved who it is.
Means = Literal["password", "link", "provider"]
LINK_LIFETIME: Final = timedelta(hours=1)
FIRST_ADMINISTRATOR: Final = "admin"
# The same message whether the account or the password is wrong: it must not reveal which accounts exist.
WRONG: Final = "Wrong name or password"
# Separates the attempts of logged-in users from those of known browsers; no browser's hash is this short.
BY_SESSION: Final = b"session"


@dataclass(frozen=True, slots=True, repr=False)
class NewSession:
    """An account, with the tokens of its new session and of the browser, for the cookies."""

    principal: Principal
    token: str
    browser: str


@dataclass(frozen=True, slots=True, repr=False)
class Visitor:
    """The client that wants to log in: its address, the token that its browser kept from an earlier login, and its name."""

    address: str
    browser: str | None
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class LoginContext:
    """State shared by all logins of a process."""

    sessions: Sessions
    throttle: Throttle
    security_log: SecurityLog
    lifetime: timedelta
    secret_key: str | None = None


async def log_in(context: LoginContext, visitor: Visitor, *, name: str, password: str, code: str | None = None) -> NewSession:
    """Return a new session of the account.

    Raises: NotAuthenticated, SecondFactorNeeded, TooManyRequests, Overloaded
    """
    is_known = await _is_known_browser(context, visitor, name)
    try:
        attempt = await _count(context, visitor, name, is_known=is_known)
    except TooManyRequests as error:
        # Without the name: whether such an account exists has not been checked.
        wait_s = error.details["retry_after_s"]
        context.security_log.note("login_throttled", visitor.address, is_known_browser=is_known, retry_after_s=wait_s)
        raise
    lane, who = (known_lane(), name) if is_known else (stranger_lane(), group_of(visitor.address))
    try:
        # Take the slot first: a flood that gets no slot does not query the database, either.
        with lane.place(who):
            async with open_read_session(context.sessions) as session:
                user = await account_rows.find_user(session, name)
            # No connection is held while the password is hashed.
            password_hash = None if user is None or user.disabled_at is not None else user.password_hash
            is_right = await verify_password(password_hash, password, lane)
    except Overloaded:
        await attempt.withdraw()
        context.security_log.note("login_overloaded", visitor.address, is_known_browser=is_known)
        raise
    if user is None or not is_right:
        _note_failure(context, visitor, user)
        raise NotAuthenticated(WRONG)
    try:
        async with open_write_session(context.sessions) as session:
            logged_in = await open_session(context, visitor, session, user.id, password_hash, means="password")
            # In the transaction of the session: of two logins with one code, one is rolled back.
            await require_code(session, user.id, code, context.secret_key)
    except SecondFactorNeeded as error:
        if error.details["reason"] == "missing":
            # The page asks for it next. A wrong code counts as a wrong password does.
            await attempt.withdraw()
        else:
            context.security_log.note("login_failed", visitor.address, account=user.name, reason="wrong_code")
        raise
    await attempt.succeed()
    context.security_log.note("login_succeeded", user.name, level="info", account=user.name, is_known_browser=is_known)
    return logged_in


async def _is_known_browser(context: LoginContext, visitor: Visitor, name: str) -> bool:
    if not visitor.browser:
        return False
    async with open_read_session(context.sessions) as session:
        return await account_rows.is_browser(session, hash_token(visitor.browser), name)


async def _count(context: LoginContext, visitor: Visitor, name: str, *, is_known: bool) -> Attempt:
    if is_known and visitor.browser:
        return await context.throttle.attempt_known(name, hash_token(visitor.browser))
    is_known_address = False
    if await context.throttle.is_name_throttled(name):
        async with open_read_session(context.sessions) as session:
            is_known_address = await account_rows.is_address_of(session, group_of(visitor.address), name)
    return await context.throttle.attempt(name, visitor.address, is_known_address=is_known_address)


def _note_failure(context: LoginContext, visitor: Visitor, user: User | None) -> None:
    if user is None:
        reason = "unknown_account"
    elif user.disabled_at is not None:
        reason = "account_disabled"
    else:
        reason = "no_password_set" if user.password_hash is None else "wrong_password"
    # The typed name may be a password if no account has that name.
    account = None if user is None else user.name
    context.security_log.note("login_failed", visitor.address, account=account, reason=reason)


async def open_session(
    context: LoginContext, visitor: Visitor, session: AsyncSession, user_id: int, password_hash: str | None, *, means: Means
) -> NewSession:
    """Return a new session of the account, in the transaction of `session`.

    Raises: NotAuthenticated when it was disabled or its password changed in the meantime
    """
    secret = new_secret()
    origin = SessionOrigin(visitor.address, browser_in_words(visitor.user_agent), means)
    user = await account_rows.add_session(
        session,
        user_id=user_id,
        password_hash=password_hash,
        token_hash=secret.token_hash,
        lifetime=context.lifetime,
        origin=origin,
    )
    if user is None:
        raise NotAuthenticated(WRONG)
    browser = await _browser_of(session, visitor)
    await account_rows.note_browser(session, user_id=user_id, token_hash=browser.token_hash, address=group_of(visitor.address))
    principal = to_principal(user, secret.token_hash, has_second_factor=await has_second_factor(session, user.id))
    return NewSession(principal, secret.token, browser.token)


async def _browser_of(session: AsyncSession, visitor: Visitor) -> Secret:
    """Return the browser's own token if we issued it, else a new one: a planted value is never adopted."""
    if visitor.browser and await account_rows.is_browser(session, hash_token(visitor.browser)):
        return to_secret(visitor.browser)
    return new_secret()


async def make_link(
    session: AsyncSession, *, name: str | None, must_forget_password: bool, must_revoke_tokens: bool = True
) -> tuple[str, str]:
    """Return the account's name and the token of a new link; without a name, for the oldest administrator, who is created if there
    is none.

    `must_revoke_tokens` also revokes the account's API tokens when the password is removed.

    Raises: NotFound, Conflict
    """
    administrators = await account_rows.lock_administrators(session)
    if name is not None:
        user = await account_rows.lock_user(session, name)
        if user is None:
            raise NotFound(f"There is no account {shorten(name)}")
        if user.disabled_at is not None:
            raise Conflict(f"The account {shorten(name)} is disabled; an administrator can enable it")
    elif administrators:
        user = administrators[0]
    else:
        user = await _make_first_administrator(session)
    if must_forget_password:
        await account_rows.forget_password(session, user.id)
        await account_rows.delete_sessions_of(session, user.id)
        n_revoked = await account_rows.revoke_api_tokens_of(session, user.name) if must_revoke_tokens else 0
        log_after_commit(session, "password_forgotten", account=short_name(user.name), n_api_tokens_revoked=n_revoked)
    secret = new_secret()
    await account_rows.add_link(session, user_id=user.id, token_hash=secret.token_hash, lifetime=LINK_LIFETIME)
    log_after_commit(session, "login_link_made", account=short_name(user.name))
    return user.name, secret.token


async def _make_first_administrator(session: AsyncSession) -> User:
    user = await account_rows.add_user(session, name=FIRST_ADMINISTRATOR, role=Role.ADMINISTRATOR, password_hash=None)
    if user is None:
        # Two commands at once: the other one has created it.
        user = await account_rows.lock_user(session, FIRST_ADMINISTRATOR)
    if user is None or user.role != Role.ADMINISTRATOR:
        raise Conflict(f"There is no administrator, and the name {FIRST_ADMINISTRATOR!r} belongs to another account")
    return user


async def use_link(context: LoginContext, visitor: Visitor, *, token: str) -> NewSession:
    """Return a new session of the link's account and use the link up. A valid link always works, regardless of earlier attempts.

    Raises: NotAuthenticated, Conflict, TooManyRequests
    """
    token_hash = hash_token(token)
    async with open_write_session(context.sessions) as session:
        user_id = await account_rows.spend_link(session, token_hash)
        if user_id is not None:
            user = await account_rows.find_user_by_id(session, user_id)
            logged_in = await open_session(context, visitor, session, user_id, user.password_hash, means="link")
        else:
            reason, error = _refuse_link(await account_rows.find_link(session, token_hash))
    if user_id is None:
        context.security_log.note("login_link_refused", visitor.address, reason=reason)
        # With no connection held: a flood of wrong links must not wait for itself.
        await context.throttle.count_wrong_link(visitor.address)
        raise error
    context.security_log.note("login_link_used", user.name, level="info", account=user.name)
    return logged_in


def _refuse_link(link: LoginLink | None) -> tuple[str, NormstatError]:
    if link is None:
        return "unknown", NotAuthenticated("This login link is unknown; `normstat login-link` prints a new one")
    if link.used_at is not None:
        text = "This login link has been used; each works once. `normstat login-link` prints a new one"
        return "used", Conflict(text, {"reason": "used"})
    text = "This login link is too old; each is valid for one hour. `normstat login-link` prints a new one"
    return "expired", Conflict(text, {"reason": "expired"})


async def change_password(
    context: LoginContext, visitor: Visitor, principal: Principal, *, old: str | None, new: str, must_revoke_tokens: bool
) -> NewSession:
    """Return a new session under the new password; all other sessions of the account end and, by default, its API tokens are
    revoked.

    Raises: NotAllowed, NotAuthenticated, WeakPassword, TooManyRequests, Overloaded
    """
    if principal.session_hash is None:
        raise NotAllowed("An API token cannot change a password; log in")
    async with open_read_session(context.sessions) as session:
        user = await account_rows.find_user_by_id(session, principal.user_id)
    if user.provider_subject is not None:
        raise NotAllowed("This account logs in at the login provider, and has no password here")
    # Reset the count only at the end: refusing a weak password takes work, too.
    attempt = await context.throttle.attempt_known(user.name, BY_SESSION)
    with known_lane().place(user.name):
        if user.password_hash is not None and not await verify_password(user.password_hash, old or "", known_lane()):
            raise NotAllowed("The old password is wrong", {"old_password": None})
    await require_good_password(new, name=user.name, who=user.name, member="new_password")
    new_hash = await hash_password(new, who=user.name)
    async with open_write_session(context.sessions) as session:
        current = await account_rows.lock_user(session, user.name)
        if current is None or current.password_hash != user.password_hash:
            raise NotAuthenticated("The account has been changed in the meantime; log in again")
        await account_rows.update_user(session, user.id, password_hash=new_hash)
        await account_rows.delete_sessions_of(session, user.id)
        n_revoked = await account_rows.revoke_api_tokens_of(session, user.name) if must_revoke_tokens else 0
        logged_in = await open_session(context, visitor, session, user.id, new_hash, means="password")
    await attempt.succeed()
    context.security_log.note("password_changed", user.name, level="info", account=user.name, n_api_tokens_revoked=n_revoked)
    return logged_in


async def log_out(session: AsyncSession, principal: Principal) -> None:
    """End the session of the request, if it has one."""
    if principal.session_hash is not None:
        await account_rows.delete_session(session, principal.session_hash)
        log_after_commit(session, "logged_out", account=short_name(principal.name))
