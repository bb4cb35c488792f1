"""Changes to accounts and tokens by users, and the rules for them."""

from collections.abc import Sequence
from typing import Annotated, Final

from pydantic import Field, StringConstraints
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import account_rows as rows
from normstat.auth.access import Principal
from normstat.auth.password_rules import MIN_LENGTH, require_good_password
from normstat.auth.passwords import hash_password
from normstat.auth.roles import Role
from normstat.auth.secret_tokens import AGENT_TOKEN_PREFIX, API_TOKEN_PREFIX, new_secret
from normstat.auth.security_log import log_after_commit, short_groups, short_name
from normstat.db.named_rows import name_taken
from normstat.db.schema.models import AgentToken, ApiToken, User
from normstat.errors import BadRequest, Conflict, NotAllowed, NotFound, shorten
from normstat.runtime.body import Body, Name
from normstat.runtime.input_limits import HOST_NAME

LAST: Final = "{name} is the last enabled administrator; give another account that role first"
NEEDS_SESSION: Final = "An API token can neither create nor change an administrator, because that would outlive the token; log in"


Password = Annotated[str, StringConstraints(min_length=MIN_LENGTH, max_length=1000)]
HostGroupNames = Annotated[list[Name], Field(max_length=1000)]


class UserUpdate(Body):
    """Changes to an account; members left out stay unchanged. A new password revokes its API tokens by default.

    `host_groups`: the only ones whose hosts it sees; null: all hosts.
    """

    role: Role | None = None
    password: Password | None = None
    is_disabled: bool | None = None
    revoke_api_tokens: bool | None = None
    host_groups: HostGroupNames | None = None


async def create_account(
    session: AsyncSession, by: Principal, *, name: str, role: Role, password: str, host_groups: Sequence[str] | None = None
) -> User:
    """Return the new account; with `host_groups` it sees only the hosts of these.

    Raises: Conflict when the name is taken, WeakPassword, NotAllowed for an API token that creates an administrator, NotFound for
    an unknown host group, BadRequest for an administrator with host groups, Overloaded
    """
    _require_session(by, role)
    password_hash = await _hash_new_password(by, name, password)
    user = await rows.add_user(session, name=name, role=role, password_hash=password_hash)
    if user is None:
        raise name_taken(name, what="Account")
    if host_groups is not None:
        user = await _limit(session, user, host_groups)
    log_after_commit(
        session,
        "account_created",
        account=short_name(name),
        role=role,
        host_groups=None if host_groups is None else short_groups(host_groups),
        by=short_name(by.name),
    )
    return user


async def change_account(session: AsyncSession, by: Principal, name: str, body: UserUpdate) -> User:
    """Return the changed account; disabling it or a new password ends its sessions.

    Raises: NotFound, also for an unknown host group, Conflict, WeakPassword, NotAllowed for an API token and an administrator,
    BadRequest for an administrator with host groups, Overloaded
    """
    _require_session(by, body.role)
    password_hash = None if body.password is None else await _hash_new_password(by, name, body.password)
    loses_rights = body.is_disabled is True or body.role not in {None, Role.ADMINISTRATOR}
    user = await _lock(session, by, name, loses_rights=loses_rights)
    if password_hash is not None and user.provider_subject is not None:
        raise Conflict(f"{shorten(name)} logs in at the login provider, and has no password here")
    changed = await rows.update_user(session, user.id, role=body.role, password_hash=password_hash, is_disabled=body.is_disabled)
    # Null lifts the limit.
    sets_groups = "host_groups" in body.model_fields_set
    if sets_groups:
        changed = await _limit(session, changed, body.host_groups)
    elif changed.is_limited:
        _require_limitable(changed)
    if body.is_disabled or password_hash is not None:
        await rows.delete_sessions_of(session, user.id)
    is_revoking = password_hash is not None and body.revoke_api_tokens is not False
    n_revoked = await rows.revoke_api_tokens_of(session, user.name) if is_revoking else 0
    log_after_commit(
        session,
        "account_changed",
        account=short_name(name),
        role=body.role,
        is_disabled=body.is_disabled,
        is_password_set=password_hash is not None,
        host_groups=short_groups(body.host_groups) if sets_groups else None,
        n_api_tokens_revoked=n_revoked,
        by=short_name(by.name),
    )
    return changed


async def delete_account(session: AsyncSession, by: Principal, name: str) -> None:
    """Delete the account and revoke its API tokens, so that a later account of the same name does not inherit them.

    Raises: NotFound, Conflict, NotAllowed for an API token and an administrator
    """
    user = await _lock(session, by, name, loses_rights=True)
    n_revoked = await rows.revoke_api_tokens_of(session, user.name)
    await rows.delete_user(session, user.id)
    log_after_commit(session, "account_deleted", account=short_name(name), n_api_tokens_revoked=n_revoked, by=short_name(by.name))


