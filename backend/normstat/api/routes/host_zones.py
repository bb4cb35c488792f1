"""Time zones of hosts."""

from normstat.api.http.deps import NEEDS_VIEWER, ReadSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.host_series import Group, Hosts, Tag
from normstat.baselines.host_group_rows import find_group
from normstat.errors import BadRequest, NotFound
from normstat.query.host_zones import HostZone, read_host_zones
from normstat.records.host_tag_rows import find_tagged
from normstat.runtime.body import Body

router = LazyRouter(prefix="/host-zones", tags=["hosts"], dependencies=[NEEDS_VIEWER])


class HostZoneList(Body):
    """The time zones of hosts, by name of the host."""

    hosts: list[HostZone]


@router.get("", responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def list_host_zones(session: ReadSession, host: Hosts = None, group: Group = None, tag: Tag = None) -> HostZoneList:
    """List the time zones of hosts, as their agents reported them; without any parameter, of all hosts."""
    if host is None and group is None and tag is None:
        return HostZoneList(hosts=await read_host_zones(session, None))
    of_group = [] if group is None else (await find_group(session, group)).hosts
    of_tag = [] if tag is None else await find_tagged(session, tag)
    return HostZoneList(hosts=await read_host_zones(session, [*(host or ()), *of_group, *of_tag]))
