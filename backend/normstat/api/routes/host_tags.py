"""Tags of hosts."""

from normstat.api.http.deps import NEEDS_OPERATOR, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.host_access import open_to_limited
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import BadRequest, NotFound
from normstat.records import host_tag_rows
from normstat.records.host_tag_rows import HostTagsUpdate, TaggedHost
from normstat.runtime.body import Body

router = LazyRouter(prefix="/host-tags", tags=["hosts"])


class TaggedHosts(Body):
    """Hosts with their tags, by name."""

    hosts: list[TaggedHost]


@router.post("", dependencies=[NEEDS_OPERATOR], responses=guarded_answers(BadRequest, NotFound))
@open_to_limited()
async def update_host_tags(body: HostTagsUpdate, session: WriteSession) -> TaggedHosts:
    """Give tags to hosts and take tags from them. A tag that a host's agent sets stays: its configuration has it."""
    return TaggedHosts(hosts=await host_tag_rows.change_tags(session, body))
