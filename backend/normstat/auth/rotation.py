"""Rotation: an agent takes a new token in place of its own, without a gap (docs/wire-format.md).

The old token stays valid until the new one is used first (auth/access.py). An answer that was lost, or an agent that was killed
before it had stored the new token, costs nothing: it asks again with the old one, and gets another secret. An agent without
support for rotation keeps its token. Only a rotation with a time limit ends the old token in any case.
"""

from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import join_token_rows as rows
from normstat.auth.access import AgentPrincipal, TokenRefused, is_rotation_due, is_usable
from normstat.auth.enrolment import EnrolledAgent
from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX, new_secret
from normstat.auth.security_log import log_after_commit, short_name
from normstat.errors import BadRequest, Conflict, NotAllowed, NotFound, shorten

MAX_WITHIN: Final = timedelta(days=365)


async def ask_rotation(session: AsyncSession, token_id: int, *, by: str, within: timedelta | None) -> None:
    """Request that the token's agent takes a new one; with `within`, the old one expires after that time even if it was not
    replaced.

    Raises: NotFound; BadRequest for a time limit out of range; Conflict for a token that is revoked, or for any host
    """
    if within is not None and not timedelta() < within <= MAX_WITHIN:
        raise BadRequest("The time limit of a rotation is at most 365 days")
    found = await rows.lock_agent_token(session, token_id)
    if found is None:
        raise NotFound(f"There is no agent token {token_id}")
    token, host = found
    if not is_usable(token):
        raise Conflict(f"Agent token {token_id} is revoked or expired: its agent needs a new one by hand, or a join token")
    if host is None:
        raise Conflict(f"Agent token {token_id} is for any host: only tokens of one host rotate. Enrol its hosts with a join token")
    await rows.ask_rotation(session, token_id, within=within)
    days = None if within is None else within.total_seconds() / 86400
    log_after_commit(session, "agent_token_rotation_asked", token_id=token_id, for_host=host, within_days=days, by=short_name(by))


async def issue_successor(session: AsyncSession, agent: AgentPrincipal, host: str, *, max_age: timedelta | None) -> EnrolledAgent:
    """Return a token that takes the place of the agent's when it is used first; one that an earlier request got is void.

    Raises: TokenRefused for a token that ended a moment ago; NotAllowed for another host; Conflict when no rotation is due
    """
    found = await rows.lock_agent_token(session, agent.token_id)
    if found is None or not is_usable(found[0]):
        raise TokenRefused(
            "This agent token is unknown or revoked; create a new one under /agent-tokens",
            kind="agent",
            reason="revoked",
            token_id=agent.token_id,
        )
    old, own_host = found
    if own_host is None:
        raise NotAllowed("This agent token is for any host: only tokens of one host rotate")
    if host not in {"", own_host}:
        raise NotAllowed(f"The token is for host {own_host}, not for {shorten(host)}")
    if not is_rotation_due(old, max_age):
        raise Conflict("No rotation of this token is due")
    secret = new_secret(AGENT_TOKEN_PREFIX)
    successor = await rows.find_successor(session, old.id)
    if successor is None:
        token_id = await rows.add_successor(session, old, secret.token_hash)
    else:
        token_id = successor.id
        await rows.replace_unused(session, token_id, secret.token_hash)
    log_after_commit(session, "agent_token_issued", token_id=token_id, replaces=old.id, for_host=own_host)
    return EnrolledAgent(secret.token, own_host)
