"""The catalogue of stats."""

from collections.abc import Sequence

from fastapi import APIRouter

from normstat.api.deps import NEEDS_VIEWER
from normstat.api.handlers import guarded_answers
from normstat.api.schemas import FieldInfo, PanelInfo, StatInfo, StatList
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Field, Spec, Stat

router = APIRouter(prefix="/stats", tags=["stats"], dependencies=[NEEDS_VIEWER])


@router.get("", responses=guarded_answers())
async def list_stats() -> StatList:
    """Lists every stat that can be read, with the columns that hosts have sent and no spec describes."""
    return StatList(stats=[_to_info(spec, stat, ()) for spec, stat in load_catalogue().stats.values()])


def _to_info(spec: Spec, stat: Stat, seen_fields: Sequence[Field]) -> StatInfo:
    return StatInfo(
        name=stat.name,
        title=stat.title,
        spec=spec.name,
        tool=spec.tool,
        os=spec.os,
        commands=list(spec.commands),
        instance_title=stat.instance_title,
        fields=[FieldInfo.model_validate(field) for field in (*stat.fields, *seen_fields)],
        panels=[PanelInfo.model_validate(panel) for panel in stat.panels],
    )
