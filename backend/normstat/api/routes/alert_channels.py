"""Channels of alerts: where messages go."""

from pydantic import ValidationError

from normstat.alerts import alert_channel_rows, channel_book
from normstat.alerts.alert_channel_rows import ChannelRecord
from normstat.alerts.alert_outbox import count_unsent
from normstat.alerts.alert_route_rows import RouteRecord, list_routes
from normstat.alerts.channel_book import ChannelRequest
from normstat.alerts.channel_settings import join_secrets, read_settings
from normstat.alerts.senders.script import list_scripts
from normstat.api.http.body import Empty
from normstat.api.http.deps import NEEDS_ADMINISTRATOR, NEEDS_VIEWER, Administrator, IdPath, ReadSession, State, WriteSession
from normstat.api.http.handlers import guarded_answers
from normstat.api.http.lazy_routing import LazyRouter
from normstat.api.routes.alert_schemas import AlertChannelInfo, AlertChannelList, AlertChannelPut, ChannelTestResult
from normstat.db.session import open_read_session
from normstat.errors import BadRequest, Conflict, NotFound

router = LazyRouter(prefix="/alert-channels", tags=["alerts"])


@router.get("", dependencies=[NEEDS_VIEWER], responses=guarded_answers())
async def list_alert_channels(session: ReadSession, state: State) -> AlertChannelList:
    """List channels, by name; without their secrets."""
    routes = await list_routes(session)
    channels = [_to_info(record, routes) for record in await alert_channel_rows.list_channels(session)]
    n_waiting, since = await count_unsent(session)
    return AlertChannelList(channels, list_scripts(state.settings.alert_scripts_dir), n_waiting, since)


@router.post("", status_code=201, responses=guarded_answers(BadRequest, Conflict))
async def create_alert_channel(
    body: AlertChannelPut, principal: Administrator, session: WriteSession, state: State
) -> AlertChannelInfo:
    """Create a channel."""
    wanted = ChannelRequest(body.name, body.is_enabled, body.settings, principal.name)
    return _to_info(await channel_book.create_channel(session, wanted, state.settings.alert_scripts_dir), [])


@router.put("/{id}", responses=guarded_answers(BadRequest, NotFound, Conflict))
async def put_alert_channel(
    id: IdPath,  # noqa: A002
    body: AlertChannelPut,
    principal: Administrator,
    session: WriteSession,
    state: State,
) -> AlertChannelInfo:
    """Change a channel. Secrets that are null stay, unless the receiver is another one; then they must be given again."""
    wanted = ChannelRequest(body.name, body.is_enabled, body.settings, principal.name)
    record = await channel_book.update_channel(session, id, wanted, state.settings.alert_scripts_dir)
    return _to_info(record, await list_routes(session))


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
    trial = await channel_book.test_channel(
        settings, name=record.name, public_url=state.settings.public_url, scripts_dir=state.settings.alert_scripts_dir
    )
    return ChannelTestResult(trial.is_sent, trial.answer, trial.seconds)


def _to_info(record: ChannelRecord, routes: list[RouteRecord]) -> AlertChannelInfo:
    try:
        settings = read_settings(record.settings)
        endpoint = join_secrets(record.settings, record.secrets).endpoint
    except ValidationError:
        settings, endpoint = None, ""
    return AlertChannelInfo(
        id=record.id,
        name=record.name,
        kind=record.kind,
        endpoint=endpoint,
        is_enabled=record.is_enabled,
        settings=settings,
        secrets=sorted(record.secrets),
        routes=[route.name for route in routes if record.id in channel_book.channels_of(route)],
        held_until=record.held_until,
        created_by=record.created_by,
        created_at=record.created_at,
        updated_by=record.updated_by,
        updated_at=record.updated_at,
    )
