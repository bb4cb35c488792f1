"""The first pass of an import: find its files, the tools that printed them, and the hash of their bytes.

It unpacks everything once and keeps only the beginning of one file at a time. The second pass (load.py) reads the files found
to be worth it; so no file needs a place on a disk, however large it is.
"""

import datetime as dt
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from normstat.errors import shorten
from normstat.ingest.import_rows import MissingOption
from normstat.ingest.imports.archives import Member, list_files, walk_file
from normstat.ingest.imports.batchload import Section, Splitter, is_batchload, is_first_real, times_of
from normstat.ingest.imports.detect import (
    GUESSED_ORDER_NOTE,
    HEAD_BYTES,
    MAX_HEAD_BYTES,
    NO_DATE_NOTE,
    NOT_LOADED,
    SOME_DAY,
    SOME_INSTANT_US,
    Look,
    day_of_neighbours,
    look_at,
)
from normstat.ingest.imports.host_texts import HostParting, HostText
from normstat.ingest.imports.import_options import ImportOptions
from normstat.ingest.imports.series_files import Gathered, SeriesFiles, SortedText, find_series_file
from normstat.ingest.imports.unpacking import Budget, Peekable, TooMuch, Unreadable
from normstat.records.artefact_keeper import ArtefactKeeper
from normstat.runtime.readable import format_bytes
from normstat.stats.catalogue import load_catalogue
from normstat.stats.engine.times.timeline import require_zone
from normstat.stats.file_names import day_in_name
from normstat.stats.readers import read
from normstat.stats.records import State, Timing
from normstat.stats.spec import Spec
from normstat.window import LATEST_US, from_us

READ_BYTES: Final = 1 << 20
NOT_READ: Final = "(what follows)"
# Files of `normstat-agent collect`: the output of a tool, and the command line that printed it.
OUTPUT: Final = ".raw"
COMMAND: Final = ".cmd"
# Files that the agent writes beside a stream's output, and about itself; no tool printed them.
OWN_FILE: Final = re.compile(r"(?:.*/)?(?:\w+\.\d+\.\d+-\d+\.(?:cmd|ack|gap|freed)|collect\.info|agent\.(?:state|log))", re.DOTALL)
STANDARD_ERROR: Final = re.compile(r"(?:.*/)?\w+\.\d+\.\d+-\d+\.err", re.DOTALL)
MAX_COMMAND: Final = 2000
# How often one import may meet with a length at which an earlier load ended; each costs a copy of the hash's state.
MAX_LENGTHS: Final = 20_000


@dataclass(slots=True)
class Found:
    """A file, or a section of one, as the survey saw it.

    `member` is the number of the file within `root`, the file on this machine that it is in; the bytes are [begin, end) of it.
    `hashes` are those of its first n bytes, by n: at lengths that earlier loads had, and at its own. `look.spec` is None where
    there is nothing to load; `look.note` says why, unless it is an artefact alone (`look.artefact`). `text` is that of files that
    were put together, or of one host of a file with several: they are no member of a root. `host` is that host, "" for others.
    `n_days` is how often the clocks of a file without days pass midnight; `span_us` the time from the first report to the last of a
    file without times, with 1 s between two where the interval is unknown, None for others.
    """

    path: str
    root: Path
    member: int
    look: Look
    begin: int = 0
    end: int = 0
    hashes: dict[int, bytes] = field(default_factory=dict)
    modified_at: float | None = None
    n_days: int = 0
    span_us: int | None = None
    text: SortedText | HostText | None = None
    host: str = ""

    @property
    def n_bytes(self) -> int:
        """How many bytes there are to load."""
        return self.end - self.begin

    @property
    def is_loadable(self) -> bool:
        """Whether it is worth loading."""
        return bool(self.look.artefact) or (self.look.spec is not None and not self.look.lacks_times)

    @property
    def spec(self) -> Spec | None:
        """The spec that reads it."""
        return self.look.spec

    @property
    def timing(self) -> Timing:
        """The facts about its times."""
        return self.look.timing


