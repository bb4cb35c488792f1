"""Enrolment: a host exchanges a join token, which an administrator made for an hour or so, for an agent token of its own.

A join token enrols up to `max_uses` hosts. Its row is locked while a host enrols, so that the count is exact however many come at
once. A name that another token sends for is refused, unless the join token allows takeover; then that token is revoked.

An answer can be lost: a host that asks again with the same join token before its agent token was used gets another secret for it,
which counts as no further use.
"""

import re
import shlex
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated, Final

from pydantic import Field, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import join_token_rows as rows
from normstat.auth.access import TokenRefused
from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX, JOIN_TOKEN_PREFIX, hash_token, new_secret
from normstat.auth.security_log import log_after_commit, short_name
from normstat.db.schema.account_models import JoinToken
from normstat.errors import BadRequest, Conflict, NotAllowed, NotFound, shorten
from normstat.records.audit_rows import AuditEntry, add_entries
from normstat.runtime.body import NO_NUL, Body, Name, Tag
from normstat.runtime.input_limits import HOST_NAME, too_many_hosts

MAX_LIFETIME_S: Final = 30 * 86_400
MAX_USES: Final = 10_000
# Join tokens that hosts could enrol with, at one time.
MAX_USABLE: Final = 100
PATTERN: Final = re.compile(r"[A-Za-z0-9_*?][A-Za-z0-9._:*?-]{0,199}", re.ASCII)


class JoinTokenCreate(Body):
    """A token that hosts enrol with. `host_pattern`: names they may have, with * and ?, separated by blanks; empty: any.

    `allows_takeover`: also names that another token sends for, which is revoked then.
    """

    name: Name
    lifetime_s: Annotated[int, Field(ge=60, le=MAX_LIFETIME_S)] = 3600
    max_uses: Annotated[int, Field(ge=1, le=MAX_USES)] = 50
    host_pattern: Annotated[str, StringConstraints(max_length=1000, pattern=NO_NUL)] = ""
    tags: Annotated[list[Tag], Field(max_length=50)] = []  # noqa: RUF012 (pydantic copies it)
    allows_takeover: bool = False


def join_command(public_url: str, token: str) -> str:
    """Return the command that installs the agent and enrols its host, the same for all hosts.

    The token is passed in the environment, which `ps` does not show.
    """
    url = shlex.quote(public_url.rstrip("/"))
    return f"curl -fsS {url}/api/v1/agent/install.sh | NORMSTAT_JOIN_TOKEN={token} sh -s -- --server {url}"


@dataclass(frozen=True, slots=True, repr=False)
class EnrolledAgent:
    """The new token of a host; it has no repr, so that it does not end up in a log."""

    token: str
    host: str


def matches_pattern(pattern: str, host: str) -> bool:
    """Return whether one of the patterns, separated by blanks or commas, is that of the name; no pattern is that of any.

    >>> matches_pattern("web*, db?", "web12"), matches_pattern("web*, db?", "db12"), matches_pattern("", "x")
    (True, False, True)
    """
    patterns = pattern.replace(",", " ").split()
    return not patterns or any(fnmatchcase(host, each) for each in patterns)


async def create_join_token(session: AsyncSession, body: JoinTokenCreate, *, created_by: str) -> tuple[str, JoinToken]:
    """Return the secret and the row of a new join token.

    Raises: BadRequest for an invalid pattern; Conflict when there are too many
    """
    patterns = body.host_pattern.replace(",", " ").split()
    wrong = next((each for each in patterns if PATTERN.fullmatch(each) is None), None)
    if wrong is not None:
        raise BadRequest(f"{shorten(wrong)} is not a pattern of host names: expected names with * and ?, such as `web* db?`")
    if await rows.count_usable(session) >= MAX_USABLE:
        raise Conflict(f"There are {MAX_USABLE} join tokens that hosts can enrol with, the limit: revoke some")
    secret = new_secret(JOIN_TOKEN_PREFIX)
    token = JoinToken(
        name=body.name,
        token_hash=secret.token_hash,
        host_pattern=" ".join(patterns),
        tags=list(body.tags),
        allows_takeover=body.allows_takeover,
        max_uses=body.max_uses,
        created_by=created_by,
    )
    row = await rows.add_join_token(session, token, lifetime=timedelta(seconds=body.lifetime_s))
    log_after_commit(
        session,
        "join_token_created",
        token_id=row.id,
        token_name=short_name(row.name),
        max_uses=row.max_uses,
        allows_takeover=row.allows_takeover,
        by=short_name(created_by),
    )
    return secret.token, row


