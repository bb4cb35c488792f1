"""`normstat alerts` prints who was told of what, and tests and tries."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from normstat.alerts.alert_delivery import Deliverer
from normstat.alerts.alert_router import AlertRouter
from tests.alerts.receivers import Answer, HttpReceiver
from tests.alerts.stored import URL, add_channel, add_episode, add_host, add_route, webhook
from tests.alerts.story import settings_of
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database

pytestmark = on_either_database


async def test_alerts_channels_and_routes_are_printed(sessions: Sessions, normstat: Commands, http: HttpReceiver) -> None:
    assert (await normstat("alerts", "list"))[:2] == (0, "no alerts\n")
    assert (await normstat("alerts", "routes"))[1] == "no routes: nobody is told of anything\n"
    channel = await add_channel(sessions, "hook", webhook(http, url=f"{http.url}/s3cret"))
    await add_route(sessions, "all", [channel], {"hosts": ["sun*"]}, escalations=[{"after_min": 5, "channels": [channel]}])
    await add_episode(sessions, await add_host(sessions, "sun1"), datetime.now(UTC))
    await AlertRouter(sessions, URL).run()
    out = await normstat.do("alerts", "list")
    assert "sun1  red: Kernel mutexes  all    fired hook queued" in out
    http.answer = lambda _: Answer(410, "gone")
    await Deliverer(sessions, URL).deliver_all()
    code, out, _ = await normstat("alerts", "list", "--failed")
    assert (code, "hook: 410 Gone: gone" in out) == (1, True)
    code, out, _ = await normstat("alerts", "channels")
    assert (code, f"hook     webhook  {http.url}" in out, "s3cret" in out) == (0, True, False)
    code, out, _ = await normstat("alerts", "routes")
    assert "amber or worse, host sun*  hook      hook after 5 min" in out


async def test_a_channel_is_tested(sessions: Sessions, normstat: Commands, http: HttpReceiver) -> None:
    await add_channel(sessions, "hook", webhook(http))
    code, out, _ = await normstat("alerts", "test", "hook")
    assert (code, out.endswith("200 OK: ok\n"), len(http.received)) == (0, True, 1)
    http.answer = lambda _: Answer(500, "broken")
    code, out, _ = await normstat("alerts", "test", "hook")
    assert (code, out.startswith("not sent after")) == (1, True)


async def test_a_route_is_tried(sessions: Sessions, normstat: Commands, http: HttpReceiver, tmp_path: Path) -> None:
    channel = await add_channel(sessions, "hook", webhook(http))
    start = datetime(2026, 11, 1, 3, 0, tzinfo=UTC)
    ended = {"ended_at": start + timedelta(hours=1), "ended_by": "fine"}
    await add_episode(sessions, await add_host(sessions, "sun1"), start, **ended)
    path = tmp_path / "route.json"
    path.write_text(json.dumps(settings_of(channels=[channel])))
    window = ("--from", "2026-11-01T00:00Z", "--to", "2026-11-08T00:00Z")
    out = await normstat.do("alerts", "try", str(path), *window)
    assert "2026-11-01 03:00:30Z  1      fired     red    sun1: Kernel mutexes 1  hook" in out
    assert out.splitlines()[-1] == "2 messages about 1 alert, 2.0 a week"
    path.write_text("{")
    code, _, err = await normstat("alerts", "try", str(path), *window)
    assert (code, "is no route" in err) == (1, True)
    assert http.received == []