class Survey:
    """Looks through all files. `lengths` are the lengths of earlier loads by spec: hashes are taken there as well. `keeper`
    recognises texts that are artefacts only. `host` is wanted where files tell of several.

    It blocks, so it runs in a thread; `n_bytes` and `path` may be read meanwhile.
    """

    def __init__(
        self,
        options: ImportOptions,
        budget: Budget,
        lengths: Mapping[str, Sequence[int]],
        keeper: ArtefactKeeper | None = None,
        host: str = "",
    ) -> None:
        self._keeper = keeper
        self._host = host
        self._series = SeriesFiles(options.zone)
        self._options = options
        self._budget = budget
        self._lengths = lengths
        self._commands: dict[str, str] = {}
        self.n_bytes = 0
        self.path = ""

    def stop(self) -> None:
        """Make `run` raise Stopped soon."""
        self._budget.is_stopped = True

    def run(self, paths: Sequence[Path], shown_as: str | None = None) -> list[Found]:
        """Return all files, in their order; days that are known from files beside them are filled in. `shown_as` names a single
        file.

        Raises: Stopped
        """
        found: list[Found] = []
        try:
            for path, note in list_files(paths, self._budget):
                if note:
                    found.append(Found(str(path), path, 0, Look(note=note)))
                    continue
                for number, member in enumerate(walk_file(path, self._budget, shown_as)):
                    found += self._look(path, number, member)
                if self._budget.is_spent:
                    found.append(Found(NOT_READ, Path(), 0, Look(note="not read: the import has reached its limit")))
                    break
        except TooMuch as trouble:
            found.append(Found(NOT_READ, Path(), 0, Look(note=f"not read: {trouble}")))
        found += [self._look_at_gathered(gathered) for gathered in self._series.close(self._host)]
        self._fill_commands(found)
        self._fill_days(found)
        if len(found) > 1:
            # Most files of an archive are not output of a tool.
            for file in found:
                missing = tuple(one for one in file.look.missing if one is not MissingOption.SPEC)
                file.look = replace(file.look, missing=missing)
        return found

    def _fill_commands(self, found: Sequence[Found]) -> None:
        """Set the commands of files that an archive has before those with their commands."""
        for file in found:
            command = self._commands.get(file.path.removesuffix(OUTPUT), "") if file.path.endswith(OUTPUT) else ""
            if command and file.spec is not None:
                file.look = replace(file.look, command=command)

    def _look(self, root: Path, number: int, member: Member) -> Iterator[Found]:
        self.path = member.path
        if member.source is None:
            yield Found(member.path, root, number, Look(note=member.note))
            return
        try:
            head = member.source.peek_text(HEAD_BYTES, MAX_HEAD_BYTES)
            note = self._own_file_note(member.path, head)
            if note is not None:
                if note:
                    yield Found(member.path, root, number, Look(note=note))
                return
            series = find_series_file(member.path, head) if self._options.spec is None else None
            if series is not None and series.note:
                yield Found(member.path, root, number, Look(note=series.note))
            elif series is not None:
                self.n_bytes += self._series.take(series, member.source)
            elif is_batchload(head):
                yield from self._look_at_sections(root, number, member, member.source)
            else:
                # An upload whose time is unknown has the instant 0.
                found = Found(member.path, root, number, Look(), modified_at=member.modified_at or None)
                yield from self._look_at_text(found, member.source, head)
        except (Unreadable, TooMuch, OSError) as trouble:
            yield Found(member.path, root, number, Look(note=str(trouble)))

    def _look_at_text(self, found: Found, source: Peekable, head: bytes) -> Iterator[Found]:
        """Yield a file that begins with `head`; one for each host where that is asked for."""
        command = self._commands.get(found.path.removesuffix(OUTPUT), "")
        look = look_at(head, found.path, self._options, is_all=len(head) < HEAD_BYTES, command=command)
        # Text that no reader knows, and no option names a spec.
        if self._keeper is not None and MissingOption.SPEC in look.missing and self._keeper.find_format(head):
            look = Look(artefact=self._keeper.find_format(head), command=command)
        found.look = look
        if self._options.is_each_host and look.spec is not None:
            yield from self._look_at_hosts(found, look.spec, source)
            return
        if found.is_loadable or look.spec is not None:
            self._hash(found, source)
        yield self._without_large_artefact(found)

    def _own_file_note(self, path: str, head: bytes) -> str | None:
        """Return the note about a file that the agent wrote beside outputs, "" for none. Missing: None for another file."""
        said = head.decode("utf-8", "replace").strip()
        if path.endswith(COMMAND) and len(head) <= MAX_COMMAND:
            # The agent's list of calls; it lies beside their output, and before it in a folder.
            self._commands[path.removesuffix(COMMAND)] = said
        if STANDARD_ERROR.fullmatch(path):
            return f"the tool's standard error: {shorten(said.splitlines()[0])}" if said else ""
        return "" if OWN_FILE.fullmatch(path) else None

    def _look_at_hosts(self, found: Found, spec: Spec, source: Peekable) -> Iterator[Found]:
        """Yield a file for each host that one tells of; lines of hosts without a name are the import's host's."""
        parts = HostParting(spec, found.timing, found.look.command, self._see).run(source)
        for part in parts:
            path = f"{found.path} ({part.host or 'no name'})" if len(parts) > 1 else found.path
            own = Found(path, Path(), 0, found.look, modified_at=found.modified_at, text=part.text, host=part.host or self._host)
            if len(parts) > 1 and not part.host:
                own.look = Look(note="lines of a host whose name they do not have: import them by themselves")
            else:
                self.hash_text(own, self._lengths.get(spec.name, ()) if own.host == self._host else ())
            yield own

    def _see(self, n_bytes: int) -> None:
        self._budget.charge(0)
        self.n_bytes += n_bytes

    @staticmethod
    def hash_text(found: Found, lengths: Sequence[int]) -> None:
        """Work out the hashes of a text again: `lengths` are those of earlier loads of its host."""
        assert found.text is not None
        content = _Content(lengths, None)
        source = found.text.open()
        while data := source.read(READ_BYTES):
            content.feed(data)
        content.close(found)

    def _look_at_gathered(self, gathered: Gathered) -> Found:
        """Look at the text of files that were put together."""
        found = Found(gathered.path, Path(), 0, Look(note=gathered.note), text=gathered.text)
        if gathered.note and gathered.host:
            return found
        source = Peekable(gathered.text.open())
        head = source.peek(HEAD_BYTES)
        look = look_at(head, gathered.path, replace(self._options, spec=gathered.spec), is_all=len(head) < HEAD_BYTES)
        found.look = replace(look, note=_join(gathered.note, look.note) if look.note else gathered.note)
        if found.look.spec is not None:
            self._hash(found, source)
        return found

    def _without_large_artefact(self, found: Found) -> Found:
        if found.look.artefact and self._keeper is not None and found.n_bytes > self._keeper.max_bytes:
            found.look = Look(note=f"{found.look.artefact}; {too_large_note(found.n_bytes, self._keeper.max_bytes)}")
        return found

    def _hash(self, found: Found, source: Peekable) -> None:
        """Read the file. One that ends too early is loaded up to its end, with a note; one that is too large is not."""
        content = self._content(found)
        try:
            while data := source.read(READ_BYTES):
                content.feed(data)
                self.n_bytes += len(data)
        except Unreadable as trouble:
            found.look = replace(found.look, note=f"{trouble}; loaded up to there")
        except TooMuch as trouble:
            found.look = Look(note=str(trouble))
            return
        content.close(found)

    def _content(self, found: Found) -> "_Content":
        if found.spec is None:
            return _Content((), None)
        is_open = found.look.needs_date or MissingOption.START in found.look.missing
        extent = _Extent(found.spec, found.look) if is_open and found.modified_at is not None else None
        return _Content(self._lengths.get(found.spec.name, ()), extent)

    def _look_at_sections(self, root: Path, number: int, member: Member, source: Peekable) -> Iterator[Found]:
        """Yield the sections of a BatchLOAD file, each like a file of its own."""
        splitter = Splitter()
        current: _SectionLook | None = None
        n_sections = 0
        is_over = False
        while not is_over:
            try:
                data = source.read(READ_BYTES)
            except (Unreadable, TooMuch):
                data = b""
            self.n_bytes += len(data)
            is_over = not data
            for section, part, ends in splitter.feed(data, is_final=is_over):
                if current is None:
                    n_sections += 1
                    name = f"{member.path}#{n_sections} {section.tags['STAT']}"
                    current = _SectionLook(
                        self, Found(name, root, number, Look(), begin=section.begin, modified_at=member.modified_at or None)
                    )
                current.feed(section, part)
                if ends:
                    yield current.close(section, is_cut=is_over)
                    current = None
        if not n_sections:
            yield Found(member.path, root, number, Look(note="tags of BatchLOAD, and nothing between them and END"))

    def look_at_section(self, head: bytes, found: Found, section: Section, *, is_all: bool) -> "_Content | None":
        """Set the section's look; return what takes its bytes, None when no reader can."""
        start_us, interval_us = times_of(section.tags, self._options.zone)
        # The output of a user's own add-on may look like anything; the name in its tag says what it is.
        stat = section.tags["STAT"].lower()
        named = stat if stat in load_catalogue().user_specs else None
        options = replace(
            self._options,
            spec=self._options.spec or named,
            is_first_real=self._options.is_first_real or is_first_real(section.tags),
            start_us=start_us if start_us is not None else self._options.start_us,
            interval_us=interval_us if interval_us is not None else self._options.interval_us,
        )
        found.look = look_at(head, f"{section.tags['STAT']}", options, is_all=is_all, command=section.tags.get("CMD", ""))
        if found.look.needs_date and start_us is not None:
            day = from_us(start_us).astimezone(require_zone(self._options.zone or "UTC")).date()
            missing = tuple(one for one in found.look.missing if one is not MissingOption.DATE)
            found.look = replace(found.look, timing=replace(found.timing, date=day), needs_date=False, missing=missing)
        return self._content(found) if found.spec is not None else None

    def _fill_days(self, found: Sequence[Found]) -> None:
        """Days of files that print clocks alone: from their names, the files beside them, or the time of their last change."""
        tzinfo = require_zone(self._options.zone or "UTC")
        folders: dict[str, list[Look]] = {}
        for file in found:
            folders.setdefault(file.path.rpartition("/")[0], []).append(file.look)
        for file in found:
            if file.look.is_order_guessed:
                file.look = _with_order(file)
            if not file.look.needs_date:
                continue
            day, how = day_in_name(file.path), "its name"
            if day is None:
                day, how = day_of_neighbours(file.look, folders[file.path.rpartition("/")[0]], tzinfo), "the files beside it"
            if day is None and self._options.takes_date_from_mtime:
                day, how = day_of_change(file, tzinfo), "the time of its last change"
            if day is None:
                is_forced = self._options.spec is not None
                file.look = replace(
                    file.look,
                    timing=replace(file.timing, date=None),
                    lacks_times=not is_forced,
                    note=_join(file.look.note, f"{'' if is_forced else NOT_LOADED}it {NO_DATE_NOTE}"),
                )
            else:
                note = _join(file.look.note, f"its first day is {day}, by {how}")
                missing = tuple(one for one in file.look.missing if one is not MissingOption.DATE)
                file.look = replace(file.look, timing=replace(file.timing, date=day), note=note, missing=missing)


