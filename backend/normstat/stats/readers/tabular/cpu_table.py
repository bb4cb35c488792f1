"""/proc/interrupts and /proc/softirqs: a header that names the CPUs, and a row for each interrupt.

               CPU0       CPU1
     24:          1          0  IO-APIC   5-edge      ACPI:Ged
    NMI:          0          0   Non-maskable interrupts
    ERR:          0

The instance is the interrupt with the devices that use it, "24 ACPI:Ged"; a row with one number for the whole machine has the
column `total`.

>>> from normstat.stats.catalogue import require_spec
>>> from normstat.stats.readers import read
>>> text = b"      CPU0 CPU1\\n 24: 1 0  IO-APIC   5-edge      ACPI:Ged\\nERR: 0\\n"
>>> result = read(require_spec("proc_interrupts"), text, state={}, offset=0)
>>> [(list(block.instances), [field.column for field in block.fields]) for block in result.blocks]
[(['24 ACPI:Ged'], ['CPU0', 'CPU1']), (['ERR'], ['total'])]
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from normstat.stats.engine.lines import Line
from normstat.stats.engine.outcome import NOT_MINE, Claim, Outcome, Rejected
from normstat.stats.engine.snapshot import SnapshotReader
from normstat.stats.layout import OneStatLayout
from normstat.stats.records import LineKind, State, texts_of
from normstat.stats.spec import Stat

HEADER: Final = re.compile(r"CPU\d{1,5}(?:\s+CPU\d{1,5})*", re.ASCII)
ROW: Final = re.compile(r"(?P<name>[A-Za-z0-9_-]{1,30}): *(?P<rest>.*)", re.ASCII)
NUMBER: Final = re.compile(r"\d{1,20}", re.ASCII)
BLANKS: Final = re.compile(r"\s{2,}")
# The text before the devices: the number in the controller and the kind, "5-edge", "IO-APIC-fasteoi", "27 Level".
KIND: Final = re.compile(r"\S*(?:edge|level|fasteoi|Edge|Level|None|percpu)\S*|\d+ +\S+", re.ASCII)
# Counters of the whole machine.
TOTAL: Final = "total"
TOTALS: Final = frozenset({"ERR", "MIS", "Err"})
MAX_CPUS: Final = 4096
MAX_LINE_LENGTH: Final = 1 << 17


@dataclass(frozen=True)
class CpuTableLayout(OneStatLayout):
    """No keys: the spec has one stat, whose CPUs are a family of fields."""

    def validate(self, stats: Sequence[Stat]) -> None:
        """Require one stat with a family."""
        super().validate(stats)
        if not stats[0].families:
            raise ValueError("the stat needs a family of fields for the CPUs")


LAYOUT: Final = CpuTableLayout


class Reader(SnapshotReader[CpuTableLayout]):
    """One call of the reader: `_cpus` are the columns."""

    def load(self, own: State) -> None:
        """Restore the state of the previous piece."""
        super().load(own)
        self._cpus = texts_of(own.get("cpus"))
        self._has_total = any(known.column == TOTAL for known in self.spec.stats[0].fields)

    def save(self) -> State:
        """Return the state for the next piece."""
        return {**super().save(), "cpus": self._cpus}

    def end_report(self) -> None:
        """End the present report: its rows are complete."""
        super().end_report()
        self._cpus = []

    def see_file(self, path: str) -> None:  # noqa: ARG002 (any other file ends this one)
        """Note the file that the next lines are from."""
        self._cpus = []

    def take_data(self, line: Line, text: str) -> Claim:
        """Return the outcome of the line, after adding its row."""
        if len(text) > MAX_LINE_LENGTH:
            return Rejected(f"longer than {MAX_LINE_LENGTH} characters: not a line of {self.spec.tool}")
        if HEADER.fullmatch(text) is not None:
            return self._take_header(text.split())
        row = ROW.fullmatch(text)
        if row is None or not self._cpus:
            return NOT_MINE
        cpus = self._cpus
        words = row["rest"].split(None, len(cpus))
        numbers = words[: len(cpus)]
        n_numbers = next((number for number, word in enumerate(numbers) if NUMBER.fullmatch(word) is None), len(numbers))
        if n_numbers == 0:
            return Rejected("no number")
        name = row["name"]
        if n_numbers < len(cpus) or name in TOTALS:
            if n_numbers != 1 or len(words) != 1 or not self._has_total:
                return Rejected(f"{n_numbers} numbers for {len(cpus)} CPUs")
            columns, instance = [TOTAL], name
        else:
            columns = cpus
            devices = devices_of(words[len(cpus)]) if len(words) > len(cpus) and name.isdigit() else ""
            instance = f"{name} {devices}".rstrip()
        return self.put_row(self.spec.stats[0], columns, words[: len(columns)], instance=instance, offset=line.offset)

    def _take_header(self, cpus: list[str]) -> Outcome:
        if len(cpus) > MAX_CPUS or len(set(cpus)) != len(cpus):
            return Rejected(f"more than {MAX_CPUS} CPUs, or one twice")
        self.end_report()
        self._cpus = cpus
        return LineKind.HEADER


def devices_of(text: str) -> str:
    """Return the devices of an interrupt; they come last, after the controller and the kind. "" if it is unused.

    >>> devices_of("IO-APIC   5-edge      ACPI:Ged"), devices_of("PCI-MSI 524288-edge      eth0-TxRx-0, eth1")
    ('ACPI:Ged', 'eth0-TxRx-0, eth1')
    >>> devices_of("IO-APIC-fasteoi   acpi"), devices_of("GICv3  27 Level     arch_timer"), devices_of("PCI-MSI 3-edge")
    ('acpi', 'arch_timer', '')
    """
    parts = BLANKS.split(text.strip())
    last = parts[-1]
    return "" if len(parts) < 2 or KIND.fullmatch(last) is not None else last