async def revoke_join_token(session: AsyncSession, token_id: int, *, by: str) -> None:
    """Revoke a join token; hosts that enrolled keep their own tokens.

    Raises: NotFound
    """
    if not await rows.revoke_join_token(session, token_id):
        raise NotFound(f"There is no join token {token_id}")
    log_after_commit(session, "join_token_revoked", token_id=token_id, by=short_name(by))


async def enrol_host(
    session: AsyncSession, token: str, host: str, *, address: str, request_id: str, max_hosts: int
) -> EnrolledAgent:
    """Return an agent token for the host alone.

    Raises: BadRequest for a name that no host can have; TokenRefused; NotAllowed for a name that the join token is not for;
        Conflict for a name that another token sends for; TooManyRequests when there are too many hosts
    """
    if HOST_NAME.fullmatch(host) is None:
        raise BadRequest(
            f"Normstat-Host is {shorten(host) if host else 'missing'}; expected up to 200 of the characters A-Z a-z 0-9 . _ : -"
        )
    found = await rows.lock_join_token(session, hash_token(token))
    join = _require_valid(found)
    if not matches_pattern(join.host_pattern, host):
        raise NotAllowed(f"This join token is for hosts named {shorten(join.host_pattern)}, not for {host}")
    locked = await rows.lock_host(session, host)
    if locked.is_new and await rows.count_hosts(session) > max_hosts:
        raise too_many_hosts(max_hosts)
    live = await rows.list_live_tokens(session, locked.id)
    unused = next((each for each in live if each.join_token_id == join.id and each.last_used_at is None), None)
    others = [each.id for each in live if each is not unused]
    is_taken = bool(others) or (locked.has_sent and unused is None)
    if is_taken and not join.allows_takeover:
        raise Conflict(
            f"The host name {host} is taken: an agent sends for it with another token. Give this host another name (--host), or"
            " create a join token that allows takeover"
        )
    await rows.revoke_agent_tokens(session, others)
    secret = new_secret(AGENT_TOKEN_PREFIX)
    if unused is not None:
        await rows.replace_unused(session, unused.id, secret.token_hash)
        token_id = unused.id
    else:
        _require_use(join)
        await rows.count_use(session, join.id)
        token_id = await rows.add_enrolled_token(
            session,
            name=f"agent of {host}",
            host_id=locked.id,
            token_hash=secret.token_hash,
            created_by=join.created_by,
            join_token_id=join.id,
        )
    if join.tags:
        await rows.add_tags(session, locked, join.tags)
    await _note(session, join, host, token_id, address=address, request_id=request_id, n_revoked=len(others))
    return EnrolledAgent(secret.token, host)


def _require_valid(found: tuple[JoinToken, bool] | None) -> JoinToken:
    if found is None:
        raise TokenRefused("This join token is unknown; create a new one", kind="join", reason="unknown", token_id=None)
    join, is_expired = found
    if join.revoked_at is not None:
        raise TokenRefused("This join token is revoked; create a new one", kind="join", reason="revoked", token_id=join.id)
    if is_expired:
        raise TokenRefused("This join token has expired; create a new one", kind="join", reason="expired", token_id=join.id)
    return join


def _require_use(join: JoinToken) -> None:
    if join.n_uses >= join.max_uses:
        message = f"This join token has enrolled {join.n_uses} hosts, as many as it may; create a new one"
        raise TokenRefused(message, kind="join", reason="used_up", token_id=join.id)


async def _note(
    session: AsyncSession, join: JoinToken, host: str, token_id: int, *, address: str, request_id: str, n_revoked: int
) -> None:
    target = {"host": host, "join_token": join.name, "agent_token": str(token_id)}
    if n_revoked:
        target["n_tokens_revoked"] = str(n_revoked)
    entry = AuditEntry(
        account=None,
        means="join_token",
        token_id=join.id,
        address=address,
        action="enrol_host",
        target=target,
        request_id=request_id,
    )
    await add_entries(session, [entry])
    log_after_commit(session, "host_enrolled", host=host, token_id=token_id, join_token_id=join.id, n_tokens_revoked=n_revoked)
