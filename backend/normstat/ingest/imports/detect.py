"""Detect from the beginning of a file which tool printed it, and which options its times need."""

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from normstat.ingest.import_rows import MissingOption
from normstat.ingest.imports.archives import without_packing
from normstat.ingest.imports.import_options import ImportOptions
from normstat.stats.catalogue import load_catalogue, require_spec
from normstat.stats.engine.hosts import ANOTHER_HOST
from normstat.stats.engine.times.timeline import Timeline
from normstat.stats.file_names import command_in_name, words_in_name
from normstat.stats.guess import guess_spec, is_long_header
from normstat.stats.pattern import compile_pattern
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, NO_TIMING, LineKind, ReadResult, Timing
from normstat.stats.spec import Spec
from normstat.window import LATEST_US, from_us

HEAD_BYTES: Final = 1 << 16
# A report of JSON is one line, and may be longer.
MAX_HEAD_BYTES: Final = 1 << 20
# A tool's first header stands near the beginning, a summary (strace -c) at the end.
QUICK_BYTES: Final = 6144
QUICK_TAIL_BYTES: Final = 2048
# As good as a larger part, in a fourth of the time.
GUESSED_BYTES: Final = 1 << 14
MARKED_LINES: Final = 400
MAX_MARKED_LENGTH: Final = 4096
# Stands for a day that is not known yet.
SOME_DAY: Final = dt.date(2000, 1, 1)
SOME_INSTANT_US: Final = 946_684_800_000_000
SECONDS_A_DAY: Final = 86400
# OSWatcher calls these with an interval of 1 s and a count (`vmstat 1 3`, `iostat -xk 1 3`, `mpstat -P ALL 1 2`).
# Source: OSWatcher Black Box User's Guide (vmsub.sh, iosub.sh, mpsub.sh).
OSWATCHER_TOOLS: Final = frozenset({"vmstat", "iostat", "mpstat"})
OSWATCHER_INTERVAL_US: Final = 1_000_000
CALL: Final = re.compile(rb"^zzz +\*\*\*", re.MULTILINE)
UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
TEXT_BYTES: Final = 4096
# A log may have a hole of zeros where the system went down.
CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
MAX_CONTROL: Final = 0.1
SINCE_BOOT_NOTE: Final = (
    "nothing but reports about the time since boot, which are stored but are not samples: give each call an interval and a count, "
    "as in iostat -x 5 2, also in a loop"
)
NOT_LOADED: Final = "not loaded: "
GUESSED_ORDER_NOTE: Final = "its banner names one of two days, and the month was taken to be first: give --date if it is not"
NO_DATE_NOTE: Final = "prints clocks without a day: give --date"
# Options that may be missing, in the order in which they are tried, and what the file does then.
MISSING_NOTES: Final = {
    (MissingOption.INTERVAL,): "dates some of its reports only: give --interval",
    (MissingOption.START,): "prints no times: give --start",
    (MissingOption.START, MissingOption.INTERVAL): "prints no times: give --start and --interval",
    (MissingOption.ZONE,): "names a zone that has several meanings: give --zone",
}


# The day in a name, whole: not part of a longer number. OSWatcher writes web1_vmstat_26.11.21.0800.dat.
@dataclass(frozen=True, slots=True)
class Look:
    """The result of looking at the beginning of a file.

    `spec` is None where no reader can read it, `note` then says why. `first_us` is its first time, None where there is none; of a
    file that `needs_date` it is counted from SOME_DAY. With `lacks_times` it has no samples until an option says when it was
    recorded. `is_order_guessed`: its banner names one of two days, 04/08/17. `missing` are the options that would make samples of
    it. `artefact` is the format of a text that no spec reads, but that is kept as an artefact; "" for others.
    """

    spec: Spec | None = None
    timing: Timing = NO_TIMING
    needs_date: bool = False
    is_order_guessed: bool = False
    first_us: int | None = None
    lacks_times: bool = False
    note: str = ""
    command: str = ""
    missing: tuple[MissingOption, ...] = ()
    artefact: str = ""


def look_at(head: bytes, path: str, options: ImportOptions, *, is_all: bool, command: str = "") -> Look:
    """Look at the first HEAD_BYTES of a file, or its first line where that is longer; `is_all` when it has no more. The path's last
    parts may name the tool. `command` is the command line, where it is known.
    """
    if not head:
        return Look(note="empty")
    if options.spec is None and CONTROL.search(head[:TEXT_BYTES]) is not None:
        known = describe_binary(head, path)
        is_text = len(CONTROL.findall(head[:TEXT_BYTES])) <= MAX_CONTROL * len(head[:TEXT_BYTES])
        if known or not is_text:
            return Look(note=known or ("UTF-16; convert it to UTF-8 first" if head[:2] in UTF16 else "not text"))
    name = "/".join(without_packing(path).split("/")[-2:])
    spec = require_spec(options.spec) if options.spec is not None else _guess(head, name)
    if spec is None:
        return Look(note="not output of a known tool", missing=(MissingOption.SPEC,))
    if options.spec is None and spec.is_fallback and not _is_plainly(spec, head, name):
        return Look(
            note=f"many tools print text like this, {spec.name} among them; --spec {spec.name} loads it",
            missing=(MissingOption.SPEC,),
        )
    trial = _Trial(spec, head, command or command_of(path, spec), is_final=is_all)
    timing = Timing(zone=options.zone, is_first_real=options.is_first_real)
    result = trial.read(timing)
    if options.spec is None and not _is_read(result):
        note = f"not output of a known tool; most of it looks like {spec.name}; --spec {spec.name} loads it"
        return Look(note=note, missing=(MissingOption.SPEC,))
    return _look_at_times(trial, result, timing, options)


