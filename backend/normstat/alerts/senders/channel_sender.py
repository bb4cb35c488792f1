"""Send a message through a channel, whichever its kind."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import orjson
from pydantic import SecretStr, TypeAdapter

from normstat.alerts.alert_message import AlertMessage, name_hosts
from normstat.alerts.channel_settings import (
    AlertmanagerSettings,
    AnySettings,
    ChatFormat,
    ChatSettings,
    EmailSettings,
    ScriptSettings,
    ServiceSettings,
    WebhookSettings,
)
from normstat.alerts.message_kind import MessageKind
from normstat.alerts.message_text import to_details, to_html, to_mattermost, to_slack, to_teams, to_text
from normstat.alerts.senders.http_post import post_json
from normstat.alerts.senders.mail import Mail, send_mail
from normstat.alerts.senders.script import run_script
from normstat.alerts.senders.send_outcome import SEND_LIMIT_S, SendOutcome, run_cut_off
from normstat.alerts.services import build_call
from normstat.alerts.webhook_template import WORDS, fill_template
from normstat.runtime.readable import to_iso
from normstat.watch.rules.rule_file import Colour

CHATS: Final = {ChatFormat.SLACK: to_slack, ChatFormat.MATTERMOST: to_mattermost, ChatFormat.TEAMS: to_teams}
# An Alertmanager ends an alert by itself when it hears nothing for this long; what lasts is renewed before.
ENDS_BY_ITSELF: Final = timedelta(hours=24)
WARNING: Final = "warning"
CRITICAL: Final = "critical"
SEVERITIES: Final = {Colour.AMBER: WARNING, Colour.RED: CRITICAL, Colour.BLACK: CRITICAL}
_CONTENT: Final = TypeAdapter(AlertMessage)


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message on its way. `key`: the same in every try; `first_key`: that of the first message of its alert to the channel"""

    content: AlertMessage
    key: str
    first_key: str
    silence_link: str | None
    public_url: str


def read_content(stored: dict[str, object]) -> AlertMessage:
    """Return a message as it was stored."""
    return _CONTENT.validate_json(orjson.dumps(stored))


@dataclass(frozen=True, slots=True)
class ChannelSender:
    """Sends messages. `scripts_dir`: the folder of the scripts that channels may use; None: none may be used"""

    scripts_dir: Path | None
    limit_s: float = SEND_LIMIT_S

    async def send(self, message: SentMessage, settings: AnySettings) -> SendOutcome:
        """Return how a try ended."""
        headers = {"Idempotency-Key": message.key}
        body: object
        match settings:
            case EmailSettings():
                return await run_cut_off(partial(send_mail, to_mail(message), settings), limit_s=self.limit_s)
            case ScriptSettings():
                return await run_script(self.scripts_dir, settings.script, to_json(message), limit_s=self.limit_s)
            case ServiceSettings():
                call = build_call(settings.definition, settings.url, _reveal(settings.key), settings.target, to_words(message))
                url, secret, body, headers = call.url, None, call.body, headers | dict(call.headers)
            case WebhookSettings():
                assert settings.url is not None
                url, secret = settings.url.get_secret_value(), settings.authorization
                body = fill_template(settings.template, to_words(message)) if settings.template else to_json(message)
            case ChatSettings():
                assert settings.url is not None
                url, secret = settings.url.get_secret_value(), None
                body = CHATS[settings.format](message.content, message.silence_link)
            case AlertmanagerSettings():
                url, secret = f"{settings.url.rstrip('/')}/api/v2/alerts", settings.authorization
                body = to_alertmanager(message, settings.labels)
        if _reveal(secret):
            headers["Authorization"] = _reveal(secret)
        return await run_cut_off(partial(post_json, url, body, headers), limit_s=self.limit_s)


def _reveal(secret: SecretStr | None) -> str:
    return "" if secret is None else secret.get_secret_value()


def to_mail(message: SentMessage) -> Mail:
    """Return a message as a mail; the later ones of an alert answer the first, so that they stand together."""
    content = message.content
    domain = urlsplit(message.public_url).hostname or "normstat"
    return Mail(
        subject=content.subject,
        text=to_text(content, message.silence_link),
        html=to_html(content, message.silence_link),
        message_id=f"{message.key}@{domain}",
        thread_id="" if message.key == message.first_key else f"{message.first_key}@{domain}",
        at=content.at,
    )


def to_json(message: SentMessage) -> dict[str, object]:
    """Return a message as webhooks and scripts get it; docs/alerts.md describes it."""
    body: dict[str, object] = orjson.loads(orjson.dumps(_CONTENT.dump_python(message.content, mode="json")))
    return body | {"key": message.key, "silence_link": message.silence_link, "text": to_text(message.content, message.silence_link)}


def to_words(message: SentMessage) -> dict[str, object]:
    """Return what a template may ask for."""
    content, worst = to_json(message), message.content.parts[0]
    own = {
        "alert_key": message.first_key,
        "rule": worst.source,
        "action": worst.action,
        "severity": SEVERITIES[message.content.colour],
        "where": name_hosts(message.content.parts),
        "details": to_details(message.content),
    }
    return {word: own[word] if word in own else content[word] for word in WORDS}


def to_alertmanager(message: SentMessage, labels: dict[str, str]) -> list[dict[str, object]]:
    """Return a message as alerts of the API v2: one for each rule and host, so that an Alertmanager can group them itself.

    An Alertmanager recognises an alert by its labels. The severity is one of them, since people route by it; so what became worse
    ends as a warning and begins as critical.
    """
    content = message.content
    is_over = content.state == "resolved"
    alerts: list[dict[str, object]] = []
    for part in content.parts:
        own = {"alertname": part.source, "route": content.route, "normstat_alert": str(content.alert_id)}
        if part.host is not None:
            own["instance"] = part.host
        notes = {
            "summary": f"{part.host or 'normstat'}: {part.title}" + (f", {part.instances}" if part.instances else ""),
            "description": part.sentence,
            "action": part.action,
            "colour": part.colour.value,
            "values": ", ".join(f"{value.name} {value.text}" for value in part.values),
            "alert": content.alert_link,
            "key": message.key,
        }
        if message.silence_link is not None:
            notes["silence"] = message.silence_link
        severity = SEVERITIES[part.colour]
        ends = {severity: content.at if is_over else _renewal_end(content.at)}
        if severity == CRITICAL and content.kind in (MessageKind.WORSE, MessageKind.RESOLVED):
            ends[WARNING] = content.at
        alerts += [
            {
                "labels": {**labels, **own, "severity": each},
                "annotations": {name: text for name, text in notes.items() if text},
                "startsAt": to_iso(min(part.since, end), "milliseconds"),
                "endsAt": to_iso(end, "milliseconds"),
                "generatorURL": part.link,
            }
            for each, end in ends.items()
        ]
    return alerts


def _renewal_end(at: datetime) -> datetime:
    return max(at, datetime.now(UTC)) + ENDS_BY_ITSELF
