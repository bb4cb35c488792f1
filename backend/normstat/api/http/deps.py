"""Dependencies of routes: database sessions, the authenticated account or agent, the window."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.api.http import audit_notes
from normstat.api.http.backpressure import Ticket
from normstat.api.http.cookies import SessionCookie
from normstat.api.http.host_access import limit_request
from normstat.api.http.middleware import client_address
from normstat.api.http.route_marks import mark_of
from normstat.api.http.row_budgets import check_budget
from normstat.api.http.state import AppState, state_of
from normstat.auth import access, csrf
from normstat.auth.access import AgentPrincipal, Principal, TokenRefused
from normstat.auth.roles import Role
from normstat.db.session import open_read_session, open_write_session
from normstat.errors import NotAllowed, NotAuthenticated, ReadOnly
from normstat.records.audit_rows import add_entries
from normstat.runtime.body import NO_NUL, Instant
from normstat.window import Window

cookie_scheme = SessionCookie()
api_token_scheme = HTTPBearer(scheme_name="api_token", description="a token created under /api-tokens", auto_error=False)
agent_token_scheme = HTTPBearer(scheme_name="agent_token", description="a token created under /agent-tokens", auto_error=False)

State = Annotated[AppState, Depends(state_of)]


async def read_session(state: State) -> AsyncIterator[AsyncSession]:
    """Yield a read-only session; it ends without commit."""
    async with open_read_session(state.sessions) as session:
        yield session


async def large_read_session(request: Request, state: State) -> AsyncIterator[AsyncSession]:
    """Yield a read-only session for what reads many samples: of the standby, where one is fit for it (db/standby.py)."""
    # Set by the guard of the route, which ran before.
    async with state.reads.open(getattr(request.state, "account", "")) as session:
        yield session


async def write_session(request: Request, state: State) -> AsyncIterator[AsyncSession]:
    """Yield a session that commits when the route returns, with an entry of the audit log, and rolls back when it raises.

    Declared with scope="function", so that the commit precedes the answer: a failed commit is never a 2xx.
    """
    async with open_write_session(state.sessions) as session:
        yield session
        action = audit_notes.note_of(request.scope)
        entry = action and audit_notes.entry_of(request.scope, action=action, body=await audit_notes.read_body(request))
        if entry:
            await add_entries(session, [entry])
            request.state.is_audited = True


# Both end with the route, not with the answer: a slow reader of a long answer holds no connection.
ReadSession = Annotated[AsyncSession, Depends(read_session, scope="function")]
LargeReadSession = Annotated[AsyncSession, Depends(large_read_session, scope="function")]
WriteSession = Annotated[AsyncSession, Depends(write_session, scope="function")]


@contextmanager
def noting_refused_tokens(request: Request, state: AppState) -> Iterator[None]:
    """Log which token was refused and why, and raise the error again."""
    try:
        yield
    except TokenRefused as refused:
        # A known token is its own source: hundreds of agents may share an address.
        source = client_address(request) if refused.token_id is None else f"{refused.kind} token {refused.token_id}"
        state.security_log.note("token_refused", source, kind=refused.kind, reason=refused.reason, token_id=refused.token_id)
        raise


def require_writable(state: AppState) -> None:
    """Check that this server takes changes.

    Raises: ReadOnly
    """
    if state.settings.read_only:
        raise ReadOnly("This normstat is read-only: nothing in it can be changed. Start one of your own with `normstat up`")


def _changes_something(request: Request) -> bool:
    """Return whether a request of a person would change more than the session that it ends."""
    route = request.scope.get("route")
    is_reading = request.method in {"GET", "HEAD"} or mark_of(request.scope, audit_notes.READING)
    return not is_reading and getattr(route, "name", "") != "log_out"


class RoleGuard:
    """Requires the role `needed`.

    It reads accounts in a short session of its own, so that long answers (exports, live) do not hold a connection for it.
    `serves_setup`: also accounts may come that must set up their second factor first (NORMSTAT_SECOND_FACTOR_ROLE).
    `takes_tokens_only`: the route is for programs; a browser's session does not open it.
    """

    def __init__(self, needed: Role, *, serves_setup: bool = False, takes_tokens_only: bool = False) -> None:
        self.needed = needed
        self.serves_setup = serves_setup
        self.takes_tokens_only = takes_tokens_only

    async def __call__(
        self,
        request: Request,
        state: State,
        cookie: Annotated[str | None, Depends(cookie_scheme)],
        bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(api_token_scheme)],
    ) -> Principal:
        """Return the authenticated account.

        Raises: NotAuthenticated, NotAllowed; TooManyRequests for an account that may not make another row of this kind
        """
        if "authorization" in request.headers:
            if bearer is None:
                raise NotAuthenticated("Invalid Authorization header; expected `Bearer <API token>`")
            with noting_refused_tokens(request, state):
                principal = await access.authenticate_api_token(state.sessions, bearer.credentials)
        elif self.takes_tokens_only:
            raise NotAuthenticated("Send `Authorization: Bearer <API token>`; create a token under /api-tokens")
        else:
            csrf.check_browser_request(request.method, request.headers)
            principal = await access.authenticate_session(state.sessions, cookie, client_address(request))
        # Logged with later refusals of this request.
        request.state.account = principal.name
        request.state.principal = principal
        if not principal.role.reaches(self.needed):
            raise NotAllowed(f"This requires the role {self.needed}; {principal.name} has the role {principal.role}")
        if not self.serves_setup and principal.lacks_second_factor(state.settings.second_factor_role):
            text = "This server demands a second factor of this account: log in on the page and set it up under Accounts"
            raise NotAllowed(text, {"reason": "second_factor_required"})
        if _changes_something(request):
            require_writable(state)
        await limit_request(request, state.sessions, principal)
        await check_budget(request, state, principal)
        return principal


def require_certificate(request: Request, state: AppState) -> None:
    """Check that the agent has shown a certificate, where the server demands one.

    Raises: NotAllowed
    """
    if state.settings.tls_client_ca is not None and not request.scope["state"].get("has_client_certificate"):
        state.security_log.note("certificate_missing", client_address(request))
        raise NotAllowed("This server accepts data only with a client certificate of its authority (agent option --client-cert)")


async def require_agent(
    request: Request, state: State, bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(agent_token_scheme)]
) -> AgentPrincipal:
    """Return the agent whose token came with the request.

    Raises: NotAuthenticated, NotAllowed, ReadOnly, Overloaded
    """
    require_certificate(request, state)
    require_writable(state)
    if bearer is None:
        raise NotAuthenticated("Expected the header `Authorization: Bearer <agent token>`; create a token under /agent-tokens")
    with noting_refused_tokens(request, state):
        if state.agents.knows(bearer.credentials):
            return await state.agents.enter(state.ingest_sessions, bearer.credentials)
        async with state.lobby.wait():
            return await state.agents.enter(state.ingest_sessions, bearer.credentials)


async def check_origin(request: Request) -> None:
    """Check the origin for the public login routes: pages of other sites may not send here."""
    csrf.check_origin(request.headers)


Viewer = Annotated[Principal, Depends(RoleGuard(Role.VIEWER))]
ViewerInSetup = Annotated[Principal, Depends(RoleGuard(Role.VIEWER, serves_setup=True))]
ViewerByToken = Annotated[Principal, Depends(RoleGuard(Role.VIEWER, takes_tokens_only=True))]
Operator = Annotated[Principal, Depends(RoleGuard(Role.OPERATOR))]
Administrator = Annotated[Principal, Depends(RoleGuard(Role.ADMINISTRATOR))]
Agent = Annotated[AgentPrincipal, Depends(require_agent)]


async def admit(state: State, agent: Agent) -> AsyncIterator[Ticket]:
    """Admit an agent's request before its body is read.

    Raises: Overloaded
    """
    with state.ingest_gate.admit(agent.token_id) as ticket:
        yield ticket


Admitted = Annotated[Ticket, Depends(admit, scope="function")]


# For routes that need the role but not the account.
NEEDS_VIEWER = Depends(RoleGuard(Role.VIEWER))
NEEDS_OPERATOR = Depends(RoleGuard(Role.OPERATOR))
NEEDS_ADMINISTRATOR = Depends(RoleGuard(Role.ADMINISTRATOR))


async def read_window(
    start: Annotated[Instant, Query(description="first instant of the window")],
    end: Annotated[Instant, Query(description="first instant after the window")],
) -> Window:
    """Return the window of the parameters start and end.

    Raises: BadRequest when it is empty
    """
    return Window(start, end)


InWindow = Annotated[Window, Depends(read_window)]
HostPath = Annotated[str, Path(description="name of the host", min_length=1, max_length=200, pattern=NO_NUL)]
HostQuery = Annotated[str, Query(description="name of the host", min_length=1, max_length=200, pattern=NO_NUL)]
StatPath = Annotated[str, Path(description="name of the stat", min_length=1, max_length=63, pattern=NO_NUL)]
StatQuery = Annotated[str, Query(description="name of the stat", min_length=1, max_length=63, pattern=NO_NUL)]
IdPath = Annotated[int, Path(ge=1, le=2**63 - 1)]
