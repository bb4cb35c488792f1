"""`normstat webhooks`: the table, what was delivered and what was not, and a test; secrets are in none of it."""

import json

from sqlalchemy import text

from normstat.storage.session import open_write_session
from normstat.storage.webhook_rows import Topic, WebhookDraft, create_webhook, tell_webhooks
from tests.alerts.receivers import HttpReceiver, refused_port
from tests.cli.commands import Commands
from tests.databases import Sessions, on_either_database


@on_either_database
async def test_they_are_listed_and_tested_without_their_secrets(sessions: Sessions, normstat: Commands, http: HttpReceiver) -> None:
    assert "no webhooks" in (await normstat("webhooks"))[1]
    with refused_port() as port:
        async with open_write_session(sessions) as session:
            for name, url in (("chat", f"http://127.0.0.1:{port}/s3cr3t"), ("bot", f"{http.url}/s3cr3t")):
                draft = WebhookDraft(name, url, "k3y" * 11, (Topic.EVENT_CREATED,), is_enabled=True, changed_by="ann")
                await create_webhook(session, draft)
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
