"""The base of every reader: splits bytes into lines and accounts for each once; handles times, blocks of rows and state.

The engine keeps the promises of every reader: each byte is accounted for once, any pieces give the same samples, a line longer
than LINE_LIMIT costs bounded memory, and nothing that a line holds makes it raise. A reader says what one line is (`take_bytes`).
One that can read many lines at once does so in `take_many`; the engine reads all others line by line. One that knows folded lines
puts them together in `join`: lines whose meaning depends on the next one are left until that has come.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Generic, TypeVar, cast

from normstat.stats.engine.ahead import MORE, Ahead, Joined, More
from normstat.stats.engine.block import BlockBuilder
from normstat.stats.engine.hosts import ANOTHER_HOST, MAX_LABEL, SIGN, HostHeading, Hosts, HostSource, is_session_line
from normstat.stats.engine.ledger import Ledger
from normstat.stats.engine.line_prefix import (
    FORM_OF,
    MAX_ALIKE,
    MAX_BEFORE,
    NO_SINCE_BOOT,
    FormKind,
    LinePrefix,
    PrefixForm,
    Undecided,
    find_form,
)
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.report_sums import ReportSums
from normstat.stats.engine.shared_text import TextWindow
from normstat.stats.engine.terminal import screens, shown
from normstat.stats.engine.times.calls import (
    RECORDER_HEAD,
    RECORDER_LINES,
    Calls,
    interval_in_command,
    omits_since_boot,
    recorded_interval,
)
from normstat.stats.engine.times.timeline import MICRO, Timeline
from normstat.stats.engine.times.timestamps import Timestamp
from normstat.stats.records import NO_TIME, LineEvent, LineKind, ReadResult, State, Timing, number_of
from normstat.stats.spec import Field, Layout, Spec, Stat
from normstat.stats.translated_lines import read_translations

LINE_LIMIT: Final = 1 << 20
# A kind of event, fact_words.EventKind has all of them.
REBOOT: Final = "reboot"
RESTARTED: Final = "Restarted"
TOO_LONG: Final = "line longer than 1 MiB"
CUT_OFF: Final = "cut off: the last line has no newline and may be incomplete"
CONTROLLED: Final = Rejected("control characters: not the output of a tool")
CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# The mark of UTF-8 at the beginning of a file, and blanks that a browser made unbreakable: one alone may be part of a name.
BOM: Final = b"\xef\xbb\xbf"
DISGUISED: Final = re.compile(rb"\xef\xbb\xbf|\xc2\xa0[ \t]|[ \t]\xc2\xa0|(?:\xc2\xa0){2}")
NO_BREAK: Final = b"\xc2\xa0"
# Mail quotes with these, once for each answer.
QUOTE: Final = re.compile(rb"(?:> ?)+")

LayoutT = TypeVar("LayoutT", bound=Layout)


def clean_line(raw: bytes, *, may_be_quoted: bool = True) -> bytes:
    """Return a line as its tool printed it: without line end, colours, and what terminals, mail and browsers did to it."""
    line = raw.removesuffix(b"\r")
    if not line.isascii() and DISGUISED.search(line) is not None:
        line = line.removeprefix(BOM).replace(NO_BREAK, b" ")
    if line[:1] == b">" and may_be_quoted:
        line = QUOTE.sub(b"", line, count=1)
    return shown(line) if b"\x1b" in line or b"\r" in line or b"\x0f" in line else line


def decode_line(line: bytes) -> str:
    """Return the text of a line, as tools print it without translations."""
    return line.decode("utf-8", "backslashreplace")


class LineEngine(Generic[LayoutT]):
    """One call of a reader. For readers: `spec`, `layout`, `command`, `offset` of the piece in the stream, `timing`, `timeline`,
    `has_zone`, `ledger`, `events` (what lines tell that happened), `calls`, `omits_since_boot` (the first report is like all
    others). `timing` has the interval of a tool that the agent calls repeatedly, where its command line says it.
    """

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        self.spec = spec
        # The catalogue parsed it as the LAYOUT of this reader.
        self.layout = cast("LayoutT", spec.layout)
        self.command = command
        self.offset = offset
        self.calls = Calls(command, state.get("call"))
        if state.get("gap") is True:
            self.calls.forget_line()
        if self.calls.is_loop and timing.interval_us is None:
            interval_s = interval_in_command(command, spec.tool)
            timing = replace(timing, interval_us=round(interval_s * MICRO) if interval_s is not None else None)
        interval_us = state.get("interval")
        if isinstance(interval_us, int) and timing.interval_us is None:
            timing = replace(timing, interval_us=interval_us)
        self._own_interval_us = interval_us if isinstance(interval_us, int) else None
        self.timing = timing
        letter = getattr(spec.layout, "omit_option", "")
        self.omits_since_boot = timing.is_first_real or omits_since_boot(letter, command, spec.tool)
        self.has_zone = timing.zone is not None
        self.translations = read_translations(spec.translations) if spec.translations else None
        self.timeline = Timeline.resume(state.get("times"), timing)
        # The host of an agent's stream is known, and its lines have no prefix.
        self._hosts = None if timing.is_live else Hosts(state.get("hosts"), reads_files=self.reads_files)
        self._seeks_headings = self._hosts is not None and not self.takes_any_text and not spec.is_user_made
        form = state.get("prefix")
        self._prefix = LinePrefix(FORM_OF[form]) if isinstance(form, str) and form in FORM_OF else None
        self._may_find_prefix = form is None and not timing.is_live and not spec.is_user_made and bool(self.prefix_kinds)
        if self._prefix is not None and self._prefix.form.name in NO_SINCE_BOOT:
            self.omits_since_boot = True
        # Whether a terminal was recorded on which a tool draws one screen after the other, leaving out what stays.
        self.is_screen = state.get("screen") is True
        # The time that another program put before the present line.
        self.prefix_us = NO_TIME
        self.ledger = Ledger(number_of(state.get("line_no"), 0))
        self.events: list[LineEvent] = []
        # Where the lines of the next piece stand in such a text. None: it is read alone.
        self.window: TextWindow | None = None
        self._is_in_long_line = state.get("long") is True
        self._is_final = False
        self._report_sums = self._open_sums(state)
        # Keyed by the identity of the fields, which readers keep the same for one header: hashing them takes long.
        self._builders: dict[tuple[bool, int], BlockBuilder] = {}

    # Whether the reader itself makes the rows of summaries (stats with `summary_of`).
    makes_summaries = False
    # Whether the reader puts folded lines together.
    joins_lines = False
    # Whether the reader can use a text that pieces of several streams share.
    shares_text = False
    # The kinds of prefix that lines may have, because the tool's own lines do not begin like that.
    prefix_kinds: frozenset[FormKind] = frozenset()
    # Whether samples are from several files each, whose names stand above them.
    reads_files = False
    # Whether any word may be the name of what is below it.
    takes_any_text = False
    # Whether an epoch on the first line is a script's, because the tool itself prints none.
    has_epoch_calls = False
    # False for tools whose own lines may begin with ">".
    may_be_quoted = True

    # Implemented by a reader.

    def take_bytes(self, line: bytes, offset: int) -> Outcome:
        """Return what a line is, or why it cannot be read.

        It has no line end, no colours and no control characters. Blank lines come too.
        """
        raise NotImplementedError

    def take_many(self, data: bytes, begin: int, end: int) -> int | None:  # noqa: ARG002 (readers look at it)
        """Read the whole lines data[begin:end] at once, and book them. Return the place up to which they are taken.

        Missing: None, without any change, where they must be read one by one.
        """
        return None

    def join(self, line: bytes, ahead: Ahead) -> Joined | More | None:  # noqa: ARG002 (readers look at it)
        """Return the line with the next ones that belong to it. Missing: None for a line that was not folded."""
        return None

    def begin_call(self) -> None:
        """Start a new call of the tool: complete what is open; the next lines begin a run."""
        raise NotImplementedError

    def see_call(self, stamp: Timestamp) -> None:
        """Start a new call of the tool at the time that a recorder wrote before it; the previous call is over."""
        raise NotImplementedError

    def may_be_data(self, line: bytes) -> bool:  # noqa: ARG002 (readers look at it)
        """Return whether a line that is one number can be a value that the tool printed."""
        return False

    def clean(self, line: bytes) -> bytes:
        """Return the line without terminal control sequences (colours are removed already)."""
        return line

    def see_rejected(self) -> None:
        """Note that a line was rejected."""

    def is_complete(self, line: bytes, offset: int) -> bool:  # noqa: ARG002 (readers look at it)
        """Return whether a last line without a newline, which is not blank, is complete; its last number may have lost digits."""
        return False

    def finish(self) -> None:
        """Complete a sample of several lines at the end of the stream."""

    def open_lines(self) -> tuple[int, ...]:
        """Return the offsets of lines that have rows and may get one more in the next piece."""
        return ()

    def let_go(self) -> None:
        """Drop what refers back to this object: the arrays of a piece that was read must not wait for the garbage collector."""

    def state(self) -> State:
        """Return what the reader must remember for the next piece, as JSON values of bounded size."""
        raise NotImplementedError

    # Used by a reader.

    def decode(self, line: bytes) -> str:
        """Return the text of a line."""
        return decode_line(line) if self.translations is None else self.translations.decode(line)

    def builder(self, stat: Stat, fields: Sequence[Field], *, is_since_boot: bool) -> BlockBuilder:
        """Return the builder of the block of these fields."""
        key = (is_since_boot, id(fields))
        builder = self._builders.get(key)
        if builder is None:
            builder = self._builders[key] = BlockBuilder(stat, tuple(fields))
        return builder

    def see_restart(self, time_us: int, offset: int) -> None:
        """Note that the host was restarted, if the time is known. Some tools say so once for each of their tables."""
        if time_us != NO_TIME:
            self.events.append(LineEvent(offset, time_us, NO_TIME, REBOOT, "", RESTARTED))

    def read_line(self, data: bytes, begin: int, end: int) -> int:
        """Read the line that begins at data[begin], with those that belong to it, and book them. `end` is the place after its
        newline, or the end of the stream. Return the place after the last line taken: `begin` when more lines must come first.
        """
        raw = data[begin:end].removesuffix(b"\n")
        if self._seeks_headings and len(raw) <= MAX_LABEL:
            stop = self._take_host_heading(raw, data, begin, end)
            if stop is not None:
                return stop
        is_marked = self._prefix is not None or self.is_of_another_host
        if not self.joins_lines or is_marked or end - begin > LINE_LIMIT:
            self._read_whole(raw, begin, end - begin)
            return end
        line = self._clean(raw)
        ahead = Ahead(data, end, self._clean, LINE_LIMIT, is_final=self._is_final)
        joined = None if CONTROL.search(line) is not None else self.join(line, ahead)
        if joined is not None and joined is not MORE and self._seeks_headings:
            joined = self._without_heading(joined, ahead)
        if joined is None:
            self._read_whole(raw, begin, end - begin)
            return end
        if joined is MORE:
            return begin
        stop = ahead.end(joined.n_lines - 1)
        self._read_joined(joined, begin, data[begin:stop])
        return stop

    def _take_host_heading(self, raw: bytes, data: bytes, begin: int, end: int) -> int | None:
        """Take a heading that names a host. Return the place after it: `begin` when more lines must come first.

        Missing: None for any other line.
        """
        hosts, line = self._hosts, self._clean(raw)
        if hosts is None or not hosts.may_be_heading(line):
            return None
        if self._prefix is not None:
            self._see_prefix(self._prefix, raw)
        ahead = Ahead(data, end, self._clean, LINE_LIMIT, is_final=self._is_final)
        n_lines = hosts.take_heading(line, ahead)
        if n_lines is MORE:
            return begin
        if not n_lines:
            return None
        if not hosts.is_other:
            self.begin_call()
        at = begin
        for number in range(n_lines):
            stop = ahead.end(number)
            if hosts.is_other:
                self.ledger.reject(data[at:stop].rstrip(b"\r\n"), self.offset + at, stop - at, ANOTHER_HOST.reason)
            else:
                self.ledger.book(LineKind.HEADER, stop - at)
            at = stop
        return at

    def _without_heading(self, joined: Joined, ahead: Ahead) -> Joined | More | None:
        """Return the folded line. Missing: None where a name in it is the heading of a host: it was not folded."""
        for number in range(1, joined.n_lines):
            line, below = ahead.line(number), ahead.line(number + 1)
            if line is None or below is None:
                return MORE
            if self._hosts is not None and self._hosts.is_heading(line, below):
                return None
        return joined

    def _read_whole(self, raw: bytes, at: int, n_bytes: int) -> None:
        """Read one line and book it; `at` is its place in the piece, `n_bytes` counts its newline."""
        if n_bytes > LINE_LIMIT:
            self.ledger.reject(raw, self.offset + at, n_bytes, TOO_LONG)
            return
        *others, last = screens(raw) if b"\x1b[" in raw else (raw,)
        for part in others:
            self.is_screen = True
            self._read_part(part, at, len(part), 0)
            at += len(part)
            n_bytes -= len(part)
        self._read_part(last, at, n_bytes, 1)

    def _read_part(self, raw: bytes, at: int, n_bytes: int, n_lines: int) -> None:
        """Read what a line shows on one screen."""
        offset = self.offset + at
        if self._prefix is not None:
            self._see_prefix(self._prefix, raw)
        line = self._clean(raw)
        if CONTROL.search(line) is not None:
            found: Outcome = CONTROLLED
        else:
            found = self._take_host(line) or self._take_call(line) or self._take_recorder(line) or self.take_bytes(line, offset)
            if isinstance(found, Rejected) and found is not ANOTHER_HOST and is_session_line(line, self.spec.tool):
                found = LineKind.IGNORED
        if isinstance(found, LineKind):
            self.ledger.book(found, n_bytes, n_lines)
        else:
            # A rejected line is stored as the tool printed it.
            self.see_rejected()
            self.ledger.reject(raw.removesuffix(b"\r"), offset, n_bytes, found.reason, n_lines)

    def _read_joined(self, joined: Joined, at: int, raw: bytes) -> None:
        """Read a line that was folded and book its parts."""
        offset = self.offset + at
        if joined.reason:
            found: Outcome = Rejected(joined.reason)
        elif CONTROL.search(joined.line) is not None:
            found = CONTROLLED
        elif raw.endswith(b"\n") or self.is_complete(joined.line, offset):
            found = self.take_bytes(joined.line, offset)
        else:
            found = Rejected(CUT_OFF)
        if isinstance(found, LineKind):
            self.ledger.book(found, len(raw), joined.n_lines)
        else:
            self.see_rejected()
            self.ledger.reject(raw.rstrip(b"\r\n"), offset, len(raw), found.reason, joined.n_lines)

    @property
    def is_of_another_host(self) -> bool:
        """Whether the present lines are of another host than the first ones: each is rejected."""
        return self._hosts is not None and self._hosts.is_other

    def omit_since_boot(self) -> None:
        """Take the first report for one like all others."""
        self.omits_since_boot = True

    def take_interval(self, interval_us: int) -> None:
        """Take the time between two reports of a call from what a recorder said."""
        self.timing = replace(self.timing, interval_us=interval_us)
        self._own_interval_us = interval_us

    def may_name_hosts(self, data: bytes) -> bool:
        """Return whether a line of a text of files of /proc may name a host: then each is read alone."""
        return self._hosts is not None and SIGN.search(data) is not None

    def is_another_host(self, name: str) -> bool:
        """Return whether the host that a line says it is from is another one than the first one of the file."""
        return self._hosts is not None and self._hosts.is_line_of_another(name)

    @property
    def has_prefix(self) -> bool:
        """Whether another program put something before every line."""
        return self._prefix is not None

    # Internals.

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""
        self._is_final = is_final
        begin = self._skip_long_line(data) if self._is_in_long_line else 0
        end = data.rfind(b"\n", begin) + 1
        form, whole = self._find_prefix(data, begin) if self._may_find_prefix else (None, len(data))
        if form is not None:
            begin = self._take_lines(data, begin, whole) if whole > begin else begin
            self._prefix, whole = LinePrefix(form), len(data)
            if form.name in NO_SINCE_BOOT:
                self.omit_since_boot()
        if min(end, whole) > begin:
            begin = self._take_lines(data, begin, min(end, whole))
        if whole < len(data):
            return self._end_piece(begin)
        if begin >= end and len(data) - begin > LINE_LIMIT:
            self.ledger.reject(data[begin : begin + LINE_LIMIT], self.offset + begin, len(data) - begin, TOO_LONG)
            self._is_in_long_line = not is_final
            begin = len(data)
        elif is_final and begin < len(data):
            self._take_last(data[begin:], begin)
            begin = len(data)
        if is_final:
            self.finish()
        return self._end_piece(begin)

    def _end_piece(self, n_taken: int) -> ReadResult:
        result = self._result(n_taken, is_final=self._is_final)
        self.let_go()
        return result

    def _find_prefix(self, data: bytes, begin: int) -> tuple[PrefixForm | None, int]:
        """Find the form of prefix that lines have. Return it with the place of the first of them, or None with the place up to
        which lines may be taken: more must come first for the others.
        """
        n_left = MAX_BEFORE - self.ledger.line_no
        lines = data[begin:].split(b"\n", n_left + MAX_ALIKE)
        # Text after the last newline is whole when nothing follows, and so is the rest of a long piece.
        is_all = self._is_final or len(lines) > n_left + MAX_ALIKE
        texts = [
            clean_line(line[:LINE_LIMIT], may_be_quoted=self.may_be_quoted) for line in lines[: None if self._is_final else -1]
        ]
        place = begin
        for at in range(min(n_left, len(texts))):
            found = find_form(texts, at, self.prefix_kinds, n_before=self.ledger.line_no, is_all=is_all)
            if found is Undecided.UNDECIDED:
                return None, place
            if isinstance(found, PrefixForm):
                self._may_find_prefix = False
                return found, place
            place += len(lines[at]) + 1
        self._may_find_prefix = self._may_find_prefix and len(texts) < n_left
        return None, len(data)

    def _see_prefix(self, prefix: LinePrefix, raw: bytes) -> None:
        """Note the time and the host before a line."""
        line = clean_line(raw, may_be_quoted=self.may_be_quoted)
        tag, host = prefix.names(line)
        if self._hosts is not None and (tag or host):
            self._hosts.see(HostSource.PREFIX, tag or host)
        timeline = self.timeline
        known_s = timeline.last_s if timeline.last_s is not None else timeline.day_s
        stamp = prefix.time(line, known_s)
        if stamp is None:
            self.prefix_us = NO_TIME
        elif stamp.offset_s is not None:
            # Printed by another program: the tool's own times may be in another zone.
            self.prefix_us = round((stamp.seconds - stamp.offset_s) * MICRO)
        else:
            self.prefix_us = timeline.stamp_us(stamp)

    def _take_host(self, line: bytes) -> Outcome | None:
        """Return what the line is if it only names a host, or the reason why it is not read: it is of another host than the first.

        Missing: None for a line that the reader takes.
        """
        hosts = self._hosts
        if hosts is None:
            return None
        found = hosts.take(line)
        if hosts.is_other:
            return ANOTHER_HOST if line.strip() else LineKind.IGNORED
        if found is HostHeading.CALL:
            self.begin_call()
        return None if found is None else LineKind.HEADER

    def _take_call(self, line: bytes) -> LineKind | None:
        """Return the kind of a line that a recorder wrote before it called the tool. Missing: None for any other line."""
        is_number = line.isdigit()
        is_first = is_number and self.has_epoch_calls and self.ledger.line_no == 0
        stamp = self.calls.take(line, may_be_data=is_number and self.may_be_data(line), is_first=is_first)
        if stamp is None:
            return None
        self._see_interval(line)
        if self.omits_since_boot and self.timing.interval_us is not None and self.calls.is_loop:
            # The tool waits for its first interval before it prints.
            stamp = replace(stamp, seconds=stamp.seconds + self.timing.interval_us / MICRO)
        self.see_call(stamp)
        return LineKind.TIMESTAMP

    def _take_recorder(self, line: bytes) -> LineKind | None:
        """Return the kind of a line that a recorder wrote about itself. Missing: None for any other line."""
        if self.ledger.line_no >= RECORDER_LINES or line[:1] != b"#" or RECORDER_HEAD.fullmatch(line) is None:
            return None
        self._see_interval(line)
        return LineKind.IGNORED

    def _see_interval(self, line: bytes) -> None:
        seconds = recorded_interval(line) if self.timing.interval_us is None else None
        if seconds is not None:
            self.take_interval(seconds * MICRO)

    def _skip_long_line(self, data: bytes) -> int:
        """Book the rest of a line that is too long."""
        newline = data.find(b"\n")
        n_bytes = len(data) if newline < 0 else newline + 1
        self.ledger.book_rest(n_bytes)
        self._is_in_long_line = newline < 0
        return n_bytes

    def _take_lines(self, data: bytes, begin: int, end: int) -> int:
        """Take the whole lines data[begin:end], and return the place after the last one taken."""
        taken = None if self.has_prefix or self.is_of_another_host else self.take_many(data, begin, end)
        if taken is not None:
            return taken
        if self.joins_lines or self._seeks_headings:
            while begin < end:
                stop = self.read_line(data, begin, data.index(b"\n", begin) + 1)
                if stop == begin:
                    break
                begin = stop
            return begin
        for line in data[begin : end - 1].split(b"\n"):
            self._read_whole(line, begin, len(line) + 1)
            begin += len(line) + 1
        return begin

    def _take_last(self, raw: bytes, at: int) -> None:
        """Take a last line without a newline, if its end cannot be missing."""
        line = self._clean(raw)
        if not line.strip() or self.is_complete(line, self.offset + at):
            self._read_whole(raw, at, len(raw))
        else:
            self.ledger.reject(raw.removesuffix(b"\r"), self.offset + at, len(raw), CUT_OFF)

    def _clean(self, raw: bytes) -> bytes:
        line = clean_line(raw, may_be_quoted=self.may_be_quoted)
        return self.clean(line if self._prefix is None else self._prefix.strip(line))

    def _open_sums(self, state: State) -> list[ReportSums]:
        """Return the sums of the summaries that the spec has."""
        known = state.get("sums")
        kept = known if isinstance(known, dict) else {}
        is_after_gap = state.get("gap") is True
        summaries = [] if self.makes_summaries else [stat for stat in self.spec.stats if stat.summary_of]
        return [ReportSums(stat, kept.get(stat.name), is_after_gap=is_after_gap) for stat in summaries]

    def _add_sums(self, *, is_final: bool) -> None:
        """Add the rows of the summaries, from those of the processes."""
        for sums in self._report_sums:
            source = sums.stat.summary_of
            found = [builder for (is_boot, _), builder in self._builders.items() if not is_boot and builder.stat.name == source]
            builder_of = functools.partial(self.builder, is_since_boot=False)
            sums.add([block for builder in found for block in builder.build()], builder_of)
            if is_final:
                sums.close(builder_of)

    def _result(self, n_taken: int, *, is_final: bool) -> ReadResult:
        """Return everything gathered."""
        self._add_sums(is_final=is_final)
        # Samples of one line are in the order of their stats, independent of the other lines of the piece.
        builders = list(self._builders.items())
        if len(builders) > 1:
            order = [stat.name for stat in self.spec.stats]
            builders.sort(key=lambda item: (order.index(item[1].stat.name), item[1].keys))
        built = [(is_since_boot, block) for (is_since_boot, _), builder in builders for block in builder.build()]
        common: State = {
            "line_no": self.ledger.line_no,
            "long": self._is_in_long_line,
            "times": self.timeline.to_state(),
            **self.calls.to_state(),
        }
        hosts = self._hosts.to_state() if self._hosts is not None else None
        if hosts is not None:
            common["hosts"] = hosts
        if self._prefix is not None or not self._may_find_prefix:
            common["prefix"] = self._prefix.form.name if self._prefix is not None else ""
        if self.is_screen:
            common["screen"] = True
        if self._own_interval_us is not None:
            common["interval"] = self._own_interval_us
        if self._report_sums:
            common["sums"] = {sums.stat.name: sums.to_state() for sums in self._report_sums}
        return ReadResult(
            blocks=tuple(block for is_since_boot, block in built if not is_since_boot),
            since_boot=tuple(block for is_since_boot, block in built if is_since_boot),
            rejected=tuple(self.ledger.rejected),
            accounts=self.ledger.close(),
            state=common | self.state(),
            n_taken=n_taken,
            events=tuple(self.events),
            open_lines=self.open_lines(),
        )
