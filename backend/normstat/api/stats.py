"""The catalogue of stats."""

from collections.abc import Sequence

from fastapi import APIRouter

from normstat.api.deps import NEEDS_VIEWER, ReadSession
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import FieldInfo, StatInfo, StatList
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Spec, Stat
from normstat.storage import lookup
from normstat.storage.user_specs import refresh_catalogue

router = APIRouter(prefix="/stats", tags=["stats"], dependencies=[NEEDS_VIEWER])


@router.get("", responses=guarded_answers())
async def list_stats(session: ReadSession) -> StatList:
    """List every stat, including columns that hosts have sent and no spec describes."""
    await refresh_catalogue(session)
    seen = {stored.name: stored.fields for stored in await lookup.list_stats(session)}
    return StatList(stats=[_to_info(spec, stat, seen.get(stat.name, ())) for spec, stat in load_catalogue().stats.values()])


def _to_info(spec: Spec, stat: Stat, seen: Sequence[Field]) -> StatInfo:
    described = {field.key for field in stat.fields}
    fields = [*stat.fields, *(field for field in seen if field.key not in described)]
    return StatInfo(
        name=stat.name,
        title=stat.title,
        spec=spec.name,
        tool=spec.tool,
        os=spec.os,
        commands=list(spec.commands),
        instance_title=stat.instance_title,
        shape=stat.shape.value,
        fields=[FieldInfo.model_validate(field) for field in fields],
        panels=list(stat.panels),
    )
