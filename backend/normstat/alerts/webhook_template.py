"""The body of a webhook: JSON whose strings may hold {words} that stand for parts of the message."""

import json
import re
from collections.abc import Mapping
from typing import Final

_HOLDER: Final = re.compile(r"\{([a-z_]+)\}")
# The words of a template: the members of a message.
WORDS: Final = frozenset({
    "key", "alert_key", "alert_id", "kind", "route", "rule", "state", "colour", "severity", "host", "where", "subject", "sentence",
    "text", "details", "since", "at", "link", "alert_link", "silence_link", "action",
})  # fmt: skip


def check_template(template: str) -> str:
    """Return the template.

    Raises: ValueError, when it is not JSON, or has unknown words
    """
    if not template.strip():
        return ""
    try:
        body = json.loads(template)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the template is not JSON: {error}") from None
    unknown = sorted(find_words(body) - WORDS)
    if unknown:
        raise ValueError(f"unknown word {{{unknown[0]}}} in the template; there are {', '.join(sorted(WORDS))}")
    return template


def fill_template(template: str, values: Mapping[str, object]) -> object:
    """Return the body for a message. A string that consists of one word becomes its value: {alert_id} is a number then."""
    return fill_body(json.loads(template), values)


def find_words(body: object) -> set[str]:
    """Return the words in the strings of a body."""
    if isinstance(body, str):
        return set(_HOLDER.findall(body))
    if isinstance(body, dict):
        return {word for value in body.values() for word in find_words(value)}
    if isinstance(body, list):
        return {word for value in body for word in find_words(value)}
    return set()


def fill_body(body: object, values: Mapping[str, object]) -> object:
    """Return a body with its words replaced, as `fill_template` does."""
    if isinstance(body, str):
        whole = _HOLDER.fullmatch(body)
        if whole is not None:
            return values[whole[1]]
        return _HOLDER.sub(lambda found: "" if values[found[1]] is None else str(values[found[1]]), body)
    if isinstance(body, dict):
        return {key: fill_body(value, values) for key, value in body.items()}
    if isinstance(body, list):
        return [fill_body(value, values) for value in body]
    return body
