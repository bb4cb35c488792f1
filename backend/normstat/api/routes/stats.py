"""The catalogue of stats."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Annotated, Final

import anyio.to_thread
from fastapi import Query, Response

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.encodings import IfNoneMatch, has_answer
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.schemas import FieldInfo, StatInfo, StatList
from normstat.comparison.next_questions.field_meanings import FieldMeanings, list_field_meanings
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.errors import NotFound
from normstat.runtime.body import NO_NUL
from normstat.samples import lookup
from normstat.samples.spec_refresh import refresh_catalogue
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Spec, Stat

router = LazyRouter(prefix="/stats", tags=["stats"], dependencies=[NEEDS_VIEWER])

# The whole catalogue is a megabyte, that of a host a twentieth.
MAX_RENDERED: Final = 32
# A browser may keep it, and asks each time whether it is still the same.
ASK_EACH_TIME: Final = "private, no-cache"


@router.get(
    "",
    response_model=StatList,
    responses=guarded_answers(NotFound) | {304: {"description": "Not modified: the same as the ETag in If-None-Match names"}},
)
@open_to_limited()
async def list_stats(
    session: ReadSession,
    host: Annotated[
        str | None,
        Query(min_length=1, max_length=200, pattern=NO_NUL, description="only the stats that this host has sent samples of"),
    ] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """List every stat, including columns that hosts have sent and no spec describes."""
    await refresh_catalogue(session)
    if host is None:
        seen = await lookup.list_stats(session)
        names = None
    else:
        seen = await lookup.list_host_stats(session, await lookup.require_host(session, host))
        names = frozenset(stored.name for stored in seen)
    catalogue = load_catalogue()
    extras = tuple((stored.name, _undescribed(stored.name, stored.fields)) for stored in seen if stored.name in catalogue.stats)
    body, etag = await anyio.to_thread.run_sync(
        _render, catalogue.revision, names, tuple((name, fields) for name, fields in extras if fields)
    )
    headers = {"ETag": etag, "Cache-Control": ASK_EACH_TIME, "Vary": "Accept-Encoding, Authorization, Cookie"}
    if has_answer(if_none_match, etag):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _undescribed(name: str, seen: Sequence[Field]) -> tuple[Field, ...]:
    described = {field.key for field in load_catalogue().stats[name][1].fields}
    return tuple(field for field in seen if field.key not in described)


@lru_cache(maxsize=MAX_RENDERED)
def _render(revision: str, names: frozenset[str] | None, extras: tuple[tuple[str, tuple[Field, ...]], ...]) -> tuple[bytes, str]:
    """Return the body for these stats (None: all) of the present catalogue, and its ETag."""
    del revision
    more = dict(extras)
    chosen = {name: found for name, found in load_catalogue().stats.items() if names is None or name in names}
    meanings = list_field_meanings(chosen, load_rules())
    infos = [_to_info(spec, stat, more.get(stat.name, ()), meanings) for spec, stat in chosen.values()]
    body = StatList(stats=infos).model_dump_json().encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _to_info(spec: Spec, stat: Stat, more: Sequence[Field], meanings: FieldMeanings) -> StatInfo:
    return StatInfo(
        name=stat.name,
        title=stat.title,
        spec=spec.name,
        tool=spec.tool,
        os=spec.os,
        commands=list(spec.commands),
        instance_title=stat.instance_title,
        shape=stat.shape.value,
        fields=[_to_field(field, meanings.get((stat.name, field.key), ())) for field in (*stat.fields, *more)],
        panels=list(stat.panels),
    )


def _to_field(field: Field, meanings: Sequence[tuple[str, str]]) -> FieldInfo:
    return FieldInfo(
        key=field.key,
        column=field.column,
        group=field.group,
        unit=field.unit,
        kind=field.kind.value,
        semantics=field.semantics.value,
        worse=field.worse.value,
        decimals=field.decimals,
        help=field.help,
        source=field.source,
        is_documented=field.is_documented,
        meanings=[name for name, _ in meanings],
    )
