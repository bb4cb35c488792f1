"""The settings of channels, by kind: what is needed to reach a receiver. Secrets are stored apart and are never returned."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints, TypeAdapter, model_validator

from normstat.alerts.services import Service, ServiceEntry, is_valid, load_services
from normstat.alerts.webhook_template import check_template
from normstat.errors import BadRequest
from normstat.runtime.web_address import VISIBLE, check_secret_url, check_url, hide_path

MAX_RECIPIENTS: Final = 50
MAX_LABELS: Final = 30
_ADDRESS: Final = re.compile(r"[^\s\x00-\x1f<>()\[\],;:\\\"@]+@[A-Za-z0-9.-]+")
_HOST: Final = re.compile(r"[A-Za-z0-9._:\[\]-]{1,253}")
_SCRIPT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_LABEL: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,99}")


class ChannelKind(StrEnum):
    """How a channel delivers."""

    EMAIL = "email"
    WEBHOOK = "webhook"
    CHAT = "chat"
    ALERTMANAGER = "alertmanager"
    SERVICE = "service"
    SCRIPT = "script"


class ChatFormat(StrEnum):
    """Whose incoming webhook a chat channel calls."""

    SLACK = "slack"
    MATTERMOST = "mattermost"
    TEAMS = "teams"


class MailSecurity(StrEnum):
    """How a connection to a mail server is protected: `tls` from the first byte, `starttls` before anything is sent."""

    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"


def _check_header(value: SecretStr | None) -> SecretStr | None:
    if value is not None and value.get_secret_value() and VISIBLE.fullmatch(value.get_secret_value()) is None:
        raise ValueError("a header has visible ASCII characters only")
    return value


def _check_address(address: str) -> str:
    if _ADDRESS.fullmatch(address) is None or len(address) > 254:
        raise ValueError("expected a mail address such as oncall@example.org")
    return address


def _check_mail_host(host: str) -> str:
    if _HOST.fullmatch(host) is None:
        raise ValueError("expected the name or address of a mail server")
    return host


def _check_script(name: str) -> str:
    if _SCRIPT.fullmatch(name) is None:
        raise ValueError("expected the name of a file in the server's folder of alert scripts, without a path")
    return name


def _check_service(name: str) -> str:
    if name not in load_services():
        raise ValueError(f"expected one of {', '.join(load_services())}")
    return name


def _check_labels(labels: dict[str, str]) -> dict[str, str]:
    for name, value in labels.items():
        if _LABEL.fullmatch(name) is None:
            raise ValueError(f"label {name[:50]!r}: letters, digits and _, not a digit first")
        if not value or len(value) > 200 or "\0" in value:
            raise ValueError(f"label {name}: a value has 1 to 200 characters")
    return labels


Address = Annotated[str, AfterValidator(_check_address)]
Url = Annotated[str, AfterValidator(check_url)]
SecretUrl = Annotated[SecretStr | None, AfterValidator(check_secret_url)]
Authorization = Annotated[SecretStr | None, Field(max_length=4000), AfterValidator(_check_header)]


class _Settings(BaseModel):
    """Base of the settings of all kinds. Secrets are null in answers; in a change, null keeps the stored one and "" removes it."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    @property
    def endpoint(self) -> str:
        """The receiver of the secrets, in readable form: `smtp://mail.example.org:587`."""
        raise NotImplementedError


class EmailSettings(_Settings):
    """Mail through an SMTP server. The server's certificate is always checked."""

    kind: Literal[ChannelKind.EMAIL]
    server: Annotated[str, AfterValidator(_check_mail_host)]
    port: Annotated[int, Field(ge=1, le=65535)]
    security: MailSecurity
    username: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")]
    password: Annotated[SecretStr | None, Field(max_length=1000)]
    sender: Address
    recipients: Annotated[list[Address], Field(min_length=1, max_length=MAX_RECIPIENTS)]

    @property
    def endpoint(self) -> str:
        """The mail server and the account."""
        account = f"{self.username}@" if self.username else ""
        return f"smtp://{account}{self.server}:{self.port}"

    @model_validator(mode="after")
    def _check_password(self) -> Self:
        if self.password is not None and self.password.get_secret_value():
            if not self.username:
                raise ValueError("a password needs a username")
            if self.security is MailSecurity.NONE:
                raise ValueError("a password is sent over TLS only: choose starttls or tls")
        return self


class WebhookSettings(_Settings):
    """A POST of JSON to any address. `template`: the body as JSON with {words} in its strings; empty: the whole message."""

    kind: Literal[ChannelKind.WEBHOOK]
    url: SecretUrl
    authorization: Authorization
    template: Annotated[str, StringConstraints(max_length=20_000), AfterValidator(check_template)]

    @property
    def endpoint(self) -> str:
        """Scheme and host of the URL; the rest may be a secret."""
        return hide_path(self.url)


class ChatSettings(_Settings):
    """An incoming webhook of Slack, Mattermost or Microsoft Teams, or of a service that accepts one of their formats."""

    kind: Literal[ChannelKind.CHAT]
    url: SecretUrl
    format: ChatFormat

    @property
    def endpoint(self) -> str:
        """Scheme and host of the URL; the rest is a secret."""
        return hide_path(self.url)


