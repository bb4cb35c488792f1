"""`normstat webhooks` prints webhooks and deliveries without their secrets, and tests one."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from normstat.cli import webhooks_command
from normstat.storage.webhook_rows import DeliveryState, Topic, WebhookDelivery, WebhookRecord
from tests.alerts.receivers import HttpReceiver

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)


def test_what_is_printed_has_no_secret(
    http: HttpReceiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = WebhookRecord(
        1, "bot", f"{http.url}/s3cr3t", "k3y", [Topic.EVENT_CREATED], True, "ann", NOW, "ann", NOW, None, n_unsent=2, n_failed=1
    )
    failed = WebhookDelivery(7, str(uuid4()), Topic.EVENT_CREATED, DeliveryState.FAILED, 3, NOW, NOW, None, "410 Gone")
    answers: list[object] = [[record], [failed], record]
    monkeypatch.setattr(webhooks_command, "run_in_session", lambda work: answers.pop(0))
    for arguments, status in (([], 0), (["deliveries", "bot"], 1), (["test", "bot"], 0)):
        with pytest.raises(SystemExit) as ended:
            webhooks_command.app(arguments)
        assert ended.value.code == status
    said = capsys.readouterr().out
    assert "s3cr3t" not in said
    assert "k3y" not in said
    for word in ("bot", http.url, "event.created", "410 Gone", "2026-11-28 12:00:00Z", "arrived: 200 OK: ok"):
        assert word in said
    assert json.dumps(http.received[0].body["data"]) == '{"webhook": "bot"}'
