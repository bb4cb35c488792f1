"""Stand-ins of services that refuse what the real ones refuse, by their published documentation."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from tests.alerts.receivers import Answer, Received

ROUTING_KEY: Final = "0123456789abcdef0123456789abcdef"
GENIE_KEY: Final = "0f3a91c2-11aa-4b6f-9d0e-5a6b7c8d9e0f"
NTFY_TOKEN: Final = "tk_0123456789abcdefghijklmnopqrs"
BOT_TOKEN: Final = "123456789:AAF-abc_defghijklmnopqrstuvwxyz01234"
# Telegram knows no others in HTML; an unknown one is an error, as is one that is not closed.
TELEGRAM_TAGS: Final = {"b", "strong", "i", "em", "u", "ins", "s", "strike", "del", "a", "code", "pre", "blockquote", "tg-spoiler"}


def refuse(status: int, reason: str) -> Answer:
    """Return a refusal that says why."""
    return Answer(status, reason)


class PagerDuty:
    """The Events API v2. `open`: the incidents that are open, by their key."""

    def __init__(self) -> None:
        self.open: dict[str, dict[str, Any]] = {}

    def answer(self, request: Received) -> Answer:
        """Return what the API answers."""
        body = request.body
        if request.path != "/v2/enqueue":
            return refuse(404, "not found")
        wrong = [
            name
            for name, is_right in (
                ("routing_key", body.get("routing_key") == ROUTING_KEY),
                ("event_action", body.get("event_action") in {"trigger", "acknowledge", "resolve"}),
                ("dedup_key", 0 < len(body.get("dedup_key", "")) <= 255),
                ("links", all(re.match("https?://", each["href"]) and each["text"] for each in body.get("links", []))),
            )
            if not is_right
        ]
        if body.get("event_action") == "trigger":
            payload = body.get("payload", {})
            checks = {
                "summary": 0 < len(payload.get("summary") or "") <= 1024,
                "source": bool(payload.get("source")),
                "severity": payload.get("severity") in {"critical", "error", "warning", "info"},
                "timestamp": re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", payload.get("timestamp") or "") is not None,
                "size": len(str(body).encode()) <= 512 * 1024,
            }
            wrong += [name for name, is_right in checks.items() if not is_right]
        if wrong:
            return refuse(400, f'{{"status": "invalid event", "errors": {wrong}}}')
        if body["event_action"] == "trigger":
            self.open[body["dedup_key"]] = body
        elif body["event_action"] == "resolve":
            self.open.pop(body["dedup_key"], None)
        return Answer(202, '{"status": "success", "message": "Event processed"}')


class Opsgenie:
    """The alert API, also that of Jira Service Management below `base`. `open`: the alerts that are open, by alias."""

    def __init__(self, base: str = "") -> None:
        self.base = base
        self.open: dict[str, dict[str, Any]] = {}

    def answer(self, request: Received) -> Answer:
        """Return what the API answers."""
        if request.headers.get("Authorization") != f"GenieKey {GENIE_KEY}":
            return refuse(401, '{"message": "Could not authenticate"}')
        body, parts = request.body, urlsplit(request.path)
        if parts.path == f"{self.base}/v2/alerts":
            limits = {"message": 130, "alias": 512, "description": 15_000, "entity": 512, "source": 100}
            wrong = [name for name, limit in limits.items() if len(body.get(name) or "") > limit]
            wrong += [] if body.get("message") else ["message"]
            wrong += [] if body.get("priority") in {"P1", "P2", "P3", "P4", "P5"} else ["priority"]
            wrong += [] if all(len(tag) <= 50 for tag in body.get("tags", [])) else ["tags"]
            wrong += [] if all(isinstance(text, str) for text in body.get("details", {}).values()) else ["details"]
            if wrong:
                return refuse(422, f'{{"message": "Request body is not processable", "errors": {wrong}}}')
            self.open[body["alias"]] = body
            return Answer(202, '{"result": "Request will be processed"}')
        closed = re.fullmatch(re.escape(self.base) + r"/v2/alerts/([^/]+)/close", parts.path)
        if closed is None or parts.query != "identifierType=alias":
            return refuse(404, '{"message": "not found"}')
        if len(body.get("note") or "") > 25_000:
            return refuse(422, '{"errors": ["note"]}')
        self.open.pop(unquote(closed[1]), None)
        return Answer(202, '{"result": "Request will be processed"}')


def answer_ntfy(request: Received) -> Answer:
    """Return what a server answers on which a topic needs a token: JSON goes to its root."""
    body = request.body
    if request.path != "/":
        return refuse(400, "JSON is published to the root")
    if request.headers.get("Authorization") not in {f"Bearer {NTFY_TOKEN}", None}:
        return refuse(401, "unauthorized")
    actions = body.get("actions", [])
    checks = {
        "topic": re.fullmatch(r"[-_A-Za-z0-9]{1,64}", body.get("topic", "")) is not None,
        "priority": body.get("priority") in {1, 2, 3, 4, 5},
        "message": 0 < len(body.get("message", "").encode()) <= 4096,
        "tags": all(isinstance(tag, str) for tag in body.get("tags", [])),
        "click": str(body.get("click", "http://")).startswith(("http://", "https://")),
        "actions": len(actions) <= 3
        and all(each["action"] == "view" and each["label"] and str(each["url"]).startswith("http") for each in actions),
    }
    wrong = [name for name, is_right in checks.items() if not is_right]
    return refuse(400, f'{{"code": 40024, "error": "invalid {wrong}"}}') if wrong else Answer(200, '{"event": "message"}')


class _TelegramHtml(HTMLParser):
    """What Telegram makes of HTML: the text, and the addresses of links."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.text, self.links, self.open, self.problems = "", list[str](), list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TELEGRAM_TAGS:
            self.problems.append(f"unsupported start tag {tag}")
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"unexpected end tag {tag}")

    def handle_data(self, data: str) -> None:
        self.problems += ["unescaped character"] if set(data) & set("<&") else []
        self.text += data

    def handle_entityref(self, name: str) -> None:
        self.problems += [] if name in {"lt", "gt", "amp", "quot"} else [f"unknown entity {name}"]
        self.text += {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}.get(name, "")

    def handle_charref(self, name: str) -> None:
        self.text += chr(int(name[1:], 16) if name[0] in "xX" else int(name))


