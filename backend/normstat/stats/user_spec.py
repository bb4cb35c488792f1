"""Rules for users' specs, beyond those for every spec: unique names, and limits of size."""

import re
from collections.abc import Iterator
from typing import Final

from normstat.errors import SpecError, shorten
from normstat.stats.catalogue import Catalogue, UserSpecText, built_in_catalogue, parse_user_spec
from normstat.stats.spec import Spec, Stat
from normstat.stats.toml_text import parse_toml

MAX_FIELDS: Final = 500
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
MAX_KEY_LENGTH: Final = 50
# PostgreSQL's text cannot hold NUL, and no page shows the others.
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def require_user_spec(item: UserSpecText, others: Catalogue) -> Spec:
    """Return the spec of a user, checked as strictly as a built-in one; `others` is the catalogue that it will stand in.

    Raises: SpecError naming the key
    """
    file = f"{item.name}.toml"
    _require_text(file, item)
    spec = parse_user_spec(item)
    for text in _texts(parse_toml(item.toml)):
        if CONTROL.search(text) is not None:
            raise SpecError(f"{file}: {shorten(text)} has control characters in it")
    for stat in spec.stats:
        _require_stat(spec, stat, others)
    return spec


def find_name(toml: str) -> str:
    """Return the name in a spec's text.

    Raises: SpecError when the text is no TOML, or names itself nothing
    """
    name = parse_toml(toml).get("name")
    if not isinstance(name, str) or not name:
        raise SpecError("name: is missing or not text")
    return name


def _require_text(file: str, item: UserSpecText) -> None:
    if NAME.fullmatch(item.name) is None:
        raise SpecError(f"{file}: name: {item.name!r} is not 1 to 40 of the characters a-z 0-9 _, the first one a letter")
    if item.name in built_in_catalogue().specs:
        raise SpecError(f"{file}: name: {item.name!r} is a built-in spec; choose another name")


def _require_stat(spec: Spec, stat: Stat, others: Catalogue) -> None:
    file = f"{spec.name}.toml"
    if NAME.fullmatch(stat.name) is None:
        raise SpecError(f"{file}: stats.name: {stat.name!r} is not 1 to 40 of the characters a-z 0-9 _, the first one a letter")
    taken = others.stats.get(stat.name)
    if taken is not None and taken[0].name != spec.name:
        raise SpecError(f"{file}: stats.name: {stat.name!r} is a stat of the spec {taken[0].name}; choose another name")
    n_fields = len(stat.fields) + len(stat.families)
    if not 1 <= n_fields <= MAX_FIELDS:
        raise SpecError(f"{file}: stats.fields of {stat.name}: {n_fields} fields, 1 to {MAX_FIELDS} expected")
    for field in stat.fields:
        if len(field.key) > MAX_KEY_LENGTH:
            raise SpecError(f"{file}: stats.fields.key: {field.key!r} is longer than {MAX_KEY_LENGTH} characters")


def _texts(value: object) -> Iterator[str]:
    """Yield all texts in a table, keys excepted."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
