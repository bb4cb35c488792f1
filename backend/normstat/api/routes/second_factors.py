"""The second factor of one's own account; administrators reset those of others."""

from datetime import datetime
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends
from pydantic import StringConstraints

from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, Administrator, ReadSession, State, ViewerInSetup, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.users import UserPath
from normstat.auth import second_factor
from normstat.auth.roles import Role
from normstat.auth.second_factor import FactorContext
from normstat.errors import Conflict, NotFound, Overloaded, SecondFactorNeeded, TooManyRequests
from normstat.runtime.body import Body

router = LazyRouter(tags=["second factor"])
Code = Annotated[str, StringConstraints(min_length=1, max_length=100)]


class SecondFactorState(Body):
    """Whether the account asks for a code at its logins. `is_required`: the server demands it of the account's role."""

    confirmed_at: datetime | None
    n_recovery_codes: int
    is_required: bool


class SecondFactorBegin(Body):
    """The account's password, if it has one."""

    password: Annotated[str, StringConstraints(max_length=1000)] | None = None


class SecondFactorSetup(Body):
    """What an authenticator app needs: shown once. `qr_code`: an SVG document with `uri`; `secret`: for typing, base 32."""

    secret: str
    uri: str
    qr_code: str


class SecondFactorCode(Body):
    """A code of the authenticator app, or a recovery code."""

    code: Code


class RecoveryCodes(Body):
    """Codes that stand in for the authenticator app, once each: shown once."""

    recovery_codes: list[str]


async def get_factor_context(state: State) -> FactorContext:
    """Return what requests about second factors share."""
    key = state.settings.secret_key
    server = urlsplit(state.settings.public_url).hostname or ""
    return FactorContext(state.sessions, state.throttle, None if key is None else key.get_secret_value(), server)


Context = Annotated[FactorContext, Depends(get_factor_context)]


@router.get("/auth/second-factor", responses=guarded_answers())
@open_to_limited()
async def get_second_factor(principal: ViewerInSetup, session: ReadSession, state: State) -> SecondFactorState:
    """Return whether one's own account has a second factor, and how many recovery codes are left."""
    found = await second_factor.read_factor_state(session, principal)
    needed = state.settings.second_factor_role
    return SecondFactorState(
        confirmed_at=found.confirmed_at,
        n_recovery_codes=found.n_recovery_codes,
        is_required=needed is not None and principal.role.reaches(Role(needed)),
    )


@router.post("/auth/second-factor", responses=guarded_answers(Conflict, TooManyRequests, Overloaded))
@open_to_limited()
async def begin_second_factor(body: SecondFactorBegin, principal: ViewerInSetup, context: Context) -> SecondFactorSetup:
    """Return a new secret for an authenticator app; it counts once a code of it is confirmed. Not with an API token."""
    made = await second_factor.begin_setup(context, principal, body.password)
    return SecondFactorSetup(secret=made.secret, uri=made.uri, qr_code=made.qr_code)


@router.post("/auth/second-factor/confirmation", responses=guarded_answers(Conflict, TooManyRequests))
@open_to_limited()
async def confirm_second_factor(body: SecondFactorCode, principal: ViewerInSetup, context: Context) -> RecoveryCodes:
    """Turn the second factor on by a first code; end all other sessions of the account."""
    return RecoveryCodes(recovery_codes=await second_factor.confirm_setup(context, principal, body.code))


@router.post("/auth/second-factor/recovery-codes", responses=guarded_answers(Conflict, SecondFactorNeeded, TooManyRequests))
@open_to_limited()
async def renew_recovery_codes(body: SecondFactorCode, principal: ViewerInSetup, context: Context) -> RecoveryCodes:
    """Replace the recovery codes of one's own account."""
    return RecoveryCodes(recovery_codes=await second_factor.renew_recovery_codes(context, principal, body.code))


@router.post("/auth/second-factor/removal", responses=guarded_answers(Conflict, SecondFactorNeeded, TooManyRequests))
@open_to_limited()
async def remove_second_factor(body: SecondFactorCode, principal: ViewerInSetup, context: Context) -> Empty:
    """Turn the second factor of one's own account off, by a code of it."""
    await second_factor.remove_own(context, principal, body.code)
    return Empty()


@router.delete("/users/{name}/second-factor", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound))
async def reset_second_factor(name: UserPath, principal: Administrator, session: WriteSession) -> Empty:
    """Remove the second factor of an account whose phone is lost, and end its sessions.

    An API token cannot do so for administrators.
    """
    await second_factor.reset_of(session, principal, name)
    return Empty()
