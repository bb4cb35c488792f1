"""What a user's spec must keep beyond the rules of every spec: names of its own, sizes, and patterns that surely come to an end."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from normstat.errors import SpecError, shorten
from normstat.stats.catalogue import Catalogue, UserSpecText, built_in_catalogue, parse_spec
from normstat.stats.spec import Spec, Stat

MOST_BYTES: Final = 256 * 1024
MOST_FIELDS: Final = 500
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
LONGEST_KEY: Final = 50
# PostgreSQL's text cannot hold NUL, and no page shows the others.
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONGEST_PATTERN: Final = 1000
# Repeats of at most this many are no danger.
FEW: Final = 16


def require_user_spec(item: UserSpecText, others: Catalogue) -> Spec:
    """The spec of a user, checked as strictly as a built-in one; `others` is the catalogue that it will stand in.

    Raises: SpecError naming the key
    """
    file = f"{item.name}.toml"
    _require_text(file, item)
    raw = _loads(item.toml)
    spec = parse_spec(file, item.toml, version=item.version)
    for text in _texts(raw):
        if CONTROL.search(text) is not None:
            raise SpecError(f"{file}: {shorten(text)} has control characters in it")
    for stat in spec.stats:
        _require_stat(spec, stat, others)
    for pattern in (*_texts(spec.layout), *spec.marks, *spec.refuses, *(f.pattern for s in spec.stats for f in s.families)):
        trouble = find_trouble(pattern)
        if trouble is not None:
            raise SpecError(f"{file}: the pattern {pattern!r} {trouble}")
    return spec


def find_name(toml: str) -> str:
    """The name that a spec's text gives itself.

    Raises: SpecError when the text is no TOML, or names itself nothing
    """
    name = _loads(toml).get("name")
    if not isinstance(name, str) or not name:
        raise SpecError("name: is missing or no text")
    return name


def _loads(toml: str) -> dict[str, object]:
    try:
        return tomllib.loads(toml)
    except (tomllib.TOMLDecodeError, RecursionError) as trouble:
        raise SpecError(f"The spec is no TOML: {trouble}") from trouble


def _require_text(file: str, item: UserSpecText) -> None:
    if len(item.toml.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise SpecError(f"{file}: longer than {MOST_BYTES // 1024} KiB")
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
    if not 1 <= n_fields <= MOST_FIELDS:
        raise SpecError(f"{file}: stats.fields of {stat.name}: {n_fields} fields, 1 to {MOST_FIELDS} expected")
    for field in stat.fields:
        if len(field.key) > LONGEST_KEY:
            raise SpecError(f"{file}: stats.fields.key: {field.key!r} is longer than {LONGEST_KEY} characters")


def _texts(value: object) -> Iterator[str]:
    """All texts in a table; those of a layout may be patterns, and what is none is a harmless one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def find_trouble(pattern: str) -> str | None:
    """Why a pattern could keep the program busy for ever on an odd line; None when it cannot, or is no pattern at all.

    Python tries every way in which repeats within repeats can share a text among them: (a+)+b needs years for fifty letters.

    >>> find_trouble("^#|^Total: [0-9]+ of [0-9]+$"), find_trouble("(a+)+b")
    (None, 'repeats something of no fixed length; write it without a repeat inside of a repeat')
    """
    if len(pattern) > LONGEST_PATTERN:
        return f"is longer than {LONGEST_PATTERN} characters"
    try:
        re.compile(pattern)
    except re.error:
        return None
    # The parser of `re` has no public name.
    parser = importlib.import_module("re._parser")
    return _look(parser.parse(pattern))


def _look(parsed: Any) -> str | None:
    for operation, argument in parsed:
        name = str(operation)
        if name in {"GROUPREF", "GROUPREF_EXISTS"}:
            return "refers back to a group"
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            _, most, body = argument
            least_width, most_width = body.getwidth()
            if int(most) > FEW and (least_width != most_width or _has_choice(body)):
                return "repeats something of no fixed length; write it without a repeat inside of a repeat"
        for part in _parts(argument):
            trouble = _look(part)
            if trouble is not None:
                return trouble
    return None


def _has_choice(parsed: Any) -> bool:
    return any(str(operation) == "BRANCH" or any(_has_choice(part) for part in _parts(argument)) for operation, argument in parsed)


def _parts(argument: Any) -> Iterator[Any]:
    """The patterns that an operation's argument holds."""
    if hasattr(argument, "getwidth"):
        yield argument
    elif isinstance(argument, list | tuple):
        for item in argument:
            yield from _parts(item)
