"""The regular expressions of specs: users' patterns are matched in linear time for any pattern and line.

Python's `re` tries every way in which repeats can share a line among them: `x*x*x*x*y` needs the fourth power of the line's length,
and nothing stops it. RE2 needs a time proportional to the line's length, and lets other threads run meanwhile. It has no
look-around and no references back, and its classes (\\d, \\w, \\s, \\b) are those of ASCII. The patterns of built-in specs are
matched by `re`: they are a known set, tests hold that they are quick on hostile lines, and RE2 takes longer for short ones.

>>> compile_linear(r"^x*x*x*x*x*x*x*x*y$").fullmatch("x" * 50_000) is None
True
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, cast

import re2

from normstat.errors import shorten

# Limit of one expression; a layout's expressions of one kind may be joined to one.
MAX_CHARACTERS: Final = 1000
MAX_JOINED_CHARACTERS: Final = 16_000
# Instructions of the compiled expression: {0,500} in it counts 500 times. It bounds the steps per byte of a line.
MAX_PROGRAM: Final = 1200
MAX_JOINED_PROGRAM: Final = 6000
# Longer lines match no pattern of a user.
MAX_TEXT: Final = 64 * 1024
# Memory limit of an expression, its tables of states included.
MAX_MEMORY: Final = 512 * 1024
CACHED: Final = 512
# Syntax that `re` and RE2 both accept, and understand differently.
AMBIGUOUS: Final = {"{,": "write {0,N} instead of {,N}", "[[:": "write [a-z] instead of [[:class:]]"}


class PatternError(ValueError):
    """An invalid expression, or one that cannot be matched in linear time."""


class Owner(Protocol):
    """A spec, as far as its patterns need it."""

    @property
    def is_user_made(self) -> bool:
        """Whether a user wrote it."""


def compile_pattern(owner: Owner, text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return the compiled expression of a spec; `flags` count for built-in specs only.

    Raises: re.error or PatternError
    """
    # It has the methods of re.Pattern that readers use.
    return cast("re.Pattern[str]", compile_linear(text)) if owner.is_user_made else compile_once(text, flags)


@functools.cache
def compile_once(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Return the compiled expression of this program, from a cache larger than that of `re`.

    Raises: re.error
    """
    return re.compile(text, flags)


def join_patterns(owner: Owner, texts: Sequence[str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str] | None:
    """Return one expression for what any of these match. Missing: None for no texts.

    Raises: re.error or PatternError
    """
    if not texts:
        return None
    joined = texts[0] if len(texts) == 1 else "|".join(f"(?:{text})" for text in texts)
    if not owner.is_user_made:
        return compile_once(joined, flags)
    for text in texts:
        require_linear(text)
    # Flags such as (?i) are those of their part, which only RE2 takes.
    return cast("re.Pattern[str]", compile_linear(joined, is_joined=len(texts) > 1))


def require_linear(text: str) -> None:
    """Check a user's expression.

    Raises: PatternError, saying what is wrong with it
    """
    if len(text) > MAX_CHARACTERS:
        raise PatternError(f"the pattern {shorten(text)} is longer than {MAX_CHARACTERS} characters")
    if compile_linear(text).program_size > MAX_PROGRAM:
        raise PatternError(f"the pattern {shorten(text)} repeats too much; use smaller numbers in {{M,N}}, or * and +")


@functools.lru_cache(maxsize=CACHED)
def compile_linear(text: str, *, is_joined: bool = False) -> "LinearPattern":
    """Return the expression for RE2; one that was joined consists of expressions that were tried.

    Raises: PatternError
    """
    if len(text) > MAX_JOINED_CHARACTERS:
        raise PatternError(f"patterns of one kind are longer than {MAX_JOINED_CHARACTERS} characters together")
    for sign, advice in AMBIGUOUS.items():
        if sign in text:
            raise PatternError(f"the pattern {shorten(text)} has {sign!r} in it: {advice}")
    options = re2.Options()
    options.max_mem = MAX_MEMORY
    options.log_errors = False
    try:
        # Syntax of RE2 alone is refused, too: it would be another pattern than its author tried.
        if not is_joined:
            re.compile(text)
        compiled = re2.compile(text, options)
    except (re.error, re2.error, RecursionError, OverflowError, UnicodeEncodeError) as trouble:
        raise PatternError(f"the pattern {shorten(text)} {_explain(trouble)}") from None
    if compiled.programsize > MAX_JOINED_PROGRAM:
        raise PatternError(f"the pattern {shorten(text)} repeats too much; use smaller numbers in {{M,N}}, or * and +")
    return LinearPattern(text, compiled)


def _explain(trouble: Exception) -> str:
    if isinstance(trouble, re2.error):
        # As RE2 gives it: bytes.
        said = trouble.args[0].decode("utf-8", "replace") if trouble.args and isinstance(trouble.args[0], bytes) else str(trouble)
        return (
            f"cannot be matched in linear time ({said}); look-ahead (?=, look-behind (?<=, references back (\\1) and possessive"
            " repeats are not possible"
        )
    if isinstance(trouble, re.error):
        return f"is no regular expression: {trouble}"
    return "is nested too deeply, or its numbers are too large"


class LinearPattern:
    """The part of `re.Pattern` that readers use, by RE2. Groups are in the order of the expression."""

    def __init__(self, text: str, compiled: Any) -> None:
        self.pattern = text
        self._compiled = compiled
        self.program_size: int = compiled.programsize
        self.groups: int = compiled.groups
        self.groupindex: Mapping[str, int] = dict(sorted(compiled.groupindex.items(), key=lambda item: item[1]))

    def fullmatch(self, text: str) -> "LinearMatch | None":
        """Match the whole text."""
        return self._wrap(self._compiled.fullmatch(text)) if len(text) <= MAX_TEXT else None

    def match(self, text: str) -> "LinearMatch | None":
        """Match at the beginning of the text."""
        return self._wrap(self._compiled.match(text)) if len(text) <= MAX_TEXT else None

    def search(self, text: str) -> "LinearMatch | None":
        """Match anywhere in the text."""
        return self._wrap(self._compiled.search(text)) if len(text) <= MAX_TEXT else None

    def finditer(self, text: str) -> Iterator["LinearMatch"]:
        """Match one place after the other."""
        for found in self._compiled.finditer(text) if len(text) <= MAX_TEXT else ():
            yield LinearMatch(found, self.groupindex)

    def _wrap(self, found: Any) -> "LinearMatch | None":
        return None if found is None else LinearMatch(found, self.groupindex)


class LinearMatch:
    """The part of `re.Match` that readers use."""

    def __init__(self, found: Any, groupindex: Mapping[str, int]) -> None:
        self._found = found
        self._groupindex = groupindex

    def __getitem__(self, group: int | str) -> Any:
        return self._found[group]

    def group(self, group: int | str = 0) -> Any:
        """Return the text of a group."""
        return self._found[group]

    def groups(self) -> tuple[Any, ...]:
        """Return the texts of all groups."""
        return tuple(self._found.groups())

    def groupdict(self) -> dict[str, Any]:
        """Return the texts of the named groups."""
        return {name: self._found[number] for name, number in self._groupindex.items()}

    def start(self, group: int | str = 0) -> int:
        """Return where a group begins."""
        return int(self._found.start(group))

    def end(self, group: int | str = 0) -> int:
        """Return where a group ends."""
        return int(self._found.end(group))

    def span(self, group: int | str = 0) -> tuple[int, int]:
        """Return where a group begins and ends."""
        return self.start(group), self.end(group)