def answer_telegram(request: Received) -> Answer:
    """Return what the Bot API answers to sendMessage."""
    body = request.body
    if unquote(request.path) != f"/bot{BOT_TOKEN}/sendMessage":
        return refuse(404, '{"ok": false, "error_code": 404, "description": "Not Found"}')
    if re.fullmatch(r"-?\d+|@\w+", str(body.get("chat_id", ""))) is None:
        return refuse(400, '{"ok": false, "error_code": 400, "description": "Bad Request: chat not found"}')
    parsed = read_telegram(body["text"])
    units = len(parsed.text.encode("utf-16-le")) // 2
    problems = [*parsed.problems, *(f"{tag} is not closed" for tag in parsed.open)]
    problems += [] if 1 <= units <= 4096 else [f"message is too long: {units}"]
    if body.get("parse_mode") != "HTML" or problems:
        return refuse(400, f'{{"ok": false, "error_code": 400, "description": "Bad Request: {problems}"}}')
    return Answer(200, '{"ok": true, "result": {"message_id": 1}}')


def read_telegram(text: str) -> _TelegramHtml:
    """Return what Telegram makes of a text in HTML."""
    parsed = _TelegramHtml()
    parsed.feed(text)
    parsed.close()
    return parsed


# What a channel of each service holds, and its stand-in; a function, since some remember what is open.
STUBS: Final[dict[str, tuple[str, str, Callable[[], Callable[[Received], Answer]]]]] = {
    "pagerduty": (ROUTING_KEY, "", lambda: PagerDuty().answer),
    "opsgenie": (GENIE_KEY, "", lambda: Opsgenie().answer),
    "jira_service_management": (GENIE_KEY, "", lambda: Opsgenie().answer),
    "ntfy": (NTFY_TOKEN, "oncall-7f3a", lambda: answer_ntfy),
    "telegram": (BOT_TOKEN, "-1001234567890", lambda: answer_telegram),
}
