"""What an account limited to host groups may request: decided for each route, before it runs.

A route without `open_to_limited` is refused to limited accounts, so that a new one shows nothing by oversight. The sessions of an
open route are limited (db/host_limits.py), and every host that its request names must be visible.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from fastapi.routing import APIRoute
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.api.http.route_marks import Endpoint, mark_of, marking
from normstat.auth.access import Principal
from normstat.db.host_limits import Whole, find_hidden_names, has_hidden_host, is_group_hidden, limit_hosts
from normstat.db.session import open_read_session
from normstat.errors import NotAllowed, shorten

Sessions = async_sessionmaker[AsyncSession]

HOST_KEYS: Final = frozenset({"host", "hosts", "other_host"})
LIMITED: Final = "This account is limited to host groups"
MARK: Final = "limited_access"


@dataclass(frozen=True, slots=True)
class LimitedAccess:
    """What a route demands of a limited account. `open_to_limited` describes the members."""

    needs_host: bool
    needs_whole_group: bool
    whole: Whole | None


def open_to_limited(
    *, needs_host: bool = False, needs_whole_group: bool = False, whole: Whole | None = None
) -> Callable[[Endpoint], Endpoint]:  # fmt: skip
    """Open the route below to accounts that are limited to host groups. Stands between its decorator and its function.

    Not for what is about all hosts or about the server (storage, retention, channels, webhooks, rules as such), nor for host
    groups, which decide who sees what.

    `needs_host`: the request must name hosts; without any it would be about all. `needs_whole_group`: a group stands for all of its
    hosts, so the account must see each of them. `whole`: the same of all hosts of the thing with the `id` of the path.
    """
    return marking(MARK, LimitedAccess(needs_host, needs_whole_group, whole))


async def limit_request(request: Request, sessions: Sessions, principal: Principal) -> None:
    """Limit the request to the hosts of the account's host groups, if the account is limited.

    Raises: NotAllowed
    """
    limit_hosts(principal.user_id if principal.is_limited else None)
    if not principal.is_limited:
        return
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    access: LimitedAccess | None = mark_of(request.scope, MARK)
    if access is None:
        raise NotAllowed(f"{LIMITED}, and this concerns all hosts or the server; ask an administrator")
    body = await _read_json(request, route)
    hosts = [*_values(request, HOST_KEYS), *_find(body, HOST_KEYS)]
    if access.needs_host and not hosts:
        raise NotAllowed(f"{LIMITED}: name hosts that it sees")
    async with open_read_session(sessions) as session:
        for hidden in await find_hidden_names(session, hosts):
            # The same for a host that does not exist.
            raise NotAllowed(f"{LIMITED}, and sees no host {shorten(hidden)}", {"host": hidden})
        if access.needs_whole_group:
            await _require_whole_groups(session, [*_values(request, {"group"}), *_find(body, {"group"})])
        id_ = request.path_params.get("id", "")
        if access.whole is not None and id_.isdecimal() and await has_hidden_host(session, access.whole, int(id_)):
            raise NotAllowed(
                f"{LIMITED}, and this {access.whole} has hosts that it does not see; only an account that sees all can change it"
            )


async def _read_json(request: Request, route: APIRoute) -> object:
    """Return the body of a route that takes JSON, whatever it says it is. Missing: None for no JSON, which is refused later"""
    if route.body_field is None:
        return None
    try:
        return await request.json()
    except ValueError:
        return None


async def _require_whole_groups(session: AsyncSession, groups: list[str]) -> None:
    for group in groups:
        if await is_group_hidden(session, group):
            raise NotAllowed(f"{LIMITED}, and does not see all hosts of {shorten(group)}", {"group": group})


def _values(request: Request, keys: frozenset[str] | set[str]) -> Iterator[str]:
    """Yield what the path and the query say under these names."""
    for key in keys:
        if key in request.path_params:
            yield request.path_params[key]
        yield from request.query_params.getlist(key)


def _find(value: object, keys: frozenset[str] | set[str]) -> Iterator[str]:
    """Yield the texts that stand under these names anywhere in a JSON document, alone or in a list.

    >>> list(_find({"inputs": {"host": ["web1"], "limit": 3}, "host": "db1"}, {"host"}))
    ['web1', 'db1']
    """
    if isinstance(value, dict):
        for key, member in value.items():
            if key in keys:
                yield from (text for text in (member if isinstance(member, list) else [member]) if isinstance(text, str))
            yield from _find(member, keys)
    elif isinstance(value, list):
        for member in value:
            yield from _find(member, keys)
