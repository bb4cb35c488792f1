"""`normstat webhooks`: the table, what was delivered, and a test that does not arrive."""

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.storage.session import open_write_session
from normstat.storage.webhook_rows import Topic, WebhookDraft, create_webhook
from tests.cli.test_baseline import run_command
from tests.databases import on_either_database


@on_either_database
async def test_they_are_listed_and_tested(sessions: async_sessionmaker[AsyncSession], database_url: str) -> None:
    assert "no webhooks" in (await run_command(database_url, "webhooks"))[1]
    # Nothing listens there.
    draft = WebhookDraft("chat", "http://127.0.0.1:9/secret", "k" * 32, (Topic.EVENT_CREATED,), is_enabled=True, changed_by="ann")
    async with open_write_session(sessions) as session:
        await create_webhook(session, draft)
    code, out, err = await run_command(database_url, "webhooks")
    assert (code, err) == (0, "")
    header, row = out.splitlines()
    assert header.split() == ["id", "name", "receiver", "waiting", "failed", "topics"]
    assert row.split()[1:2] + row.split()[-1:] == ["chat", Topic.EVENT_CREATED]
    assert "secret" not in out
    code, out, _ = await run_command(database_url, "webhooks", "deliveries", "chat")
    assert (code, out.split()) == (0, ["id", "at", "topic", "state", "tries", "answer"])
    code, out, _ = await run_command(database_url, "webhooks", "test", "chat")
    assert code == 1
    assert out.startswith("did not arrive: ")
    assert "'nobody'" in (await run_command(database_url, "webhooks", "test", "nobody"))[2]