class AlertmanagerSettings(_Settings):
    """The API v2 of a Prometheus Alertmanager. `labels` are added to those of each alert."""

    kind: Literal[ChannelKind.ALERTMANAGER]
    url: Url
    authorization: Authorization
    labels: Annotated[dict[str, str], Field(max_length=MAX_LABELS), AfterValidator(_check_labels)]

    @property
    def endpoint(self) -> str:
        """Scheme and host of the URL."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


class ServiceSettings(_Settings):
    """A service of services.toml, such as PagerDuty. `url`: its API, or your own server; `target`: whom it reaches there."""

    kind: Literal[ChannelKind.SERVICE]
    service: Annotated[str, AfterValidator(_check_service)]
    url: Url
    key: Authorization
    target: Annotated[str, StringConstraints(max_length=200)]

    @property
    def endpoint(self) -> str:
        """Scheme and host of the URL."""
        return hide_path(SecretStr(self.url))

    @property
    def definition(self) -> Service:
        """What services.toml says of the service."""
        return load_services()[self.service]


class ScriptSettings(_Settings):
    """A program in the folder that the server's administrator chose; it gets the message as JSON."""

    kind: Literal[ChannelKind.SCRIPT]
    script: Annotated[str, AfterValidator(_check_script)]

    @property
    def endpoint(self) -> str:
        """The name of the script."""
        return self.script


AnySettings = EmailSettings | WebhookSettings | ChatSettings | AlertmanagerSettings | ServiceSettings | ScriptSettings
ChannelSettings = Annotated[AnySettings, Field(discriminator="kind")]
_ADAPTER: Final[TypeAdapter[AnySettings]] = TypeAdapter(ChannelSettings)
SECRETS: Final = ("password", "url", "authorization", "key")


def split_secrets(settings: AnySettings) -> tuple[dict[str, object], dict[str, object]]:
    """Return the public settings, and the secrets; both as they are stored."""
    secrets: dict[str, object] = {}
    for name in secret_names(settings):
        value: SecretStr | None = getattr(settings, name)
        if value is not None and value.get_secret_value():
            secrets[name] = value.get_secret_value()
    public = json.loads(settings.model_dump_json())
    return public | dict.fromkeys(secret_names(settings)), secrets


def secret_names(settings: AnySettings) -> list[str]:
    """Return the names of the settings of this kind that are secrets."""
    # The URL of an Alertmanager or of a service is not a secret; `authorization` and `key` are.
    has_open_url = isinstance(settings, AlertmanagerSettings | ServiceSettings)
    return [name for name in SECRETS if name in type(settings).model_fields and not (name == "url" and has_open_url)]


def _needed_secret(settings: AnySettings) -> str | None:
    """Return the secret that a channel cannot do without. Missing: None"""
    match settings:
        case WebhookSettings() | ChatSettings():
            return "url"
        case ServiceSettings():
            return None if settings.definition.key.is_optional else "key"
        case _:
            return None


def _require_entries(settings: ServiceSettings) -> None:
    """Require a key and a target that look as the service says.

    Raises: BadRequest, with the member that is wrong
    """
    service, key = settings.definition, settings.key
    if key is not None and key.get_secret_value() and not is_valid(service.key, key.get_secret_value()):
        raise BadRequest(_describe(service.key), {"key": None})
    if service.target is None and settings.target:
        raise BadRequest(f"{service.label} has no target: leave it empty", {"target": settings.target})
    if service.target is not None and not is_valid(service.target, settings.target):
        raise BadRequest(_describe(service.target), {"target": settings.target})


def _describe(entry: ServiceEntry) -> str:
    label = entry.label if entry.label[:2].isupper() else entry.label.lower()
    return f"This is not a valid {label}. {entry.help}"


def stays_open(kind: str, settings: Mapping[str, object]) -> bool:
    """Return whether the receiver keeps an alert open until it hears that it is over. `settings`: as they are stored"""
    if kind == ChannelKind.ALERTMANAGER:
        return True
    service = load_services().get(str(settings.get("service")))
    return service is not None and service.keeps_state


def join_secrets(public: dict[str, object], secrets: dict[str, object]) -> AnySettings:
    """Return stored settings, with their secrets."""
    return _ADAPTER.validate_python(public | secrets)


def read_settings(stored: dict[str, Any]) -> AnySettings:
    """Return stored settings without their secrets, which are null."""
    return _ADAPTER.validate_python(stored)


def keep_secrets(wanted: AnySettings, stored: AnySettings | None) -> AnySettings:
    """Return new settings with the stored secrets where they have null. `stored`: with its secrets; None for a new channel.

    Raises: BadRequest, when a secret would go to another receiver than the one it was given for, or one that is needed is missing
    """
    kept: dict[str, object] = {}
    for name in secret_names(wanted):
        value: SecretStr | None = getattr(wanted, name)
        known: SecretStr | None = None
        if stored is not None and stored.kind == wanted.kind:
            known = getattr(stored, name)
        if value is None and known is not None and known.get_secret_value():
            kept[name] = known
    joined = wanted.model_copy(update=kept)
    if stored is not None and kept and joined.endpoint != stored.endpoint:
        names = " and ".join(sorted(kept))
        raise BadRequest(f"The receiver is another one ({joined.endpoint}): enter {names} again, which was given for the old one")
    needed = _needed_secret(joined)
    if needed is not None and getattr(joined, needed) is None:
        raise BadRequest(f"A channel of kind {joined.kind} needs `{needed}`", {needed: None})
    if isinstance(joined, ServiceSettings):
        _require_entries(joined)
    # A password that came with the old security must fit the new one.
    return join_secrets(*split_secrets(joined))
