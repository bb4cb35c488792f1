"""Tags of hosts: words that people give a host, and those that its agent's configuration sets. Neither changes the other's."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.schema.models import Host
from normstat.db.schema.retention_models import HostDeletionRow
from normstat.errors import BadRequest, NotFound, shorten
from normstat.runtime.body import MAX_TAG_LENGTH, Body, Name, Tag
from normstat.runtime.field_docs import Documented
from normstat.runtime.readable import natural_key

MAX_TAGS: Final = 50
# Tags are separated by commas or blanks in links, on the command line and in an agent's configuration.
TAG: Final = re.compile(rf"[^\x00\s,]{{1,{MAX_TAG_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class TaggedHost(Documented):
    """A host and its tags."""

    name: str
    tags: list[str]
    """By name: those that people gave it, and those that its agent sets."""

    agent_tags: list[str]
    """Those that the configuration of its agent sets; they can only be removed there."""


HostTagList = Annotated[list[Tag], Field(max_length=MAX_TAGS)]


class HostTagsUpdate(Body):
    """Tags to give to hosts, and tags to take from them."""

    hosts: Annotated[list[Name], Field(min_length=1, max_length=10_000)]
    add: HostTagList = Field(default_factory=list)
    remove: HostTagList = Field(default_factory=list)


def sort_tags(tags: Iterable[str]) -> list[str]:
    """Return each tag once, in natural order.

    >>> sort_tags(["web10", "web9", "web10"])
    ['web9', 'web10']
    """
    return list(_sort(frozenset(tags)))


# Thousands of hosts have the same few sets of tags.
@lru_cache(maxsize=4096)
def _sort(tags: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(tags, key=natural_key))


def read_tags(text: str) -> list[str]:
    """Return the tags that an agent sends, separated by commas, without invalid ones; `-` alone stands for no tags.

    >>> read_tags("prod, web ,,a b")
    ['prod', 'web']
    """
    if text.strip() == "-":
        return []
    return sort_tags(tag for part in text.split(",") if TAG.fullmatch(tag := part.strip()))[:MAX_TAGS]


async def change_tags(session: AsyncSession, body: HostTagsUpdate) -> list[TaggedHost]:
    """Return the hosts with their changed tags, in the order of their names. A tag that an agent sets stays.

    Raises: NotFound for an unknown host; BadRequest above MAX_TAGS tags of a host
    """
    query = (
        select(Host)
        .where(Host.name.in_(body.hosts))
        # As agents' requests lock them.
        .order_by(Host.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    hosts = {host.name: host for host in (await session.scalars(query)).all()}
    for name in body.hosts:
        if name not in hosts:
            raise NotFound(f"There is no host {shorten(name)}; GET /api/v1/hosts lists them", {"host": name})
    for host in hosts.values():
        tags = sort_tags([*(tag for tag in host.tags if tag not in body.remove), *body.add])
        if len(tags) > MAX_TAGS:
            raise BadRequest(
                f"{host.name} would have {len(tags)} tags; a host has at most {MAX_TAGS}. Remove some first", {"host": host.name}
            )
        host.tags = tags
    await session.flush()
    return [to_tagged(host) for host in sorted(hosts.values(), key=lambda host: natural_key(host.name))]


async def list_tagged(session: AsyncSession) -> list[TaggedHost]:
    """Return the hosts that have tags, by name."""
    has_tags = or_(Host.tags != [], Host.agent_tags != [])
    hosts = (await session.scalars(select(Host).where(has_tags, _is_there()))).all()
    return [to_tagged(host) for host in sorted(hosts, key=lambda host: natural_key(host.name))]


async def find_tagged(session: AsyncSession, tag: str) -> list[str]:
    """Return the names of the hosts with that tag.

    Raises: NotFound when no host has it
    """
    has_tag = or_(Host.tags.contains([tag]), Host.agent_tags.contains([tag]))
    names: Sequence[str] = (await session.scalars(select(Host.name).where(has_tag, _is_there()))).all()
    if not names:
        raise NotFound(f"No host has the tag {shorten(tag)}; GET /api/v1/hosts lists hosts with their tags", {"tag": tag})
    return sorted(names, key=natural_key)


def to_tagged(host: Host) -> TaggedHost:
    """Return a host's tags."""
    return TaggedHost(host.name, sort_tags([*host.tags, *host.agent_tags]), sort_tags(host.agent_tags))


def _is_there() -> ColumnElement[bool]:
    """Return the condition that a host is not being deleted."""
    return Host.id.not_in(select(HostDeletionRow.host_id))
