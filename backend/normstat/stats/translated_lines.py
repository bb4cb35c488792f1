"""Lines that a tool printed in another language, turned into the English ones that readers know.

    r  b   swpd   frei   buff  Cache   si   so    bi    bo   in   cs us sy id wa st
    r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st

A spec names a file of stats/translations/, which holds what the catalogues of the tool translate:
    forms       headers, their columns parted by "|"
    any_header  true when users choose the columns, so that a header has any of them in any order; `header_needs` are those that it
                cannot lack
    [languages] the columns that a language names otherwise, one table for each release that differs: column = "translation"; "" for
                a column that the language leaves blank; "#-blocks" stands for 1K-blocks
    [starts]    what a line begins with: English = [translations]
    [lines]     whole lines: English = [translations]; "#" is a number
    [alternatives]  what {NAME} in a line stands for, one after the other: with K = ["K", "M"] and К = ["К", "М"], the line
                "{K}iB" = ["{К}іБ"] is two, of KiB and MiB

A line is translated only when all of it is known. Numbers stay as they are printed.

>>> words = {"free": "frei", "cache": "Cache"}
>>> text = Translations.of(forms=["swpd|free|cache"], languages=[words], lines={"# total memory": ["# Gesamtspeicher"]})
>>> text.english("swpd  frei  Cache"), text.english(" 25 Gesamtspeicher"), text.english(" 1  2  3")
('swpd free cache', ' 25 total memory', ' 1  2  3')
"""

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Final

FOLDER: Final = "translations"
NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*", re.ASCII)
SPACES: Final = re.compile(r"\s+")
LOOSE: Final = re.compile(r" (?=[:#])|(?<=[,#:]) ")
LEAD: Final = re.compile(r"\s*([^\d#\s:]?[^\s\d#:%]*)", re.ASCII)
HOLE: Final = "#"
PLACE: Final = re.compile(r"\{(\w+)\}")
CELL: Final = "|"
# Lines of these tools are shorter.
MAX_LINE: Final = 2000
MIN_CELLS: Final = 3
# A shorter part of a line, or of a column's name, may be another one's.
MIN_CUT: Final = 40
MIN_PREFIX: Final = 4
GAP: Final = "   "
MAX_FRAGMENT: Final = 16
# The encodings of hosts that do not use UTF-8; only a line that is then known counts.
ENCODINGS: Final = ("latin-1", "iso-8859-2", "koi8-u", "cp1251", "gb18030", "euc-kr", "euc-jp", "big5", "iso-8859-9", "iso-8859-7")


