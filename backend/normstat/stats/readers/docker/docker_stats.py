"""docker stats and podman stats: tables, one for each report, and the objects of `--format '{{json .}}'`.

CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT     MEM %     NET I/O           BLOCK I/O    PIDS
b95a83497c91   web       0.28%     5.629MiB / 1.952GiB   0.28%     916B / 0B         147kB / 0B   9

{"BlockIO":"147kB / 0B","CPUPerc":"0.28%","ID":"b95a83497c91","MemPerc":"0.28%","MemUsage":"5.629MiB / 1.952GiB","Name":"web",...}

Sizes become bytes; MiB and GiB are powers of 1024, kB and MB of 1000. What was received, sent, read and written is counted since
the container began, and is rounded to three or four digits. A report ends with the next header, or where a container comes again.

Keys of `[layout]`:
    stat      the stat
    pairs     headers and keys of JSON that stand for two sizes, with their columns
    numbers   those that stand for a number, with their column
    names     those that name the container; the last of them that is there is the instance
    texts     those that are not read

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> (block,) = read(require_spec("docker_stats"), excerpt, state={}, offset=0, is_final=True).blocks
>>> block.instances, [column.tolist() for column in block.values[:3]]
(['web'], [[0.28], [5902434.0], [2095944040.0]])
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.series.recorded_series import NO_JSON, read_json
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.layout import StatName
from normstat.stats.pattern import compile_once
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout

SIZE: Final = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,9})?) ?(?P<unit>[kKMGTP]?i?B)", re.ASCII)
SHARE: Final = re.compile(r"\d{1,9}(?:\.\d{1,6})?%?", re.ASCII)
POWERS: Final = " KMGTP"
ABSENT: Final = "--"


@dataclass(frozen=True)
class DockerLayout(Layout):
    """The columns; the module's docstring explains the keys."""

    stat: StatName
    pairs: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    texts: tuple[str, ...] = ()


LAYOUT: Final = DockerLayout


class Reader(RepeatingReader[DockerLayout]):
    """One call of the reader: `_columns` are those of the present header."""

    max_names = 100_000

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._columns = texts_of(own.get("columns"))
        layout = self.layout
        known = sorted((*layout.pairs, *layout.numbers, *layout.names, *layout.texts), key=len, reverse=True)
        self._header = compile_once(rf"\s*({'|'.join(map(re.escape, known))})(?:\s+|$)")

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "columns": self._columns}

    def begin_call(self) -> None:
        """Start a new call: its header comes again, but not where each line is an object."""
        super().begin_call()
        self._columns = []

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        if text.startswith("{"):
            return self._take_json(text, line.offset)
        columns = self._split_header(text)
        if columns:
            self.end_report()
            self._columns = columns
            return LineKind.HEADER
        cells = self._split_row(text.split())
        return self._take_cells(cells, line.offset) if cells is not None else NOT_MINE

    # Internals.

    def _split_header(self, text: str) -> list[str]:
        """Return the columns that a line consists of. Missing: none for any other line."""
        columns: list[str] = []
        at = 0
        while at < len(text):
            found = self._header.match(text, at)
            if found is None:
                return []
            columns.append(found[1])
            at = found.end()
        return columns if any(column in self.layout.names for column in columns) else []

    def _split_row(self, words: Sequence[str]) -> dict[str, str] | None:
        """Return the cells of a row. Missing: None where it has not as many as the header."""
        cells: dict[str, str] = {}
        at = 0
        for column in self._columns:
            n_words = 3 if column in self.layout.pairs and at + 1 < len(words) and words[at + 1] == "/" else 1
            cells[column] = " ".join(words[at : at + n_words])
            at += n_words
        return cells if self._columns and at == len(words) else None

    def _take_json(self, text: str, offset: int) -> Outcome:
        found = read_json(text)
        if not isinstance(found, dict):
            return NO_JSON
        return self._take_cells({str(key): str(value) for key, value in found.items()}, offset)

    def _take_cells(self, cells: Mapping[str, str], offset: int) -> Outcome:
        """Add the row of a container."""
        layout = self.layout
        instance = next((cells[name] for name in reversed(layout.names) if cells.get(name)), "")
        if not instance:
            return Rejected("names no container")
        values: dict[str, str] = {}
        for name, word in cells.items():
            columns = layout.pairs.get(name) or layout.numbers.get(name)
            if columns is None:
                continue
            parts = [part.strip() for part in word.split("/")] if name in layout.pairs and word != ABSENT else [word] * len(columns)
            read = [_read(part) for part in parts]
            if len(parts) != len(columns) or None in read:
                return Rejected(f"{name}: {word[:40]!r} is not what it prints")
            values.update((column, part) for column, part in zip(columns, read, strict=True) if part)
        self.see_name(instance)
        if not values:
            return LineKind.IGNORED
        return self.put_row(self.stat(layout.stat), list(values), list(values.values()), instance=instance, offset=offset)


def _read(word: str) -> str | None:
    """Return a number, or a size in bytes; "" for no value. Missing: None for anything else.

    >>> _read("1.5KiB"), _read("147kB"), _read("0.28%"), _read("--"), _read("many")
    ('1536', '147000', '0.28', '', None)
    """
    if word == ABSENT:
        return ""
    if SHARE.fullmatch(word) is not None:
        return word.removesuffix("%")
    found = SIZE.fullmatch(word)
    if found is None:
        return None
    unit = found["unit"]
    power = POWERS.index(unit[0].upper()) if len(unit) > 1 else 0
    return f"{float(found['number']) * (1024 if 'i' in unit else 1000) ** power:.0f}"
