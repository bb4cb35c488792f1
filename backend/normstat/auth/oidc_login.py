"""Login by an OpenID Connect provider: which account it opens, with which role.

An account is known by issuer and subject. Name and mail address come from the provider too, but people can change them there: they
never lead to an account. A local account is never taken over; a name that is taken gets a number.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from normstat.auth import account_rows
from normstat.auth.login import LoginContext, NewSession, Visitor, open_session
from normstat.auth.oidc_client import Claims, LoginState, OidcClient, claim_of, groups_of
from normstat.auth.roles import Role
from normstat.auth.security_log import log_after_commit, short_groups, short_name
from normstat.db.schema.models import User
from normstat.db.session import open_write_session
from normstat.errors import NotAllowed, NotAuthenticated, ProviderAway

ANYBODY: Final = "*"
MAX_NAME: Final = 200
MAX_NAMESAKES: Final = 1000


@dataclass(frozen=True, slots=True)
class GroupRoles:
    """The groups that give each role; `*` stands for every user of the provider."""

    administrator: tuple[str, ...]
    operator: tuple[str, ...]
    viewer: tuple[str, ...]

    def role_of(self, groups: frozenset[str]) -> Role | None:
        """Return the highest role that the groups give. Missing: None where they give none."""
        for role in (Role.ADMINISTRATOR, Role.OPERATOR, Role.VIEWER):
            wanted: tuple[str, ...] = getattr(self, role)
            if ANYBODY in wanted or not groups.isdisjoint(wanted):
                return role
        return None


@dataclass(frozen=True, slots=True)
class GroupHosts:
    """Which host groups the members of a group see: pairs of a group and a host group, `*` for all hosts."""

    pairs: tuple[tuple[str, str], ...]

    def host_groups_of(self, groups: frozenset[str], role: Role) -> list[str] | None:
        """Return the host groups whose hosts the account sees. Missing: None where it sees all hosts

        >>> some = GroupHosts((("dba", "databases"), ("dba", "shop"), ("unix", "*")))
        >>> some.host_groups_of(frozenset({"dba"}), Role.OPERATOR)
        ['databases', 'shop']
        >>> some.host_groups_of(frozenset({"dba", "unix"}), Role.OPERATOR) is None
        True
        """
        found = sorted({host_group for group, host_group in self.pairs if group in groups})
        return None if role is Role.ADMINISTRATOR or ANYBODY in found else found


@dataclass(frozen=True, slots=True)
class OidcLogin:
    """The provider, and the rights of its accounts. `name_claim`: what accounts are called; `lifetime`: of a session."""

    client: OidcClient
    roles: GroupRoles
    hosts: GroupHosts
    name_claim: str
    lifetime: timedelta
    label: str


async def finish_login(context: LoginContext, visitor: Visitor, oidc: OidcLogin, login: LoginState, code: str) -> NewSession:
    """Return a new session of the account that logged in at the provider; its role is that of its groups there.

    Raises: NotAuthenticated, NotAllowed for accounts without a role or disabled ones, ProviderAway, TooManyRequests
    """
    # Before the provider is asked: invented codes must not flood it.
    attempt = await context.throttle.attempt_provider(visitor.address)
    try:
        claims = await oidc.client.finish(login, code)
    except NotAuthenticated as error:
        context.security_log.note("login_failed", visitor.address, reason="provider_token", detail=error.message)
        raise
    except ProviderAway as error:
        context.security_log.note("login_failed", visitor.address, reason="provider_away", detail=error.message)
        raise
    await attempt.succeed()
    groups = groups_of(claims, oidc.client.settings.groups_claim)
    role = oidc.roles.role_of(groups)
    async with open_write_session(context.sessions) as session:
        user = await account_rows.lock_provider_user(session, str(claims["iss"]), str(claims["sub"]))
        refusal = None
        if role is None:
            refusal = "no_group"
            if user is not None:
                await _take_role(session, user)
        elif user is not None and user.disabled_at is not None and not user.is_disabled_by_provider:
            refusal = "account_disabled"
        else:
            user = await _give_role(session, user, claims, role, oidc.name_claim)
            if oidc.hosts.pairs:
                await _limit(session, user, oidc.hosts.host_groups_of(groups, role))
            limited = replace(context, lifetime=min(context.lifetime, oidc.lifetime))
            logged_in = await open_session(limited, visitor, session, user.id, user.password_hash, means="provider")
    if refusal is not None:
        context.security_log.note("login_failed", visitor.address, account=None if user is None else user.name, reason=refusal)
        text = "None of your groups may use normstat" if refusal == "no_group" else "This account is disabled"
        raise NotAllowed(text, {"reason": refusal})
    context.security_log.note("login_succeeded", logged_in.principal.name, level="info", account=logged_in.principal.name)
    return logged_in


async def _take_role(session: AsyncSession, user: User) -> None:
    """Disable an account that has lost all of its groups, with its sessions and API tokens; a group brings it back."""
    if user.disabled_at is None:
        await account_rows.set_provider_state(session, user.id, role=Role.VIEWER, is_disabled=True)
        log_after_commit(session, "account_changed", account=short_name(user.name), is_disabled=True, by="login provider")
    await account_rows.delete_sessions_of(session, user.id)


async def _give_role(session: AsyncSession, user: User | None, claims: Claims, role: Role, name_claim: str) -> User:
    if user is None:
        user = await _add_account(session, claims, role, name_claim)
        log_after_commit(session, "account_created", account=short_name(user.name), role=role, by="login provider")
        return user
    if user.role != role or user.disabled_at is not None:
        log_after_commit(session, "account_changed", account=short_name(user.name), role=role, by="login provider")
        await account_rows.set_provider_state(session, user.id, role=role, is_disabled=False)
    return user


async def _limit(session: AsyncSession, user: User, host_groups: list[str] | None) -> None:
    before = (await account_rows.read_host_groups(session, [user.id])).get(user.id, []) if user.is_limited else None
    unknown = await account_rows.limit_user(session, user.id, host_groups)
    await session.refresh(user)
    after = None if host_groups is None else sorted(set(host_groups) - set(unknown))
    if after != before:
        said = short_groups(after)
        log_after_commit(session, "account_changed", account=short_name(user.name), host_groups=said, by="login provider")
    if unknown:
        # The administrator can create the group, or correct the setting.
        log_after_commit(session, "host_group_unknown", account=short_name(user.name), host_groups=short_groups(unknown))


async def _add_account(session: AsyncSession, claims: Claims, role: Role, name_claim: str) -> User:
    said = claim_of(claims, name_claim)
    preferred = "".join(sign for sign in said if sign.isprintable()).strip() if isinstance(said, str) else ""
    preferred = (preferred or str(claims["sub"]))[: MAX_NAME - 8]
    issuer, subject = str(claims["iss"]), str(claims["sub"])
    for number in range(1, MAX_NAMESAKES):
        name = preferred if number == 1 else f"{preferred}-{number}"
        user = await account_rows.add_user(
            session, name=name, role=role, password_hash=None, provider_issuer=issuer, provider_subject=subject
        )
        # A login of the same account at the same time has made it.
        user = user or await account_rows.lock_provider_user(session, issuer, subject)
        if user is not None:
            return user
    raise NotAllowed(f"There are {MAX_NAMESAKES} accounts of this name", {"reason": "no_group"})