@dataclass(frozen=True, slots=True)
class Translated:
    """A line as the tool prints it in English; `printed` are the columns of a header that it printed otherwise."""

    text: str
    printed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Translations:
    """Translations of a tool's output, in the form in which lines are looked up.

    `lines` are keyed by their skeletons, `starts` by their first words; `headers` holds the columns of each language, by
    translation. `leads` are the beginnings of all lines, for a quick look.
    """

    lines: Mapping[str, Translated]
    starts: Mapping[str, Sequence[tuple[str, str]]]
    headers: Sequence[Mapping[str, str]]
    header_needs: frozenset[str]
    leads: frozenset[str]

    @classmethod
    def of(
        cls,
        *,
        forms: Iterable[str] = (),
        languages: Iterable[Mapping[str, str]] = (),
        starts: Mapping[str, Iterable[str]] | None = None,
        lines: Mapping[str, Iterable[str]] | None = None,
        any_header: bool = False,
        header_needs: Iterable[str] = (),
    ) -> "Translations":
        """Return what a file says, ready to be looked up, without what stands for two different lines."""
        found: dict[str, dict[str, Mapping[str, str]]] = {}
        languages = list(languages)
        for form in forms:
            cells = form.split(CELL)
            english = NUMBER.sub(HOLE, " ".join(cells))
            for words in languages:
                printed = {cell: _translated(cell, words) for cell in cells}
                renamed = {cell: text for cell, text in printed.items() if text not in ("", cell)}
                found.setdefault(skeleton(" ".join(printed[cell] for cell in cells)), {}).setdefault(english, renamed)
        for english, texts in (lines or {}).items():
            for text in texts:
                found.setdefault(skeleton(text), {}).setdefault(english, {})
        begins: dict[str, list[tuple[str, str]]] = {}
        for english, texts in (starts or {}).items():
            for text in texts:
                begins.setdefault(text.split()[0], []).append((text, english))
        # A line that may be English stays as it is.
        own = {skeleton(english) for texts in found.values() for english in texts}
        known = {
            text: Translated(*next(iter(texts.items()))) for text, texts in found.items() if len(texts) == 1 and text not in own
        }
        headers = [_unambiguous(words) for words in languages] if any_header else []
        leads = {_lead(text) for text in (*known, *begins, *(text for words in headers for text in words))}
        return cls(known, begins, headers, frozenset(header_needs), frozenset(leads))

    def decode(self, line: bytes) -> str:
        """Return the text of a line, in another encoding than UTF-8 if only that makes it known."""
        try:
            return line.decode()
        except UnicodeDecodeError:
            for encoding in ENCODINGS if len(line) <= MAX_LINE else ():
                try:
                    text = line.decode(encoding)
                except UnicodeDecodeError:
                    continue
                if self.translate(text) is not None:
                    return text
        return line.decode("utf-8", "backslashreplace")

    def translate(self, text: str) -> Translated | None:
        """Return the line as the tool prints it in English. Missing: None for one that is not known in another language."""
        if len(text) > MAX_LINE or _lead(text) not in self.leads or not text.strip():
            return None
        return self._line(text) or self._start(text) or self._header(text)

    def english(self, text: str) -> str:
        """Return the line as the tool prints it in English, unchanged if it is not known in another language."""
        found = self.translate(text)
        return text if found is None else found.text

    # Internals.

    def _line(self, text: str) -> Translated | None:
        """Return the English of a line that is known as a whole, or of several that stand side by side."""
        key = skeleton(text)
        numbers = NUMBER.findall(text)
        found = self.lines.get(key)
        if found is not None:
            return _filled(found, text, numbers)
        head, _, zone = text.rstrip().rpartition(" ")
        found = self.lines.get(skeleton(head)) if head else None
        if found is not None and HOLE not in found.text:
            # A header of vmstat ends with the time zone.
            return Translated(f"{_indent(text)}{found.text} {zone}", found.printed)
        times = key.count(key.split(" ", 1)[0])
        if times > 1 and len(key) % times in (times - 1, 0):
            one = key[: len(key) // times].strip()
            found = self.lines.get(one)
            if found is not None and key == " ".join([one] * times):
                return _filled(Translated(GAP.join([found.text] * times)), text, numbers)
        whole, _, rest = text.rstrip().rpartition(GAP)
        if whole and len(rest) <= MAX_FRAGMENT and NUMBER.search(rest) is None:
            # The first letters of a line that had no room beside this one.
            found = self.lines.get(skeleton(whole))
            if found is not None:
                return _filled(found, text, numbers)
        return self._cut(text, key, numbers)

    def _cut(self, text: str, key: str, numbers: Sequence[str]) -> Translated | None:
        """Return the English of a line that a narrow terminal cut after its last number."""
        if len(key) < MIN_CUT or not numbers or key.endswith(HOLE):
            return None
        found = {known.text for line, known in self.lines.items() if line.startswith(key)}
        if len(found) != 1:
            return None
        parts = found.pop().split(HOLE)[: len(numbers) + 1]
        whole = _filled(Translated(HOLE.join(parts)), text, numbers)
        return Translated(whole.text.rstrip(" ,"))

    def _start(self, text: str) -> Translated | None:
        line = text.lstrip()
        for start, english in self.starts.get(line.split(None, 1)[0], ()):
            rest = line[len(start) :]
            if line.startswith(start) and (not rest or rest[0].isspace()):
                return Translated(english + rest)
        return None

    def _header(self, text: str) -> Translated | None:
        """Return the English of a header whose words are columns of one language, some of them in that language."""
        words = text.split()
        best = Translated("")
        for known in self.headers:
            cells = [known.get(word, word if word.isascii() and not word.isdigit() else "") for word in words]
            printed = {cell: word for cell, word in zip(cells, words, strict=True) if cell != word}
            if len(cells) < MIN_CELLS or not all(cells) or not self.header_needs.issubset(cells):
                continue
            # One word alone may be a column of another release.
            is_other = len(printed) > 1 or any(not word.isascii() for word in printed.values())
            if is_other and len(printed) > len(best.printed):
                best = Translated(" ".join(cells), printed)
        return best if best.printed else None


def skeleton(text: str) -> str:
    """Return the line without its numbers and the blanks that depend on them.

    >>> skeleton("%CPU0  :  0,0 us,100,0 sy")
    '%CPU#:#us,#sy'
    """
    return LOOSE.sub("", SPACES.sub(" ", NUMBER.sub(HOLE, text)).strip())


def _translated(cell: str, words: Mapping[str, str]) -> str:
    """Return a column in another language."""
    size, _, rest = cell.partition("-")
    return words[f"#-{rest}"].replace(HOLE, size) if rest and f"#-{rest}" in words else words.get(cell, cell)


def _lead(text: str) -> str:
    found = LEAD.match(text)
    return found[1] if found is not None else ""


def _filled(english: Translated, text: str, numbers: Sequence[str]) -> Translated:
    """Return the English line with the numbers in their places, and indented like the text."""
    parts = english.text.split(HOLE)
    line = "".join(part + number for part, number in zip(parts, [*numbers[: len(parts) - 1], ""], strict=False))
    return Translated(_indent(text) + line, english.printed)


def _indent(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _unambiguous(words: Mapping[str, str]) -> dict[str, str]:
    """Return the columns by translation, whole and cut off as narrow columns do, without the texts that name two columns."""
    whole: dict[str, set[str]] = {column: {column} for column, text in words.items() if text != column}
    cut: dict[str, set[str]] = {}
    for column, text in words.items():
        whole.setdefault(text, set()).add(column)
        for end in range(MIN_PREFIX, len(text)):
            cut.setdefault(text[:end], set()).add(column)
    return {text: next(iter(columns)) for text, columns in (cut | whole).items() if text and " " not in text and len(columns) == 1}


@functools.cache
def read_translations(name: str) -> Translations:
    """Return the content of a file of stats/translations/.

    Raises: FileNotFoundError
    """
    path = resources.files("normstat.stats") / FOLDER / f"{name}.toml"
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    return Translations.of(
        forms=raw.get("forms", []),
        languages=[words for releases in raw.get("languages", {}).values() for words in releases],
        starts=raw.get("starts", {}),
        lines=_written_out(raw.get("lines", {}), raw.get("alternatives", {})),
        any_header=raw.get("any_header", False),
        header_needs=raw.get("header_needs", []),
    )


def _written_out(lines: Mapping[str, Sequence[str]], alternatives: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the lines with each alternative in its place.

    >>> _written_out({"{K}iB": ["{К}іБ", "{K}io"], "free": ["frei"]}, {"K": ["K", "M"], "К": ["К", "М"]})
    {'KiB': ['КіБ', 'Kio'], 'MiB': ['МіБ', 'Mio'], 'free': ['frei']}
    """
    n_alternatives = max(map(len, alternatives.values()), default=0)
    written: dict[str, list[str]] = {}
    for english, texts in lines.items():
        for number in range(n_alternatives if PLACE.search(english) else 1):

            def fill(text: str, number: int = number) -> str:
                return PLACE.sub(lambda place: alternatives[place[1]][number], text)

            written[fill(english)] = [fill(text) for text in texts]
    return written


@functools.cache
def translation_names() -> tuple[str, ...]:
    """Return the names of the files of stats/translations/, sorted."""
    folder = resources.files("normstat.stats") / FOLDER
    return tuple(sorted(item.name.removesuffix(".toml") for item in folder.iterdir() if item.name.endswith(".toml")))
