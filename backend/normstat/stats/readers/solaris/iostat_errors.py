"""iostat -E of Solaris: the errors of each device since boot, and what the device is.

sd0       Soft Errors: 0 Hard Errors: 2 Transport Errors: 0
Vendor: SEAGATE  Product: ST373307LSUN72G  Revision: 0507 Serial No: 3HZ7
Size: 73.40GB <73400057856 bytes>
Media Error: 0 Device Not Ready: 0 No Device: 2 Recoverable: 0
Illegal Request: 0 Predictive Failure Analysis: 0

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> excerpt = __doc__.split("\\n\\n")[1].encode() + b"\\n"
>>> block = read(require_spec("iostat_e_solaris"), excerpt, state={}, offset=0, is_final=True).blocks[0]
>>> block.instances, [values.tolist() for values in block.values]
(['sd0'], [[0], [2], [0], [73400057856], [0], [0], [2], [0], [0], [0]])
"""

import re
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State

DEVICE: Final = re.compile(r"(?P<device>\S{1,200})\s+(?P<pairs>Soft Errors:.{1,200})")
PAIR: Final = re.compile(r"\s*(?P<name>[A-Z][A-Za-z]*(?: [A-Z][A-Za-z]*){0,3}):\s*(?P<number>\d{1,18})(?=\s|$)", re.ASCII)
SIZE: Final = re.compile(r"Size:\s*[\d.,]{1,20}[KMGTP]?B <(?P<bytes>-?\d{1,18}) bytes>", re.ASCII)
ABOUT: Final = re.compile(r"(?:Vendor|Model|Product|RPM):.{0,400}")


LAYOUT: Final = OneStatLayout


class Reader(SnapshotReader[OneStatLayout]):
    """One call of the reader: `_device` is the present device, `_first` the first one of the report."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._device = str(own.get("device", ""))
        self._first = str(own.get("first", ""))

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "device": self._device, "first": self._first}

    def end_report(self) -> None:
        """Another report follows."""
        super().end_report()
        self._device = self._first = ""

    def take_data(self, line: Line, text: str) -> Claim:
        """Return a device, its size, or more of its errors."""
        device = DEVICE.fullmatch(text)
        if device is not None and (pairs := _pairs(device["pairs"])):
            if device["device"] == self._first:
                self.end_report()
            self._device = device["device"]
            self._first = self._first or self._device
            return self._gather(pairs, line)
        if ABOUT.match(text) is not None and len(text) < 400:
            return LineKind.IGNORED
        size = SIZE.fullmatch(text)
        pairs = {"Size": size["bytes"]} if size is not None else _pairs(text[:400])
        if not pairs:
            return NOT_MINE
        return self._gather(pairs, line) if self._device else Rejected("no device was named before it")

    def _gather(self, pairs: dict[str, str], line: Line) -> Outcome:
        reason = self.gather(self.spec.stats[0], list(pairs), list(pairs.values()), offset=line.offset, instance=self._device)
        return reason or LineKind.SAMPLE


def _pairs(text: str) -> dict[str, str]:
    """Return the named numbers that the text consists of. Missing: {} when it holds anything else, or a name twice."""
    pairs: dict[str, str] = {}
    at = 0
    while at < len(text):
        pair = PAIR.match(text, at)
        if pair is None or pair["name"] in pairs:
            return {}
        pairs[pair["name"]] = pair["number"]
        at = pair.end()
    return pairs
