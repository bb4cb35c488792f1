"""A message as plain text, as HTML for a mail, and as what chats understand. Pure: everything from outside is escaped."""

from collections.abc import Callable
from html import escape
from typing import Final

from normstat.alerts.alert_message import SERVER, AlertMessage, MessagePart, SaidValue
from normstat.runtime.readable import count_of
from normstat.watch.rules.rule_file import COLOUR_LABELS, Colour

HTML_COLOURS: Final = {Colour.AMBER: "#b26a00", Colour.RED: "#c92a2a", Colour.BLACK: "#000000"}
MAX_SHOWN: Final = 10
STYLE: Final = "font-family: sans-serif; font-size: 14px; line-height: 1.45; max-width: 44em"


def to_text(message: AlertMessage, silence_link: str | None) -> str:
    """Return the message as plain text, the body of a mail. Lines are not wrapped: readers do that."""
    lines = [to_details(message), "", f"Graphs: {message.link}"]
    if silence_link is not None:
        lines += [f"Silence: {silence_link}"]
    lines += ["", f"Route {message.route}, alert {message.alert_id}, message {message.number}: {message.alert_link}"]
    return "\n".join(lines) + "\n"


def to_details(message: AlertMessage) -> str:
    """Return the message as plain text without its subject and its links, for receivers that have places for those."""
    lines = [message.sentence, ""]
    for part in message.parts[:MAX_SHOWN]:
        lines += [*_part_lines(part, message.sentence), ""]
    if _n_more(message):
        lines += [f"And {count_of(_n_more(message), 'more finding')}.", ""]
    if message.ended_text:
        lines += [f"Over since {message.ended_text}.", ""]
    if message.questions:
        lines += ["Ask next:", *(f"- {question}" for question in message.questions), ""]
    return "\n".join(lines).rstrip("\n")


def _n_more(message: AlertMessage) -> int:
    return message.n_left_out + max(0, len(message.parts) - MAX_SHOWN)


def _part_lines(part: MessagePart, told: str) -> list[str]:
    """Return a part as text. `told`: a sentence that is already above"""
    who = part.host or SERVER
    instances = f", {part.instances}" if part.instances else ""
    lines = [f"{who}: {part.title}{instances}, {COLOUR_LABELS[part.colour]} since {part.since_text}"]
    if part.values:
        lines.append(f"  {_join(part.values)}")
    if part.limits:
        lines.append(f"  limits: {_join(part.limits)}")
    lines += [f"  {text}" for text in _texts(part, told)]
    return lines


def _texts(part: MessagePart, told: str) -> list[str]:
    return [text for text in (part.sentence, part.action) if text and text != told]


def _join(values: list[SaidValue]) -> str:
    return ", ".join(f"{value.name} {value.text}" for value in values)


def to_html(message: AlertMessage, silence_link: str | None) -> str:
    """Return the message as a small HTML page without images, scripts or anything to load."""
    parts = "".join(_part_html(part, message.sentence) for part in message.parts[:MAX_SHOWN])
    more = f"<p>And {count_of(_n_more(message), 'more finding')}.</p>" if _n_more(message) else ""
    ended = f"<p>Over since {escape(message.ended_text)}.</p>" if message.ended_text else ""
    questions = ""
    if message.questions:
        questions = f"<p>Ask next:</p><ul>{''.join(f'<li>{escape(each)}</li>' for each in message.questions)}</ul>"
    links = [f'<a href="{escape(message.link)}">Graphs</a>']
    if silence_link is not None:
        links.append(f'<a href="{escape(silence_link)}">Silence</a>')
    footer = (
        f'Route {escape(message.route)}, <a href="{escape(message.alert_link)}">alert {message.alert_id}</a>,'
        f" message {message.number}"
    )
    return (
        f'<!doctype html><html lang="en"><body style="{STYLE}"><p>{escape(message.sentence)}</p>{parts}{more}{ended}{questions}'
        f'<p>{" &middot; ".join(links)}</p><p style="color: #666">{footer}</p></body></html>'
    )


