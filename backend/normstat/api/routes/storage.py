"""Disk use of the database, and deletions of hosts."""

from dataclasses import replace

from normstat.api.http.deps import NEEDS_VIEWER, Administrator, HostPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.errors import NotFound
from normstat.query.disk_usage import StorageInfo
from normstat.retention import host_deletion
from normstat.retention.host_deletion import HostDeletion, HostDeletionList

router = LazyRouter(tags=["storage"])


@router.get("/storage", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def get_storage(state: State, session: ReadSession) -> StorageInfo:
    """Return what uses the disk, how fast it grows, and when it will be full."""
    return replace(await state.storage.read(session), standby=state.reads.info)


@router.delete("/hosts/{host}", status_code=202, responses=guarded_answers(NotFound))
async def delete_host(host: HostPath, principal: Administrator, session: WriteSession) -> HostDeletion:
    """Delete a host with all its data, in the background; its name is free at once, and its agent tokens are revoked."""
    return await host_deletion.request_deletion(session, host, requested_by=principal.name)


@router.get("/host-deletions", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_host_deletions(session: ReadSession) -> HostDeletionList:
    """List deletions of hosts, the newest first."""
    return await host_deletion.list_deletions(session)
