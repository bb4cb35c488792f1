"""Services for people on call and for push messages: PagerDuty, ntfy and others. What each is sent is data: services.toml."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from typing import Final, Literal
from urllib.parse import quote

from pydantic import TypeAdapter

from normstat.alerts.webhook_template import WORDS, fill_body, find_words
from normstat.runtime.field_docs import Documented
from normstat.watch.rules.rule_file import Colour

# A word that was cut ends with it.
CUT: Final = "…"


@dataclass(frozen=True, slots=True)
class ServiceEntry(Documented):
    """What a channel of a service holds: its key, or whom it reaches there."""

    label: str
    pattern: str
    """A regular expression that matches the whole value."""
    help: str
    """What it looks like, in words."""
    is_optional: bool


@dataclass(frozen=True, slots=True)
class ServiceInfo(Documented):
    """A service that a channel may reach, for a form."""

    name: str
    label: str
    url: str
    """Where its API is; change it for your own server, or for another region."""
    key: ServiceEntry
    target: ServiceEntry | None
    """Whom the channel reaches there; null where the key says so."""


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """The path below the URL of a channel, and the body, with {words}."""

    path: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Service:
    """A service, as services.toml describes it."""

    label: str
    url: str
    key: ServiceEntry
    firing: ServiceRequest
    resolved: ServiceRequest
    target: ServiceEntry | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    by_colour: Mapping[str, Mapping[Colour, str | int]] = field(default_factory=dict)
    max_bytes: Mapping[str, int] = field(default_factory=dict)
    escape: Literal["", "html"] = ""
    keeps_state: bool = False


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A request that is ready to be sent."""

    url: str
    headers: Mapping[str, str]
    body: object


@cache
def load_services() -> Mapping[str, Service]:
    """Return the services by name.

    Raises: ValueError for a word that no message has
    """
    raw = tomllib.loads((resources.files("normstat.alerts") / "services.toml").read_text(encoding="utf-8"))
    whole = {name: {**raw.get(own.pop("like", ""), {}), **own} for name, own in raw.items()}
    services = TypeAdapter(dict[str, Service]).validate_python(whole)
    for name, service in services.items():
        known = WORDS | {"key", "target"} | service.by_colour.keys()
        used = [request.path for request in (service.firing, service.resolved)], service.firing.body, service.resolved.body
        unknown = find_words([*used, dict(service.headers)]) - known
        if unknown:
            raise ValueError(f"services.toml: {name} has the unknown word {{{min(unknown)}}}")
    return services


def list_services() -> list[ServiceInfo]:
    """Return what a form needs of each service."""
    return [ServiceInfo(name, own.label, own.url, own.key, own.target) for name, own in load_services().items()]


def is_valid(entry: ServiceEntry, value: str) -> bool:
    """Return whether a key or a target looks as it must."""
    return re.fullmatch(entry.pattern, value) is not None


def build_call(service: Service, url: str, key: str, target: str, words: Mapping[str, object]) -> ServiceCall:
    """Return the request for a message. `url`: of the channel; `words`: those of a webhook's template"""
    request = service.resolved if words["state"] == "resolved" else service.firing
    colour = Colour(str(words["colour"]))
    own = {word: by_colour[colour] for word, by_colour in service.by_colour.items()}
    values = {word: _fit(service, word, value) for word, value in {**words, **own, "key": key, "target": target}.items()}
    # Quoted, so that no word leads to another path; the token of a Telegram bot has a colon.
    in_path = {word: quote(str(value), safe=":") for word, value in values.items()}
    return ServiceCall(
        url=url.rstrip("/") + str(fill_body(request.path, in_path)),
        headers={name: str(fill_body(text, values)) for name, text in service.headers.items() if key or "{key}" not in text},
        body=fill_body(request.body, values),
    )


def _fit(service: Service, word: str, value: object) -> object:
    """Return a value that the service takes: cut to its length, then escaped, which it does not count."""
    if not isinstance(value, str):
        return value
    text = cut_bytes(value, service.max_bytes[word]) if word in service.max_bytes else value
    return escape(text) if service.escape == "html" else text


def cut_bytes(text: str, max_bytes: int) -> str:
    """Return a text of at most this many bytes in UTF-8; one that was cut ends with `…`.

    >>> cut_bytes("größer als erlaubt", 10)
    'größe…'
    """
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes:
        return data.decode()
    return data[: max_bytes - len(CUT.encode())].decode("utf-8", "ignore") + CUT