def _part_html(part: MessagePart, told: str) -> str:
    colour = HTML_COLOURS.get(part.colour, "#000000")
    instances = f", {escape(part.instances)}" if part.instances else ""
    rows = "".join(
        f'<tr><td style="padding-right: 1em">{escape(each.name)}</td><td>{escape(each.text)}</td></tr>' for each in part.values
    )
    limits = f'<div style="color: #666">limits: {escape(_join(part.limits))}</div>' if part.limits else ""
    texts = "".join(f"<div>{escape(text)}</div>" for text in _texts(part, told))
    return (
        f'<div style="border-left: 4px solid {colour}; padding-left: 10px; margin: 12px 0">'
        f'<div><a href="{escape(part.link)}"><b>{escape(part.host or SERVER)}</b></a>: {escape(part.title)}{instances},'
        f' <b style="color: {colour}">{COLOUR_LABELS[part.colour]}</b> since {escape(part.since_text)}</div>'
        f"<table>{rows}</table>{limits}{texts}</div>"
    )


def to_slack(message: AlertMessage, silence_link: str | None) -> dict[str, object]:
    """Return the body of Slack's incoming webhook: text with three characters escaped and links as <url|word>."""
    lines = [f"*{_slack(message.subject)}*", _slack(message.sentence)]
    lines += [_slack(line) for part in message.parts[:MAX_SHOWN] for line in _chat_lines(part)]
    links = [f"<{message.link}|Graphs>", f"<{message.alert_link}|Alert {message.alert_id}>"]
    return {"text": "\n".join([*lines, *_last_lines(message, _slack), " · ".join([*links, *_link(silence_link, "<{0}|Silence>")])])}


def to_mattermost(message: AlertMessage, silence_link: str | None) -> dict[str, object]:
    """Return the body of Mattermost's incoming webhook: Markdown."""
    lines = [f"**{_markdown(message.subject)}**", _markdown(message.sentence)]
    lines += [_markdown(line) for part in message.parts[:MAX_SHOWN] for line in _chat_lines(part)]
    links = [f"[Graphs]({message.link})", f"[Alert {message.alert_id}]({message.alert_link})"]
    last = " · ".join([*links, *_link(silence_link, "[Silence]({0})")])
    return {"text": "\n\n".join([*lines, *_last_lines(message, _markdown), last])}


def to_teams(message: AlertMessage, silence_link: str | None) -> dict[str, object]:
    """Return the body that webhooks of Microsoft Teams take: a message with one adaptive card."""
    texts: list[dict[str, object]] = [
        {"type": "TextBlock", "text": _markdown(message.subject), "weight": "Bolder", "size": "Medium", "wrap": True},
        {"type": "TextBlock", "text": _markdown(message.sentence), "wrap": True},
    ]
    texts += [
        {"type": "TextBlock", "text": _markdown(line), "wrap": True, "spacing": "Small"}
        for part in message.parts[:MAX_SHOWN]
        for line in _chat_lines(part)
    ]
    texts += [{"type": "TextBlock", "text": line, "wrap": True} for line in _last_lines(message, _markdown)]
    actions = [("Graphs", message.link), (f"Alert {message.alert_id}", message.alert_link)]
    actions += [("Silence", silence_link)] if silence_link is not None else []
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": texts,
        "actions": [{"type": "Action.OpenUrl", "title": title, "url": url} for title, url in actions],
    }
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


def _chat_lines(part: MessagePart) -> list[str]:
    instances = f", {part.instances}" if part.instances else ""
    lines = [f"{part.host or SERVER}: {part.title}{instances}, {COLOUR_LABELS[part.colour]} since {part.since_text}"]
    if part.values:
        limits = f" (limits: {_join(part.limits)})" if part.limits else ""
        lines.append(f"{_join(part.values)}{limits}")
    return [*lines, part.action] if part.action else lines


def _last_lines(message: AlertMessage, escaped: Callable[[str], str]) -> list[str]:
    lines = [f"And {count_of(_n_more(message), 'more finding')}."] if _n_more(message) else []
    return [*lines, *([f"Over since {escaped(message.ended_text)}."] if message.ended_text else [])]


def _link(link: str | None, form: str) -> list[str]:
    return [] if link is None else [form.format(link)]


def _slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _markdown(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>#|~@" else char for char in text)