def _guess(head: bytes, name: str) -> Spec | None:
    """Return the spec of the tool that printed it.

    Most files of a sosreport have none, and a part of each is enough to see that.
    """
    is_long = len(head) > QUICK_BYTES + QUICK_TAIL_BYTES
    if is_long and b"\n" in head[:QUICK_BYTES] and not words_in_name(name) & _tools():
        begin = head[:QUICK_BYTES].rpartition(b"\n")
        end = head[-QUICK_TAIL_BYTES:].partition(b"\n")
        if guess_spec(begin[0] + begin[1] + end[2], name) is None:
            return None
    first = head[:GUESSED_BYTES].rpartition(b"\n")[0] + b"\n" if len(head) > GUESSED_BYTES else head
    spec = guess_spec(first, name)
    return spec if spec is not None or len(first) == len(head) else guess_spec(head, name)


def _tools() -> set[str]:
    return {spec.tool.lower() for spec in load_catalogue().specs.values()}


def _is_plainly(spec: Spec, head: bytes, name: str) -> bool:
    """Return whether the name says the tool of a spec that reads nearly anything, or a line bears one of its marks."""
    if spec.tool.lower() in words_in_name(name):
        return True
    lines = head.decode("utf-8", "replace").splitlines()[:MARKED_LINES]
    return any(compile_pattern(spec, mark).fullmatch(line[:MAX_MARKED_LENGTH]) for mark in spec.marks for line in lines)


def _is_read(result: ReadResult) -> bool:
    """Return whether there are more bytes of rows and events than of refused lines; those of another host are read, too."""
    n_bytes = result.accounts.n_bytes
    n_rows = n_bytes.get(LineKind.SAMPLE, 0) + n_bytes.get(LineKind.SINCE_BOOT, 0)
    n_rows += n_bytes.get(LineKind.STATE_CHANGE, 0) if result.events else 0
    if is_long_header(result):
        return True
    n_of_others = sum(line.n_bytes for line in result.rejected if line.reason == ANOTHER_HOST.reason)
    return bool(result.blocks or result.since_boot or result.events) and n_rows >= n_bytes.get(LineKind.REJECTED, 0) - n_of_others


