"""`normstat alerts` prints who was told of what, tests and tries; `watch` prints what is on, `webhooks` what was delivered."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr
from sqlalchemy import text

from normstat.alerts.alert_delivery import Deliverer
from normstat.alerts.alert_router import AlertRouter
from normstat.db.session import open_write_session
from normstat.records.webhook_rows import Topic, WebhookPut, create_webhook, tell_webhooks
from normstat.watch.watcher import Watcher
from tests.alerts.receivers import Answer, HttpReceiver, refused_port
from tests.alerts.stored import URL, add_channel, add_episode, add_host, add_route, webhook
from tests.alerts.story import settings_of
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database
from tests.watch.live import at, send_mpstat

pytestmark = on_either_database


async def test_alerts_channels_and_routes_are_printed(sessions: Sessions, normstat: Commands, http: HttpReceiver) -> None:
    assert (await normstat("alerts", "list"))[:2] == (0, "no alerts\n")
    assert (await normstat("alerts", "routes"))[1] == "no routes: no alerts are sent\n"
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
    assert (code, "is not a route" in err) == (1, True)
    assert http.received == []


async def test_what_is_on_is_printed(sessions: Sessions, normstat: Commands) -> None:
    code, out, _ = await normstat("watch")
    assert (code, out.splitlines()[1]) == (0, "Nothing is watched yet.")
    await send_mpstat(sessions, "sun1", range(60), range(50, 60))
    await Watcher(sessions).run(at(60))
    code, out, err = await normstat("watch")
    assert (code, err) == (1, "")
    assert "red    sun1  Kernel mutexes  1" in out
    assert "smtx 900 /s, usr 10 %, sys 40 %" in out
    assert "lockstat -C" in out
    code, out, _ = await normstat("watch", "--history")
    assert (code, "lasts" in out) == (0, True)
    code, out, _ = await normstat("watch", "--csv")
    assert out.splitlines()[1].split(",")[1:4] == ["mutex", "sun1", "1"]


@on_either_database
async def test_they_are_listed_and_tested_without_their_secrets(sessions: Sessions, normstat: Commands, http: HttpReceiver) -> None:
    assert "no webhooks" in (await normstat("webhooks"))[1]
    with refused_port() as port:
        async with open_write_session(sessions) as session:
            for name, url in (("chat", f"http://127.0.0.1:{port}/s3cr3t"), ("bot", f"{http.url}/s3cr3t")):
                await create_webhook(session, WebhookPut(name=name, url=SecretStr(url), topics=[Topic.EVENT_CREATED]), by="ann")
            await tell_webhooks(session, Topic.EVENT_CREATED, {"text": "x"})
            await session.execute(text("UPDATE webhook_deliveries SET state = 'failed', answer = '410 Gone'"))
        ran = [
            await normstat("webhooks", *arguments)
            for arguments in ((), ("deliveries", "chat"), ("test", "bot"), ("test", "chat"), ("test", "nobody"))
        ]
    assert [code for code, _, _ in ran] == [0, 1, 0, 1, 1]
    table, deliveries, arrived, lost, _ = (out for _, out, _ in ran)
    assert table.splitlines()[0].split() == ["id", "name", "receiver", "waiting", "failed", "topics"]
    assert {tuple(row.split()[1:3]) for row in table.splitlines()[1:]} == {("chat", f"http://127.0.0.1:{port}"), ("bot", http.url)}
    assert "410 Gone" in deliveries
    assert "arrived: 200 OK: ok" in arrived
    assert lost.startswith("did not arrive: ")
    assert "'nobody'" in ran[-1][2]
    assert json.dumps(http.received[0].body["data"]) == '{"webhook": "bot"}'
    assert not any(secret in out + err for _, out, err in ran for secret in ("s3cr3t", "k3y"))
