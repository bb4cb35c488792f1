"""`normstat webhooks`: webhooks, their deliveries, and tests."""

import asyncio
import uuid
from datetime import UTC, datetime
from typing import Annotated, Final

import typer

from normstat.alerts.webhook_delivery import send_to_webhook
from normstat.cli.db_session import format_instant, print_table, run_in_session
from normstat.db.schema.webhook_models import WebhookRow
from normstat.db.session import WriteSession
from normstat.errors import NotFound
from normstat.records.webhook_rows import Topic, WebhookDelivery, list_deliveries, list_webhooks, make_content, read_webhook

app = typer.Typer(add_completion=False, invoke_without_command=True, help="List and test webhooks: docs/alerts.md.")

MAX_LISTED: Final = 50


@app.callback()
def webhooks(context: typer.Context) -> None:
    """Print the webhooks; with a command, the deliveries of one, or a test."""
    if context.invoked_subcommand is not None:
        return
    found = run_in_session(list_webhooks)
    if not found:
        typer.echo("no webhooks; docs/alerts.md says how to make one")
        return
    rows = [
        (
            str(record.id), record.name, record.endpoint, "" if record.is_enabled else "disabled",
            str(record.n_unsent), str(record.n_failed), ", ".join(record.topics),
        )
        for record in found
    ]  # fmt: skip
    print_table([("id", "name", "receiver", "", "waiting", "failed", "topics"), *rows])


@app.command("deliveries")
def print_deliveries(name: Annotated[str, typer.Argument(help="name of the webhook")]) -> None:
    """Print the last 50 deliveries of a webhook, newest first; exit 1 when the newest was given up."""

    async def work(session: WriteSession) -> list[WebhookDelivery]:
        return await list_deliveries(session, (await _find(session, name)).id, limit=MAX_LISTED)

    found = run_in_session(work)
    rows = [(str(one.id), format_instant(one.created_at), one.topic, one.state, str(one.n_tries), one.answer) for one in found]
    print_table([("id", "at", "topic", "state", "tries", "answer"), *rows])
    if found and found[0].state == "failed":
        raise typer.Exit(1)


@app.command("test")
def send_test(name: Annotated[str, typer.Argument(help="name of the webhook")]) -> None:
    """Send a signed test message, and print what the receiver said; exit 1 when it did not arrive."""

    async def work(session: WriteSession) -> WebhookRow:
        return await _find(session, name)

    record = run_in_session(work)
    content = make_content(str(uuid.uuid4()), Topic.TEST, {"webhook": record.name}, datetime.now(UTC))
    outcome = asyncio.run(send_to_webhook(record.url, record.signing_key, content))
    typer.echo(f"{'arrived' if outcome.is_sent else 'did not arrive'}: {outcome.answer}")
    if not outcome.is_sent:
        raise typer.Exit(1)


async def _find(session: WriteSession, name: str) -> WebhookRow:
    for record in await list_webhooks(session):
        if record.name == name:
            return await read_webhook(session, record.id)
    raise NotFound(f"There is no webhook {name!r}; `normstat webhooks` lists them")