def _look_at_times(trial: "_Trial", result: ReadResult, timing: Timing, options: ImportOptions) -> Look:
    """Find the options about times with which most rows have a time. Options without effect are left out."""
    interval_us = options.interval_us if options.interval_us is not None else trial.recorded_interval_us()
    tries = [replace(timing, interval_us=interval_us)] if interval_us is not None else []
    tries += [replace(other, date=SOME_DAY) for other in (timing, *tries)]
    if options.start_us is not None:
        tries.append(replace(timing, start_us=options.start_us, interval_us=options.interval_us))
    best, n_without = timing, _count_without(result)
    for other in tries:
        if not n_without:
            break
        found = trial.read(other)
        n_left = _count_without(found)
        if n_left < n_without:
            best, n_without, result = other, n_left, found
    possible = (block.time_us[(block.time_us >= 0) & (block.time_us < LATEST_US)] for block in result.blocks)
    firsts = [int(times.min()) for times in possible if len(times)]
    needs_date = best.date is not None
    is_order_guessed = not needs_date and Timeline.resume(result.state.get("times"), timing).is_order_guessed
    note = ""
    missing: tuple[MissingOption, ...] = (MissingOption.DATE,) if needs_date and options.date is None else ()
    firsts += [event.time_us for event in result.events if 0 <= event.time_us < LATEST_US]
    n_rows = sum(map(len, result.blocks)) + len(result.events)
    # A person who names the spec has looked at the file, and may want its rejected lines.
    lacks_times = 0 < n_without == n_rows and options.spec is None
    if n_without:
        how_many = "it" if n_without == n_rows else f"some of it ({n_without} of the first {n_rows} rows)"
        lacking = trial.find_missing(best, n_without)
        note = f"{NOT_LOADED if lacks_times else ''}{how_many} {MISSING_NOTES[lacking]}"
        missing = (*missing, *lacking)
    if trial.is_final and not n_rows and result.since_boot:
        note = SINCE_BOOT_NOTE
        missing = (*missing, MissingOption.FIRST_REAL)
    return Look(
        spec=trial.spec,
        timing=replace(best, date=options.date) if needs_date or is_order_guessed else best,
        needs_date=needs_date and options.date is None,
        is_order_guessed=is_order_guessed and options.date is None,
        first_us=min(firsts, default=None),
        lacks_times=lacks_times,
        note=note,
        command=trial.command,
        missing=missing,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """The beginning of a file, to be read with one timing and another."""

    spec: Spec
    head: bytes
    command: str
    is_final: bool

    def read(self, timing: Timing) -> ReadResult:
        return read(self.spec, self.head, state={}, offset=0, is_final=self.is_final, timing=timing, command=self.command)

    def find_missing(self, timing: Timing, n_without: int) -> tuple[MissingOption, ...]:
        """Return the fewest options with which the most rows would have a time."""
        best: tuple[MissingOption, ...] = (MissingOption.START, MissingOption.INTERVAL)
        n_least = n_without
        for options in MISSING_NOTES:
            known = replace(
                timing,
                zone="UTC" if MissingOption.ZONE in options else timing.zone,
                start_us=SOME_INSTANT_US if MissingOption.START in options else timing.start_us,
                interval_us=1_000_000 if MissingOption.INTERVAL in options else timing.interval_us,
            )
            n_left = _count_without(self.read(known))
            if n_left < n_least:
                best, n_least = options, n_left
        return best

    def recorded_interval_us(self) -> int | None:
        """Return the time between two reports of a call that a recorder made. Missing: None where no recorder did, or it is
        unknown.
        """
        is_known = self.spec.tool in OSWATCHER_TOOLS and CALL.search(self.head) is not None
        return OSWATCHER_INTERVAL_US if is_known else None


def _count_without(result: ReadResult) -> int:
    n_rows = sum(int((block.time_us == NO_TIME).sum()) for block in result.blocks)
    return n_rows + sum(event.time_us == NO_TIME for event in result.events)


def day_of_neighbours(look: Look, neighbours: Sequence[Look], tzinfo: dt.tzinfo) -> dt.date | None:
    """Return the day of a file with clocks alone, by those beside it in its folder whose days are known.

    They are taken to begin at about the same time.

    Missing: None when there are none, or when they are of several days.
    """
    if look.first_us is None:
        return None
    begin = from_us(look.first_us).astimezone(tzinfo)
    clock = begin.hour * 3600 + begin.minute * 60 + begin.second
    days: set[dt.date] = set()
    for other in neighbours:
        if other.first_us is None or other.needs_date:
            continue
        local = from_us(other.first_us).astimezone(tzinfo)
        ahead = clock - (local.hour * 3600 + local.minute * 60 + local.second)
        # Around midnight the neighbour may have begun on the other side of it.
        turns = round(ahead / SECONDS_A_DAY)
        days.add(local.date() - dt.timedelta(days=turns))
    return days.pop() if len(days) == 1 else None


def command_of(path: str, spec: Spec) -> str:
    """Return the command line that the name of a file is: `sos_commands/sysstat/iostat_-y_-tx_5`, or ends with: `iostat-xy.out`.

    Missing: "" elsewhere.
    """
    parts = without_packing(path).split("/")
    return parts[-1].replace("_", " ") if "sos_commands" in parts[:-1] else command_in_name(parts[-1], spec.tool)


# Data of aperf record: what it copied is packed in the format of its release.
APERF: Final = re.compile(
    r"(?:^|/)(?:aperf_stats|cpu_utilization|diskstats|efa_stat|ena_stat|interrupts|kernel_config|memalloc|meminfo|meta_data|netstat|"
    r"numastat|perf_profile|perf_stat|processes|sysctl|systeminfo|vmstat)(?:_[\w.:-]*)?\.bin$",
    re.ASCII,
)
BELOW: Final = re.compile(r"(?:^|/)store/(?:data|index)_\d+$", re.ASCII)
SIGNATURES: Final = (
    (b"\xef\xbe\xed\xfe", "a recording of atop: import what `atop -P ALL -r FILE` prints, by atop of the host's release"),
    (b"PERFILE2", "a recording of perf: import what `perf script -i FILE` or `perf report --stdio -i FILE` prints"),
    (b"LPKSHHRH", "a journal of systemd: import what `journalctl -o short-iso --file FILE` prints"),
    (b"RRD\0", "a round-robin database: it holds means, not samples; import what the collector writes as CSV or JSON"),
)
NAMES: Final = (
    (
        APERF,
        "data of aperf record, which only aperf of its release reads: record with `normstat-agent collect`, sar or atop instead",
    ),
    (BELOW, "the store of below: import what `below dump system -O csv -b BEGIN -e END` and its other commands print"),
)


def describe_binary(head: bytes, path: str) -> str:
    """Return the tool of a binary file, and the command to run instead. Missing: "" where the tool is unknown.

    >>> describe_binary(b"PERFILE2", "perf.data")[:19], describe_binary(b"\\x7fELF", "a.out")
    ('a recording of perf', '')
    """
    found = [note for signature, note in SIGNATURES if head.startswith(signature)]
    found += [note for name, note in NAMES if name.search(path) is not None]
    return next(iter(found), "")