def too_large_note(n_bytes: int, max_bytes: int) -> str:
    """Return why a file is no artefact."""
    return f"not stored as an artefact: it has {format_bytes(n_bytes)}, and an artefact has up to {format_bytes(max_bytes)}"


def _with_order(file: Found) -> Look:
    """Return the look of a file whose banner names one of two days, with the day that the file's name tells, or a note."""
    day = day_in_name(file.path)
    first_us = file.look.first_us
    first = from_us(first_us).date() if first_us is not None else None
    if day is not None and first is not None and (day.year, {day.month, day.day}) == (first.year, {first.month, first.day}):
        return replace(file.look, timing=replace(file.timing, date=day))
    return replace(file.look, note=_join(file.look.note, GUESSED_ORDER_NOTE))


def _join(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second


def day_of_change(file: Found, tzinfo: dt.tzinfo) -> dt.date | None:
    """Return the file's first day if its last line was written when it was changed last. Missing: None where that is unknown."""
    if file.modified_at is None:
        return None
    try:
        return dt.datetime.fromtimestamp(file.modified_at, tzinfo).date() - dt.timedelta(days=file.n_days)
    except (OverflowError, ValueError, OSError):
        return None


class _Content:
    """The bytes of one file going by."""

    def __init__(self, lengths: Sequence[int], extent: "_Extent | None") -> None:
        self._hash = hashlib.sha256()
        self._lengths = sorted(set(lengths))[:MAX_LENGTHS]
        self._next = 0
        self._extent = extent
        self.n_bytes = 0
        self.hashes: dict[int, bytes] = {}

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        at = 0
        while self._next < len(self._lengths) and self._lengths[self._next] <= self.n_bytes + len(data):
            stop = self._lengths[self._next] - self.n_bytes
            self._hash.update(data[at:stop])
            self.hashes[self._lengths[self._next]] = self._hash.copy().digest()
            at = stop
            self._next += 1
        self._hash.update(data[at:])
        self.n_bytes += len(data)
        if self._extent is not None:
            self._extent.feed(data)

    def close(self, found: Found) -> None:
        """Write down what came out."""
        found.end = found.begin + self.n_bytes
        found.hashes = self.hashes | {self.n_bytes: self._hash.digest()}
        if self._extent is not None:
            # The last line may wait for another that goes on.
            self._extent.feed(b"", is_final=True)
            found.n_days, found.span_us = self._extent.n_days, self._extent.span_us


class _SectionLook:
    """A section of a BatchLOAD file going by: its beginning is gathered before it can be identified."""

    def __init__(self, survey: Survey, found: Found) -> None:
        self._survey = survey
        self._found = found
        self._head = bytearray()
        self._is_known = False
        self._content: _Content | None = None

    def feed(self, section: Section, data: bytes) -> None:
        """Take the next bytes."""
        if not self._is_known:
            self._head += data
            if len(self._head) >= HEAD_BYTES:
                self._decide(section, is_all=False)
        elif self._content is not None:
            self._content.feed(data)

    def close(self, section: Section, *, is_cut: bool) -> Found:
        """Return the section, at its end."""
        if not self._is_known:
            self._decide(section, is_all=True)
        self._found.end = section.end
        if self._content is not None:
            self._content.close(self._found)
        host = section.tags.get("HOST", "")
        notes = [self._found.look.note, f"its tag HOST says {host[:200]}" if host else "", "no END" if is_cut else ""]
        self._found.look = replace(self._found.look, note="; ".join(note for note in notes if note))
        return self._found

    def _decide(self, section: Section, *, is_all: bool) -> None:
        self._is_known = True
        head = bytes(self._head)
        self._content = self._survey.look_at_section(head[:HEAD_BYTES], self._found, section, is_all=is_all)
        if self._content is not None:
            self._content.feed(head)
        self._head.clear()


class _Extent:
    """How long a file without days or without times goes on; it is read once for that."""

    def __init__(self, spec: Spec, look: Look) -> None:
        self._spec = spec
        self._timing = replace(look.timing, date=SOME_DAY)
        self._lacks_start = MissingOption.START in look.missing
        if self._lacks_start:
            interval_us = look.timing.interval_us or 1_000_000
            self._timing = replace(look.timing, start_us=SOME_INSTANT_US, interval_us=interval_us)
        self._command = look.command
        self._state: State = {}
        self._rest = b""
        self._offset = 0
        self._last_us: int | None = None

    def feed(self, data: bytes, *, is_final: bool = False) -> None:
        """Read the next bytes."""
        data = self._rest + data
        result = read(
            self._spec,
            data,
            state=self._state,
            offset=self._offset,
            is_final=is_final,
            timing=self._timing,
            command=self._command,
        )
        self._state, self._rest = result.state, data[result.n_taken :]
        self._offset += result.n_taken
        for block in result.blocks:
            times = block.time_us[(block.time_us >= 0) & (block.time_us < LATEST_US)]
            if len(times):
                self._last_us = max(self._last_us or 0, int(times.max()))

    @property
    def n_days(self) -> int:
        """How often the clocks pass midnight."""
        if self._lacks_start or self._last_us is None:
            return 0
        return max(0, (from_us(self._last_us).astimezone(require_zone(self._timing.zone or "UTC")).date() - SOME_DAY).days)

    @property
    def span_us(self) -> int | None:
        """The time from the first report to the last. Missing: None for a file with times, and without reports."""
        return self._last_us - SOME_INSTANT_US if self._lacks_start and self._last_us is not None else None
