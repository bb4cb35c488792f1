"""Reads a table of a spec key by key, and says what is wrong with it: file, key, and what was found."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NoReturn

from normstat.errors import SpecError
from normstat.stats.pattern import PatternError, join_patterns, require_linear

# Errors quote at most this much of a text.
MAX_QUOTED: Final = 400


def cut(text: str) -> str:
    """Return the text, or its beginning."""
    return text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}..."


class SpecTable:
    """A TOML table that is read key by key; every error names the file and the key."""

    def __init__(self, file: str, path: str, raw: Mapping[str, object]) -> None:
        self._file = file
        self._path = path
        self._raw = dict(raw)
        self._used: set[str] = set()
        # Whether a user wrote the file.
        self.is_user_made = False

    def fail(self, key: str, why: str) -> NoReturn:
        """Raise SpecError for a key."""
        message = f"{self._file}: {self._path}{cut(key)}: {cut(why)}"
        raise SpecError(message)

    def _get(self, key: str, *, needed: bool) -> object:
        self._used.add(key)
        if needed and key not in self._raw:
            self.fail(key, "is missing")
        return self._raw.get(key)

    def string(self, key: str, default: str | None = None) -> str:
        """Return a text."""
        value = self._get(key, needed=default is None)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            self.fail(key, f"must be text, not {value!r}")
        return str(value)

    def number(self, key: str, default: int | None = None) -> int:
        """Return a whole number, not below 0."""
        value = self._get(key, needed=default is None)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.fail(key, f"must be a whole number, not {value!r}")
        assert isinstance(value, int)
        return value

    def flag(self, key: str) -> bool:
        """Return whether a key is true; False where it is missing."""
        value = self._get(key, needed=False)
        if value is not None and not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {value!r}")
        return value is True

    def choice(self, key: str, allowed: Iterable[str], default: str | None = None) -> str:
        """Return a text that is one of some."""
        value = self.string(key, default)
        if value not in tuple(allowed):
            self.fail(key, f"{value!r} is none of {', '.join(allowed)}")
        return value

    def texts(self, key: str, *, needed: bool = True) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._get(key, needed=needed)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.fail(key, f"must be a list of texts, not {value!r}")
        assert isinstance(value, list)
        return tuple(str(item) for item in value)

    def patterns(self, key: str) -> tuple[str, ...]:
        """Regular expressions, each tried."""
        found = self.texts(key, needed=False)
        for pattern in found:
            self.require_pattern(key, pattern)
        try:
            # They are tried as one.
            join_patterns(self, found)
        except PatternError as trouble:
            self.fail(key, str(trouble))
        return found

    def require_pattern(self, key: str, pattern: str) -> None:
        """Raise SpecError for an invalid regular expression, or one that takes too long."""
        try:
            if self.is_user_made:
                require_linear(pattern)
            else:
                re.compile(pattern)
        except PatternError as trouble:
            self.fail(key, str(trouble))
        except re.error as trouble:
            self.fail(key, f"{pattern!r} is no regular expression: {trouble}")

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def table(self, key: str) -> "SpecTable":
        """Return a table below this one."""
        value = self._get(key, needed=True)
        if not isinstance(value, dict):
            self.fail(key, "must be a table")
        assert isinstance(value, dict)
        return self._below(f"{key}.", value)

    def tables(self, key: str, *, needed: bool = True) -> list["SpecTable"]:
        """Return a list of tables below this one."""
        value = self._get(key, needed=needed)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "must be a list of tables")
        assert isinstance(value, list)
        return [self._below(f"{key}[{number}].", item) for number, item in enumerate(value)]

    def _below(self, path: str, raw: Mapping[str, object]) -> "SpecTable":
        table = SpecTable(self._file, f"{self._path}{path}", raw)
        table.is_user_made = self.is_user_made
        return table

    def values(self) -> Mapping[str, object]:
        """Return everything in the table, for the one that checks it."""
        return self._raw

    def done(self) -> None:
        """Reject unknown keys: a misspelt key must not be silently ignored."""
        for key in self._raw:
            if key not in self._used:
                self.fail(key, "is not known")
