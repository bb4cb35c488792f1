"""What request bodies are made of: their base, texts without NUL, and instants with a zone.

A body belongs to the feature that carries it out: routes pass it on as it came (docs/adr/0036-one-shape-per-noun.md).
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError, WithJsonSchema

from normstat.errors import BadRequest, shorten
from normstat.window import EPOCH, LATEST

# PostgreSQL text cannot hold the character NUL; refusing it here gives a 422 that says where.
NO_NUL: Final = r"^[^\x00]*$"
MAX_NAME_LENGTH: Final = 200
MAX_TAG_LENGTH: Final = 50
EXPECTED: Final = "expected ISO 8601 with a zone (2026-11-21T10:00:00Z) or milliseconds since the epoch (1795255200000)"

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME_LENGTH, pattern=NO_NUL)]
Note = Annotated[str, StringConstraints(max_length=10_000, pattern=NO_NUL)]
# Tags are separated by commas or blanks in links and on the command line.
Tag = Annotated[str, StringConstraints(min_length=1, max_length=MAX_TAG_LENGTH, pattern=r"^[^\x00\s,]+$")]


class Body(BaseModel):
    """Base of all bodies: unknown members of a request are errors.

    `model_validate` also accepts the records of query and storage, whose attributes have the same names.
    """

    model_config = ConfigDict(extra="forbid", from_attributes=True)


Kind = TypeVar("Kind", bound=Body)


def check_body(kind: type[Kind], members: Mapping[str, object]) -> Kind:
    """Return a body with these members, as the options of a command give them.

    Raises: BadRequest, which names each wrong member
    """
    try:
        return kind.model_validate(members)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}" for each in error.errors()]
        raise BadRequest("; ".join(problems)) from None


def parse_instant(value: object) -> datetime:
    """Return the instant in UTC.

    Raises: ValueError, which the request's validation turns into 422.
    """
    if isinstance(value, datetime):
        instant = value
    elif isinstance(value, int) and not isinstance(value, bool):
        instant = _from_epoch_ms(value)
    elif isinstance(value, str) and len(value) <= 64:
        instant = _from_text(value.strip())
    else:
        raise ValueError(f"found something other than an instant; {EXPECTED}")
    if instant.utcoffset() is None:
        raise ValueError(f"found a time without a zone; {EXPECTED}")
    try:
        instant = instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("found a year outside 1970..2199") from None
    if not EPOCH <= instant < LATEST:
        raise ValueError("found a year outside 1970..2199")
    return instant


def _from_epoch_ms(value: int) -> datetime:
    if not 0 <= value < (LATEST - EPOCH) // timedelta(milliseconds=1):
        raise ValueError("found a year outside 1970..2199; integers are milliseconds since the epoch")
    return EPOCH + timedelta(milliseconds=value)


def _from_text(text: str) -> datetime:
    if text.isascii() and text.isdecimal():
        return _from_epoch_ms(int(text))
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"found {shorten(text)}; {EXPECTED}; in a URL, write + as %2B") from None


Instant = Annotated[
    datetime,
    BeforeValidator(parse_instant),
    WithJsonSchema(
        {
            "anyOf": [{"type": "string", "format": "date-time"}, {"type": "integer", "minimum": 0, "maximum": 7258118399999}],
            "description": "ISO 8601 with a zone, or milliseconds since the epoch",
        },
        mode="validation",
    ),
]
