"""The second factor of local accounts: set up, asked for at a login, removed.

The code is asked for by password logins only. A one-time link replaces password and code: creating one requires access to the
database. API tokens are for scripts, which have no phone; they are created in a session that had to show a code. Accounts of a
provider (OIDC) show their second factor there.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import account_rows, session_rows, totp
from normstat.auth import second_factor_rows as rows
from normstat.auth.access import Principal, Sessions
from normstat.auth.accounts import require_right_over
from normstat.auth.passwords import known_lane, verify_password
from normstat.auth.security_log import log_after_commit, short_name
from normstat.auth.throttle import Throttle
from normstat.db.schema.account_models import SecondFactor
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import Conflict, NotAllowed, SecondFactorNeeded

# Codes of logged-in users are counted apart from their passwords.
BY_CODE: Final = b"second factor"


@dataclass(frozen=True, slots=True)
class FactorContext:
    """State shared by all requests about second factors. `server`: name of this server in the app."""

    sessions: Sessions
    throttle: Throttle
    key: str | None
    server: str


@dataclass(frozen=True, slots=True)
class FactorState:
    """Whether the account has a second factor, since when, and how many recovery codes are left."""

    confirmed_at: datetime | None
    n_recovery_codes: int


@dataclass(frozen=True, slots=True, repr=False)
class FactorSetup:
    """The data for an authenticator app, shown once; without a repr, so that it does not end up in a log."""

    secret: str
    uri: str
    qr_code: str


async def require_code(session: AsyncSession, user_id: int, code: str | None, key: str | None) -> bool:
    """Check and use up the code of an account that has a second factor; return whether it has one.

    Raises: SecondFactorNeeded when it is missing or wrong, NormstatError when the stored secret cannot be read
    """
    found = await rows.lock_factor(session, user_id)
    if found is None or found[0].confirmed_at is None:
        return False
    if not code:
        raise SecondFactorNeeded("Enter the code of your authenticator app, or a recovery code", {"reason": "missing"})
    if not await _spend(session, *found, code, key):
        raise SecondFactorNeeded("The code is wrong, or was used before; wait for the next one", {"reason": "wrong"})
    return True


async def _spend(session: AsyncSession, factor: SecondFactor, now_s: float, code: str, key: str | None) -> bool:
    user_id = factor.user_id
    # Recovery codes first: they work also where the secret cannot be read.
    if await rows.spend_recovery_code(session, user_id, totp.hash_recovery_code(code)):
        return True
    step = totp.matching_step(totp.open_secret(factor.secret, key, user_id), code, now_s=now_s, last_step=factor.last_step)
    if step is None:
        return False
    await rows.note_step(session, user_id, step)
    return True


async def read_factor_state(session: AsyncSession, principal: Principal) -> FactorState:
    """Return the state of the principal's own second factor."""
    return FactorState(*await rows.read_state(session, principal.user_id))


async def begin_setup(context: FactorContext, principal: Principal, password: str | None) -> FactorSetup:
    """Return a new secret for the principal's app; it counts after `confirm_setup`.

    Raises: NotAllowed for an API token and a wrong password, Conflict when there is one, TooManyRequests, Overloaded
    """
    _require_login(principal)
    async with open_read_session(context.sessions) as session:
        user = await account_rows.find_user_by_id(session, principal.user_id)
    if user.provider_subject is not None:
        raise Conflict("This account logs in at the login provider, which asks for its second factor")
    # A person at an unlocked browser must not be able to lock its owner out.
    attempt = await context.throttle.attempt_known(user.name, BY_CODE)
    with known_lane().place(user.name):
        if user.password_hash is not None and not await verify_password(user.password_hash, password or "", known_lane()):
            raise NotAllowed("The password is wrong")
    secret = totp.new_totp_secret()
    async with open_write_session(context.sessions) as session:
        if not await rows.put_unconfirmed(session, user.id, totp.seal_secret(secret, context.key, user.id)):
            raise Conflict("The account has a second factor; remove it first")
    await attempt.succeed()
    uri = totp.provisioning_uri(secret, account=user.name, server=context.server)
    return FactorSetup(totp.base32(secret), uri, totp.draw_qr_code(uri))


