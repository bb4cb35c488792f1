"""mcelog: machine check events, one sample and one mark in the graphs each, and the counters of its daemon (--client).

    Hardware event. This is not a software error.
    MCE 0
    CPU 1 BANK 8
    TIME 1333577216 Wed Apr  4 15:06:56 2012
    MCA: MEMORY CONTROLLER RD_CHANNEL0_ERR
    STATUS 8c0000400001009f MCGSTATUS 0

Whether an error was corrected is bit 61 (UC) of its status.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"MCE 0\\nCPU 1 BANK 8\\nTIME 1333577216 Wed Apr  4 15:06:56 2012\\nSTATUS 8c0000400001009f MCGSTATUS 0\\n"
>>> (block,) = read(require_spec("mcelog"), text, state={}, offset=0, is_final=True).blocks
>>> block.instances, block.time_us.tolist(), [column.tolist() for column in block.values]
(['CPU 1 BANK 8'], [1333577216000000], [[1], [1], [0]])
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line, LineReader
from normstat.stats.engine.outcome import Outcome, Rejected
from normstat.stats.engine.times.bursts import Bursts
from normstat.stats.fact_words import EventKind
from normstat.stats.records import NO_TIME, LineEvent, LineKind, State
from normstat.stats.spec import Layout, Stat

BEGIN: Final = re.compile(r"(?:MCE \d+|Hardware event\. This is not a software error\.|HARDWARE ERROR\.? .*)")
PLACE: Final = re.compile(
    r"CPU (?P<cpu>\d{1,6}) (?:BANK (?P<bank>\d{1,6})|(?P<old>\d{1,6}) (?P<unit>[a-z][a-z ]{2,30}?))(?: TSC .*)?", re.ASCII
)
TIME: Final = re.compile(r"TIME (?P<epoch>\d{9,10})(?: .*)?", re.ASCII)
STATUS: Final = re.compile(r"STATUS (?P<status>[0-9a-f]{1,16})(?: .*)?")
CAUSE: Final = re.compile(r"MCA: (?P<cause>.{1,120})")
SOCKET: Final = re.compile(r".*\bSOCKETID (?P<socket>\d{1,6}).*", re.ASCII)
# Where an error in memory happened, as newer processors report it.
WHERE: Final = re.compile(r"Memory (?P<what>DIMM|channel) ID of error: (?P<number>\d{1,6})", re.ASCII)
# --client: the counters of a memory module.
MODULE: Final = re.compile(r"SOCKET \d+ (?:CHANNEL \S+ )?(?:DIMM \S+)?.{0,60}", re.ASCII)
GROUP: Final = re.compile(r"(?P<kind>corrected|uncorrected) memory errors:")
COUNTER: Final = re.compile(r"(?P<n>\d{1,18}) (?P<span>total|in \d+\w)", re.ASCII)
DETAIL: Final = re.compile(
    r"(?:MISC|ADDR|TSC|MCG\w*|MCi\w*|MCA|STATUS|ECC|CPUID|Transaction|Threshold|Error|Corrected|Uncorrected|Processor|Please|This"
    r"|Memory|Family|mcelog|Northbridge|(?:\.\.)?bit\d+|bus error|memory/cache|generic|Data|Instruction|Level|TLB|Large|LINK|Bus"
    r"|Internal|Unknown|SYND|IPID|PPIN|MICROCODE|RIP|Run the above|WARNING|Fallback|corrected|Kernel|Location|PROCESSOR"
    r"|Timeout|Power|Per page|DIMM)\b.*"
)
UNCORRECTED: Final = 1 << 61
MICRO: Final = 1_000_000
MAX_LINE: Final = 1000


@dataclass(frozen=True)
class McelogLayout(Layout):
    """The stats of errors, and of memory modules."""

    events: Stat
    memory: Stat


LAYOUT: Final = McelogLayout


class Reader(LineReader[McelogLayout]):
    """One call of the reader."""

    def load(self, own: State) -> None:
        """Restore the current event or memory module, and the position of its first line."""
        self._events, self._memory = self.layout.events, self.layout.memory

        def texts(key: str) -> dict[str, str]:
            found = own.get(key)
            return {str(name): str(word) for name, word in found.items()} if isinstance(found, dict) else {}

        self._event, self._module = texts("event"), texts("module")
        self._kind = str(own.get("kind", ""))
        self._at = int(str(own.get("at", 0)))
        self._is_open = own.get("is_open") is True
        self._bursts = Bursts(own.get("bursts"))

    def save(self) -> State:
        """Return the state as JSON values."""
        return {
            "event": dict(self._event),
            "module": dict(self._module),
            "kind": self._kind,
            "at": self._at,
            "is_open": self._is_open,
            "bursts": self._bursts.to_state(),
        }

    def begin_call(self) -> None:
        """Complete the event; the next counters belong to a new report."""
        self._close()
        self._is_open = False

    def finish(self) -> None:
        """Complete the event."""
        self._close()

    def take_line(self, line: Line) -> Outcome:
        """Return a line of an event or of a module's counters."""
        text = line.text.strip()
        if not text or text == "Memory errors":
            return LineKind.IGNORED
        if len(text) > MAX_LINE:
            return Rejected("longer than any line of mcelog")
        if BEGIN.fullmatch(text) is not None:
            if "place" in self._event or self._module:
                self._close()
            if not self._event:
                self._event, self._at = {"begun": "1"}, line.offset
            return LineKind.SAMPLE
        taken = self._take_event(text) if self._event else None
        if taken is None:
            taken = self._take_module(text, line.offset)
        if taken is not None:
            return taken
        if DETAIL.fullmatch(text) is not None:
            return LineKind.SAMPLE if self._event else LineKind.IGNORED
        if self.see_time_line(text):
            self.begin_call()
            return LineKind.TIMESTAMP
        return Rejected("not a line of mcelog")

    def _take_event(self, text: str) -> LineKind | None:
        event = self._event
        if (found := PLACE.fullmatch(text)) is not None:
            unit = f" {found['unit']}" if found["unit"] else ""
            event["place"] = f"CPU {found['cpu']} BANK {found['bank'] or found['old']}{unit}"
        elif (found := TIME.fullmatch(text)) is not None:
            event["time"] = found["epoch"]
        elif (found := CAUSE.fullmatch(text)) is not None:
            event.setdefault("cause", found["cause"])
        elif (found := STATUS.fullmatch(text)) is not None:
            event["status"] = found["status"]
        elif (found := SOCKET.fullmatch(text)) is not None:
            event["socket"] = found["socket"]
        elif (found := WHERE.fullmatch(text)) is not None:
            event[found["what"].upper()] = found["number"]
        else:
            return None
        return LineKind.SAMPLE

    def _take_module(self, text: str, offset: int) -> LineKind | None:
        if MODULE.fullmatch(text) is not None:
            self._close()
            self._module, self._kind, self._at = {"name": " ".join(text.split())}, "", offset
        elif self._module and (found := GROUP.fullmatch(text)) is not None:
            self._kind = found["kind"]
        elif self._module and self._kind and (found := COUNTER.fullmatch(text)) is not None:
            self._module[f"{self._kind} {found['span']}"] = found["n"]
        else:
            return None
        return LineKind.SAMPLE

    def _tell(self, instance: str, time_us: int, words: Mapping[str, str]) -> None:
        """Mark the error in the graphs: all that the hardware could not correct, of others the first of a burst."""
        is_uncorrected = words.get("uncorrected") == "1"
        if self._bursts.begins(instance, time_us) or is_uncorrected:
            what = "Uncorrected hardware error" if is_uncorrected else "Hardware error"
            self.events.append(LineEvent(self._at, time_us, NO_TIME, EventKind.HARDWARE.value, "mcelog", f"{what}: {instance}"))

    def _close(self) -> None:
        event, module = self._event, self._module
        self._event, self._module = {}, {}
        if "place" in event:
            words = {"events": "1"}
            if "status" in event:
                is_uncorrected = bool(int(event["status"], 16) & UNCORRECTED)
                words |= {"corrected": str(int(not is_uncorrected)), "uncorrected": str(int(is_uncorrected))}
            if "socket" in event:
                words["SOCKETID"] = event["socket"]
            instance = f"{event['place']}: {event['cause']}" if "cause" in event else event["place"]
            module_words = [f"{word} {event[word]}" for word in ("CHANNEL", "DIMM") if word in event]
            if module_words:
                socket = [f"SOCKET {event['socket']}"] if "socket" in event else []
                instance = f"{instance} ({' '.join([*socket, *module_words])})"
            if "time" not in event:
                self.begin_report()
            time_us = int(event["time"]) * MICRO if "time" in event else None
            self.add_row(self._events, list(words), list(words.values()), instance=instance, offset=self._at, time_us=time_us)
            if time_us is not None:
                self._tell(instance, time_us, words)
        if len(module) > 1:
            if not self._is_open:
                self.begin_report()
                self._is_open = True
            name = module.pop("name")
            self.add_row(self._memory, list(module), list(module.values()), instance=name, offset=self._at)
