"""Self-describing files of dim_STAT's BatchLOAD: a block of tags, a tool's output, END; one after the other.

    STAT vmstat
    HOST web1
    START 20261121120000
    ISEC 5
    ...what the tool printed...
    END

What is certain of the format is that the file carries tags, at least the STAT's name and END, and what `BatchLOAD` itself took as
options (title, host, isec, start as YYYYMMDDHHMISS). So tags are read in every spelling that is likely: `STAT x`, `STAT: x`,
`STAT=x`, `TAG STAT x`, `#STAT x`, `<STAT x>`. Source: dim_STAT User's Guide v8, "BatchLOAD".
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from normstat.stats.engine.times.timeline import require_zone
from normstat.window import LATEST_US, to_us

NAMES: Final = "STAT|HOST|TITLE|ID|START|ISEC|INTERVAL|SKIP1|BASE|FILE|CMD"
TAG: Final = re.compile(
    rb"[#<\[*]{0,2}[ \t]*(?:TAG[ \t:=]+)?(?P<name>"
    + NAMES.encode()
    + rb")(?:[ \t]*[:=][ \t]*|[ \t]+)(?P<value>[^\r\n]{0,400}?)[ \t>\]]*",
    re.IGNORECASE,
)
END: Final = re.compile(rb"[#<\[*/]{0,3}[ \t]*(?:TAG[ \t:=]+)?END(?:[ \t:=][^\r\n]{0,200})?[>\]]?[ \t]*", re.IGNORECASE)
MAX_TAG_LENGTH: Final = 500
HEAD_LINES: Final = 40


@dataclass(slots=True)
class Section:
    """One tool's output within the file: [begin, end) of its bytes, under its tags (names in capitals)."""

    tags: dict[str, str]
    begin: int
    end: int


@dataclass(slots=True)
class _Open:
    tags: dict[str, str] = field(default_factory=dict)
    begin: int = -1


def is_batchload(head: bytes) -> bool:
    """Return whether a file that begins like this is one: its first lines are tags, and one of them is STAT."""
    names: set[str] = set()
    for line in head.split(b"\n")[:HEAD_LINES]:
        tag = _tag(line)
        if tag is not None:
            names.add(tag[0])
        elif line.strip() and not line.lstrip().startswith(b"#"):
            break
    return "STAT" in names


def _tag(line: bytes) -> tuple[str, str] | None:
    found = TAG.fullmatch(line.rstrip(b"\r")) if len(line) <= MAX_TAG_LENGTH else None
    return (found["name"].decode().upper(), found["value"].decode("utf-8", "replace")) if found is not None else None


class Splitter:
    """Finds the sections while the file goes by. `feed` gives what each piece holds: the section it belongs to and its bytes."""

    def __init__(self) -> None:
        self._rest = b""
        self._at = 0
        self._open = _Open()
        self._is_body = False

    def feed(self, data: bytes, *, is_final: bool = False) -> Iterator[tuple[Section, bytes, bool]]:
        """Yield the parts of sections in these bytes: section, bytes, and whether the section ends here (its `end` is right
        then).
        """
        data = self._rest + data
        begin = 0
        body: list[bytes] = []
        lines = data.split(b"\n")
        self._rest = b"" if is_final else lines.pop()
        for number, line in enumerate(lines):
            raw = line if number == len(lines) - 1 and is_final else line + b"\n"
            begin = self._at
            self._at += len(raw)
            if not self._is_body:
                self._take_head(line, raw, begin, body)
            elif len(line) <= MAX_TAG_LENGTH and END.fullmatch(line.rstrip(b"\r")):
                yield self._section(begin), b"".join(body), True
                body.clear()
                self._open, self._is_body = _Open(), False
            else:
                body.append(raw)
        if len(self._rest) > MAX_TAG_LENGTH and self._is_body:
            # A line this long is no tag; it need not be held back.
            body.append(self._rest)
            self._at += len(self._rest)
            self._rest = b""
        if self._is_body and (body or is_final):
            yield self._section(self._at), b"".join(body), is_final

    def _take_head(self, line: bytes, raw: bytes, begin: int, body: list[bytes]) -> None:
        tag = _tag(line)
        if tag is not None:
            self._open.tags[tag[0]] = tag[1]
        elif "STAT" in self._open.tags and line.strip():
            self._open.begin, self._is_body = begin, True
            body.append(raw)

    def _section(self, end: int) -> Section:
        return Section(self._open.tags, self._open.begin, end)


def is_first_real(tags: dict[str, str]) -> bool:
    """Return whether the section says that its first report is like all others: SKIP1 no.

    >>> is_first_real({"SKIP1": "no"}), is_first_real({"SKIP1": "yes"}), is_first_real({})
    (True, False, False)
    """
    return tags.get("SKIP1", "").strip().lower() in ("no", "n", "0", "off", "false")


def times_of(tags: dict[str, str], zone: str | None) -> tuple[int | None, int | None]:
    """START and ISEC of a section as microseconds, each None where it is missing or makes no sense.

    Raises: BadRequest for an unknown zone
    """
    start_us = interval_us = None
    try:
        local = dt.datetime.strptime(tags.get("START", ""), "%Y%m%d%H%M%S")  # noqa: DTZ007
        start_us = to_us(local.replace(tzinfo=require_zone(zone or "UTC")))
    except (ValueError, OverflowError):
        pass
    if start_us is not None and not 0 <= start_us < LATEST_US:
        # Outside the years that samples can have.
        start_us = None
    try:
        seconds = float(tags.get("ISEC", tags.get("INTERVAL", "")))
        interval_us = round(seconds * 1_000_000) if 0.001 <= seconds <= 1e8 else None
    except ValueError:
        pass
    return start_us, interval_us