async def _limit(session: AsyncSession, user: User, groups: Sequence[str] | None) -> User:
    unknown = await rows.limit_user(session, user.id, groups)
    if unknown:
        raise NotFound(
            f"There is no host group {shorten(unknown[0])}; GET /api/v1/host-groups lists them", {"host_groups": unknown[0]}
        )
    await session.refresh(user)
    if user.is_limited:
        _require_limitable(user)
    return user


def _require_limitable(user: User) -> None:
    if user.role == Role.ADMINISTRATOR:
        raise BadRequest(
            f"{shorten(user.name)} is an administrator, who sees all hosts: give the account another role, or all hosts",
            {"host_groups": None},
        )


async def _hash_new_password(by: Principal, name: str, password: str) -> str:
    await require_good_password(password, name=name, who=by.name, member="password")
    return await hash_password(password, who=by.name)


def _require_session(by: Principal, role: str | None) -> None:
    if by.session_hash is None and role == Role.ADMINISTRATOR:
        raise NotAllowed(NEEDS_SESSION)


def require_right_over(by: Principal, user: User) -> None:
    """Check that the request may change how the account is logged in.

    Raises: NotAllowed for an API token and an administrator
    """
    _require_session(by, user.role)


async def _lock(session: AsyncSession, by: Principal, name: str, *, loses_rights: bool) -> User:
    administrators = await rows.lock_administrators(session)
    user = await rows.lock_user(session, name)
    if user is None:
        raise NotFound(f"There is no account {shorten(name)}")
    _require_session(by, user.role)
    if loses_rights and [admin.id for admin in administrators] == [user.id]:
        raise Conflict(LAST.format(name=name))
    return user


async def create_api_token(session: AsyncSession, principal: Principal, *, name: str, role: Role) -> tuple[str, ApiToken]:
    """Return the secret and the row of a new API token that acts for the principal's account.

    Raises: NotAllowed
    """
    if principal.session_hash is None:
        raise NotAllowed("An API token cannot create API tokens, because they would outlive it; log in")
    if not principal.role.reaches(role):
        raise NotAllowed(
            f"A token cannot have a higher role than its account: {principal.name} has the role {principal.role}", {"role": role}
        )
    secret = new_secret(API_TOKEN_PREFIX)
    row = await rows.add_api_token(session, name=name, role=role, token_hash=secret.token_hash, created_by=principal.name)
    log_after_commit(
        session, "api_token_created", token_id=row.id, token_name=short_name(name), role=role, by=short_name(principal.name)
    )
    return secret.token, row


async def list_api_tokens(session: AsyncSession, principal: Principal) -> list[ApiToken]:
    """Return the principal's own tokens; for an administrator, all."""
    return await rows.list_api_tokens(session, _own(principal))


async def revoke_api_token(session: AsyncSession, principal: Principal, token_id: int) -> None:
    """Revoke one of the principal's own tokens; an administrator may revoke any.

    Raises: NotFound
    """
    if not await rows.revoke_api_token(session, token_id, _own(principal)):
        raise NotFound(f"There is no API token {token_id}")
    log_after_commit(session, "api_token_revoked", token_id=token_id, by=short_name(principal.name))


def _own(principal: Principal) -> str | None:
    return None if principal.role is Role.ADMINISTRATOR else principal.name


async def create_agent_token(session: AsyncSession, *, name: str, host: str | None, created_by: str) -> tuple[str, AgentToken]:
    """Return the secret and the row of a new agent token.

    Raises: BadRequest for an invalid host name
    """
    if host is not None and HOST_NAME.fullmatch(host) is None:
        raise BadRequest(
            f"{shorten(host)} is not a valid host name: expected up to 200 of the characters A-Z a-z 0-9 . _ : -", {"host": host}
        )
    secret = new_secret(AGENT_TOKEN_PREFIX)
    row = await rows.add_agent_token(session, name=name, host=host, token_hash=secret.token_hash, created_by=created_by)
    log_after_commit(
        session, "agent_token_created", token_id=row.id, token_name=short_name(name), for_host=host, by=short_name(created_by)
    )
    return secret.token, row


async def revoke_agent_token(session: AsyncSession, by: Principal, token_id: int) -> None:
    """Revoke an agent token.

    Raises: NotFound
    """
    if not await rows.revoke_agent_token(session, token_id):
        raise NotFound(f"There is no agent token {token_id}")
    log_after_commit(session, "agent_token_revoked", token_id=token_id, by=short_name(by.name))
