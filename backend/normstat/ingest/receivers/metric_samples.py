"""The content of a request, whatever its protocol: series with samples, and the types of metrics.

>>> HostSeries("up", (("instance", "web1:9100"),), ((1.0, 1795262400000, None),)).n_samples
1
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from normstat.errors import TooLarge

# A request of Prometheus has 2000 samples, one of an OpenTelemetry collector 8192.
MAX_SAMPLES: Final = 200_000
MAX_ALL_LABELS: Final = 1_000_000
MAX_LABELS: Final = 64
MAX_LABEL_NAME: Final = 1024
MAX_LABEL_VALUE: Final = 8192
# A NaN with these bits says that a series has ended; any other NaN is no value.
STALE_BITS: Final = 0x7FF0000000000002
BITS: Final = struct.Struct("<Q")
DOUBLE: Final = struct.Struct("<d")
STALE_NAN: Final[float] = DOUBLE.unpack(BITS.pack(STALE_BITS))[0]
# Value, time in milliseconds since the epoch, and for an increase the time since which it counts.
Sample = tuple[float, int, int | None]


@dataclass(frozen=True, slots=True)
class HostSeries:
    """A series: `labels` as the sender gave them, in its order; `reason` is why its samples cannot be stored, "" for none."""

    name: str
    labels: tuple[tuple[str, str], ...]
    samples: Sequence[Sample]
    reason: str = ""

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.samples)


@dataclass(slots=True)
class MetricSamples:
    """A request of `n_bytes`: its series, and the types that it says (counter, gauge, histogram, summary) by the metric's name."""

    series: list[HostSeries] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    n_bytes: int = 0

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return sum(one.n_samples for one in self.series)


class SampleCounter:
    """Counts what a request holds while it is read."""

    def __init__(self) -> None:
        self.n = 0
        self.n_labels = 0

    def add_label(self) -> None:
        """Count a label. Raises: TooLarge"""
        self.n_labels += 1
        if self.n_labels > MAX_ALL_LABELS:
            raise TooLarge(f"The request has more than {MAX_ALL_LABELS} labels; send less at once; nothing was stored")

    def add(self, n: int) -> None:
        """Count samples, or series without any. Raises: TooLarge"""
        self.n += n
        if self.n > MAX_SAMPLES:
            raise TooLarge(f"The request has more than {MAX_SAMPLES} samples; send less at once; nothing was stored")


def is_stale(value: float) -> bool:
    """Return whether a value is the marker of a series that has ended."""
    return value != value and BITS.unpack(DOUBLE.pack(value))[0] == STALE_BITS  # noqa: PLR0124 (only a NaN differs from itself)


def label_trouble(labels: Mapping[str, str], n_labels: int) -> str:
    """Return why labels cannot be stored, "" if they can; `n_labels` counts repeated names, too."""
    if n_labels > MAX_LABELS:
        return f"{n_labels} labels, more than {MAX_LABELS}"
    if len(labels) != n_labels:
        return "a label name twice"
    for name, value in labels.items():
        if not name:
            return "a label without a name"
        if len(name) > MAX_LABEL_NAME or len(value) > MAX_LABEL_VALUE:
            return f"a label name longer than {MAX_LABEL_NAME} characters, or a value longer than {MAX_LABEL_VALUE}"
    return ""
