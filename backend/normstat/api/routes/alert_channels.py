"""Channels of alerts: where messages go."""

from pydantic import ValidationError

from normstat.alerts import alert_channel_rows, channel_book
from normstat.alerts.alert_channel_rows import AlertChannelInfo, AlertChannelPut, show_channel
from normstat.alerts.alert_outbox import count_unsent
from normstat.alerts.alert_route_rows import list_routes
from normstat.alerts.channel_book import ChannelTestResult
from normstat.alerts.channel_settings import join_secrets
from normstat.alerts.senders.script import list_scripts
from normstat.alerts.services import list_services
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, NEEDS_VIEWER, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.alert_schemas import AlertChannelList
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NotFound

router = LazyRouter(prefix="/alert-channels", tags=["alerts"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_alert_channels(session: ReadSession, state: State) -> AlertChannelList:
    """List channels, by name; without their secrets."""
    routes = await list_routes(session)
    channels = [
        show_channel(row, [route.name for route in routes if row.id in channel_book.channels_of(route)])
        for row in await alert_channel_rows.list_channels(session)
    ]
    n_waiting, since = await count_unsent(session)
    return AlertChannelList(channels, list_scripts(state.settings.alert_scripts_dir), list_services(), n_waiting, since)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_alert_channel(
    body: AlertChannelPut, principal: Administrator, session: WriteSession, state: State
) -> AlertChannelInfo:
    """Create a channel."""
    row = await channel_book.create_channel(session, body, state.settings.alert_scripts_dir, by=principal.name)
    return show_channel(row, ())


@router.put("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def put_alert_channel(
    id: IdPath,  # noqa: A002
    body: AlertChannelPut,
    principal: Administrator,
    session: WriteSession,
    state: State,
) -> AlertChannelInfo:
    """Change a channel. Secrets that are null stay, unless the receiver is another one; then they must be given again."""
    row = await channel_book.update_channel(session, id, body, state.settings.alert_scripts_dir, by=principal.name)
    return show_channel(row, await channel_book.find_users(session, id))


@router.delete("/{id}", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(NotFound, Conflict))
async def delete_alert_channel(id: IdPath, session: WriteSession) -> Empty:  # noqa: A002
    """Delete a channel that no route uses."""
    await channel_book.delete_channel(session, id)
    return Empty()


@router.post("/{id}/test", dependencies=[NEEDS_ADMINISTRATOR], responses=guarded_answers(BadRequest, NotFound))
async def test_alert_channel(id: IdPath, state: State) -> ChannelTestResult:  # noqa: A002
    """Send a test message through a channel, and return what the receiver said. It takes up to 30 seconds."""
    # No database connection is held while a slow receiver answers.
    async with open_read_session(state.sessions) as session:
        record = await alert_channel_rows.read_channel(session, id)
    try:
        settings = join_secrets(record.settings, record.secrets)
    except ValidationError:
        raise BadRequest(f"The settings of {record.name} cannot be used any more; save them again") from None
    return await channel_book.test_channel(
        settings, name=record.name, public_url=state.settings.public_url, scripts_dir=state.settings.alert_scripts_dir
    )
