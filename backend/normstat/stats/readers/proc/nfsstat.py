"""nfsstat of Linux and Solaris: sections of counters, names in one line and numbers in the next.

    Client rpc stats:
    calls      retrans    authrefrsh
    63         0          0

    Client nfs v3:
    null       getattr    setattr    lookup     access     readlink
    0       0% 11     18% 0       0% 26     42% 14     22% 0       0%

Counters of a section are one row, its instance is the section ("client rpc"); operations with their share are a row each
("client v3 getattr"). Solaris names the version on a separate line, "Version 3: (63 calls)". With option -Z the same tables hold
the calls since the report before, which only the command tells: they are rows of two stats of their own.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"Client nfs v3:\\nnull getattr\\n0 0% 11 18%\\nClient rpc stats:\\ncalls retrans\\n63 0\\n"
>>> result = read(require_spec("nfsstat_linux"), text, state={}, offset=0, is_final=True)
>>> [(block.stat.name, list(block.instances)) for block in result.blocks]
[('nfsstat_linux', ['client rpc']), ('nfsstat_linux_ops', ['client v3 null', 'client v3 getattr'])]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import RepeatingReader
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Layout, Stat

SECTION: Final = re.compile(r"(?P<side>Client|Server) +(?P<what>[A-Za-z][\w ()./-]{0,60}?) *(?:stats)?:", re.ASCII)
PART: Final = re.compile(r"(?P<part>Connection[ -]?oriented|Connectionless) *:", re.ASCII | re.IGNORECASE)
VERSION: Final = re.compile(r"Version (?P<version>\d+) *: *\((?P<number>\d{1,18}) (?P<what>calls|operations)\)", re.ASCII)
NUMBER: Final = re.compile(r"-?\d{1,18}", re.ASCII)
PERCENT: Final = re.compile(r"(?P<percent>\d{1,3})%", re.ASCII)
# A count of seven or more digits leaves no blank before a share of two or three.
GLUED: Final = re.compile(r"(?P<number>\d{7,15}?)(?P<percent>100|[1-9]\d)%", re.ASCII)
NAMES: Final = re.compile(r"[A-Za-z][\w./-]*(?:\s+[A-Za-z0-9][\w./%-]*)*", re.ASCII)
# nfsstat -l: "nfs v3 client      getattr:       11".
LISTED: Final = re.compile(r"nfs (?P<version>v[\d.]+) (?P<side>client|server)\s+(?P<name>[\w-]+): *(?P<number>\d{1,18})", re.ASCII)
RULE: Final = re.compile(r"-{3,}(?: -{3,})*")
MESSAGE: Final = re.compile(r"Warning: .*")
NFS_VERSION: Final = re.compile(r"nfs ?(v\d[\d.]*)", re.IGNORECASE)
DIFFERENCES: Final = re.compile(r"\snfsstat\b.*\s(?:-[a-zA-Z]*Z\d*|--sleep(?:=\d+)?)(?:\s|$)", re.ASCII | re.DOTALL)
MAX_NAMES: Final = 256
OPERATION: Final = ("count", "percent")


@dataclass(frozen=True)
class NfsstatLayout(Layout):
    """No keys: the spec has a stat of counters, then one of operations, and two more for what -Z prints, if the tool has it."""

    def validate(self, stats: Sequence[Stat]) -> None:
        """Require two or four stats, every second one with the columns count and percent."""
        if len(stats) not in (2, 4) or not all({field.column for field in stat.fields} >= {*OPERATION} for stat in stats[1::2]):
            raise ValueError("two or four stats are needed, every second one with the columns count and percent")


LAYOUT: Final = NfsstatLayout


class Reader(RepeatingReader[NfsstatLayout]):
    """One call of the reader: `_names` are those of the line before, "" is no section."""

    max_names = MAX_NAMES

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        has_differences = DIFFERENCES.search(f" {self.command}") is not None and len(self.spec.stats) == 4
        self._counters, self._operation_stat = self.spec.stats[2:] if has_differences else self.spec.stats[:2]
        self._names = texts_of(own.get("names"))
        self._section = str(own.get("section", ""))
        self._part = str(own.get("part", ""))

    def save(self) -> State:
        """Return the state for the next piece."""
        own = {"names": self._names, "section": self._section, "part": self._part}
        return {**super().save(), **own}

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        found = self._take_heading(line, text)
        if found:
            return found
        listed = LISTED.fullmatch(text)
        if listed is not None:
            return self._take_listed(line, listed)
        if RULE.fullmatch(text) or MESSAGE.fullmatch(text):
            return LineKind.IGNORED
        words = text.split()
        if self._section and (NUMBER.fullmatch(words[0]) or GLUED.fullmatch(words[0])) is not None:
            return self._take_numbers(line, words)
        if self._section and NAMES.fullmatch(text) is not None and len(words) <= MAX_NAMES:
            self._names = words
            return LineKind.HEADER
        return NOT_MINE

    def _take_heading(self, line: Line, text: str) -> Claim:
        found = SECTION.fullmatch(text)
        if found is not None:
            self._begin_section(section_name(found["side"], found["what"]), "")
            return LineKind.HEADER
        found = PART.fullmatch(text)
        if found is not None and self._section:
            self._begin_section(self._section, found["part"].lower().replace("-", " "))
            return LineKind.HEADER
        found = VERSION.fullmatch(text)
        if found is None or not self._section:
            return NOT_MINE
        self._begin_section(self._section, f"v{found['version']}")
        if found["what"] == "calls" and self._section.endswith(f" {self._part}"):
            # Solaris 11 has the same number on a separate line.
            return LineKind.HEADER
        stat = self._counters
        refused = self.gather(stat, [found["what"]], [found["number"]], instance=self._instance(), offset=line.offset)
        return refused or LineKind.SAMPLE

    def _begin_section(self, section: str, part: str) -> None:
        """Start the next report when a section repeats; "Version 4" comes twice, once with calls and once with operations."""
        self.flush()
        name = f"{section}/{part}"
        if not re.fullmatch(r"v\d+", part):
            self.see_name(name)
        self._section, self._part, self._names = section, part, []

    def _instance(self) -> str:
        return self._section if self._section.endswith(f" {self._part}") else f"{self._section} {self._part}".rstrip()

    def _take_numbers(self, line: Line, words: list[str]) -> Outcome:
        names, self._names = self._names, []
        if not names:
            return Rejected("numbers without a line of names before them")
        pairs = split_pairs(words)
        if pairs is None:
            if len(words) != len(names) or not all(map(NUMBER.fullmatch, words)):
                return Rejected(f"{len(words)} numbers for {len(names)} names")
            if len(set(names)) != len(names):
                return Rejected("a name appears twice in the line")
            refused = self.gather(self._counters, names, words, instance=self._instance(), offset=line.offset)
            return refused or LineKind.SAMPLE
        if len(pairs) != len(names):
            return Rejected(f"{len(pairs)} counts with their shares for {len(names)} names")
        self.flush()
        self.want_report()
        for name, pair in zip(names, pairs, strict=True):
            self.add_row(self._operation_stat, OPERATION, pair, instance=f"{self._operations()} {name}", offset=line.offset)
        return LineKind.SAMPLE

    def _operations(self) -> str:
        """Return the section without the common part of all operations: "client nfs" with version 3 is "client v3"."""
        name = self._instance().removesuffix(" operations")
        return name.replace("client nfs v", "client v").replace("server nfs v", "server v")

    def _take_listed(self, line: Line, found: re.Match[str]) -> Outcome:
        name = f"{found['side']} {found['version']}"
        stat = self._counters if found["name"] == "total" else self._operation_stat
        if found["name"] == "total":
            self._begin_section(name, "listed")
        self.want_report()
        instance = name if found["name"] == "total" else f"{name} {found['name']}"
        column = "calls" if found["name"] == "total" else "count"
        return self.add_row(stat, [column], [found["number"]], instance=instance, offset=line.offset) or LineKind.SAMPLE


def section_name(side: str, what: str) -> str:
    """Return the name of a section, normalised across releases.

    >>> section_name("Client", "nfs v3"), section_name("Server", "NFSv4"), section_name("Server", "nfs_acl")
    ('client v3', 'server v4', 'server nfs_acl')
    """
    name = NFS_VERSION.sub(r"\1", what.lower())
    return f"{side.lower()} {name}"


def split_pairs(words: list[str]) -> list[tuple[str, str]] | None:
    """Count with their shares. A count of seven or more digits touches its share: "1234567100%" is 1234567 and 100 %.

    Missing: None when the words are no such pairs.

    >>> split_pairs(["0", "0%", "11", "18%"]), split_pairs(["1234567100%", "3", "0%"]), split_pairs(["1", "2"])
    ([('0', '0'), ('11', '18')], [('1234567', '100'), ('3', '0')], None)
    """
    pairs: list[tuple[str, str]] = []
    count: str | None = None
    for word in words:
        if count is None and NUMBER.fullmatch(word) is not None:
            count = word
        elif count is None and (found := GLUED.fullmatch(word)) is not None:
            pairs.append((found["number"], found["percent"]))
        elif count is not None and (found := PERCENT.fullmatch(word)) is not None:
            pairs.append((count, found["percent"]))
            count = None
        else:
            return None
    return pairs if count is None else None