async def confirm_setup(context: FactorContext, principal: Principal, code: str) -> list[str]:
    """Turn the second factor on by a first code, and end all other sessions; return the recovery codes.

    Raises: NotAllowed for an API token and a wrong code, Conflict without `begin_setup` or when it is on, TooManyRequests
    """
    _require_login(principal)
    attempt = await context.throttle.attempt_known(principal.name, BY_CODE)
    async with open_write_session(context.sessions) as session:
        found = await rows.lock_factor(session, principal.user_id)
        if found is None or found[0].confirmed_at is not None:
            raise Conflict("There is no second factor to confirm; begin again")
        factor, now_s = found
        secret = totp.open_secret(factor.secret, context.key, principal.user_id)
        step = totp.matching_step(secret, code, now_s=now_s, last_step=factor.last_step)
        if step is None:
            raise NotAllowed("The code is wrong: is the clock of the phone right?")
        await rows.note_step(session, principal.user_id, step, is_first=True)
        codes = await _renew_codes(session, principal.user_id)
        # They were opened without a code.
        await session_rows.end_sessions(session, principal.user_id, but=principal.session_hash)
        log_after_commit(session, "second_factor_set", account=short_name(principal.name))
    await attempt.succeed()
    return codes


async def renew_recovery_codes(context: FactorContext, principal: Principal, code: str) -> list[str]:
    """Return new recovery codes; the old ones are void.

    Raises: NotAllowed for an API token, SecondFactorNeeded for a wrong code, Conflict without a second factor, TooManyRequests
    """
    _require_login(principal)
    attempt = await context.throttle.attempt_known(principal.name, BY_CODE)
    async with open_write_session(context.sessions) as session:
        await _require_own(session, context, principal, code)
        codes = await _renew_codes(session, principal.user_id)
        log_after_commit(session, "recovery_codes_renewed", account=short_name(principal.name))
    await attempt.succeed()
    return codes


async def remove_own(context: FactorContext, principal: Principal, code: str) -> None:
    """Turn the second factor off.

    Raises: NotAllowed for an API token, SecondFactorNeeded for a wrong code, Conflict without a second factor, TooManyRequests
    """
    _require_login(principal)
    attempt = await context.throttle.attempt_known(principal.name, BY_CODE)
    async with open_write_session(context.sessions) as session:
        await _require_own(session, context, principal, code)
        await rows.delete_factor(session, principal.user_id)
        log_after_commit(session, "second_factor_removed", account=short_name(principal.name), by=short_name(principal.name))
    await attempt.succeed()


async def reset_of(session: AsyncSession, by: Principal | None, name: str) -> bool:
    """Remove the account's second factor and end its sessions; `by` None is the command line. Return whether there was one.

    Raises: NotFound, NotAllowed for an API token and an administrator
    """
    user = await account_rows.require_user(session, name)
    if by is not None:
        require_right_over(by, user)
    had_one = await rows.delete_factor(session, user.id)
    if had_one:
        await session_rows.end_sessions(session, user.id)
        who = "command line" if by is None else by.name
        log_after_commit(session, "second_factor_removed", account=short_name(name), by=short_name(who))
    return had_one


async def _require_own(session: AsyncSession, context: FactorContext, principal: Principal, code: str) -> None:
    if not await require_code(session, principal.user_id, code, context.key):
        raise Conflict("The account has no second factor")


async def _renew_codes(session: AsyncSession, user_id: int) -> list[str]:
    codes = totp.new_recovery_codes()
    await rows.put_recovery_codes(session, user_id, [totp.hash_recovery_code(code) for code in codes])
    return codes


def _require_login(principal: Principal) -> None:
    if principal.session_hash is None:
        raise NotAllowed("An API token cannot change the second factor of its account; log in")
