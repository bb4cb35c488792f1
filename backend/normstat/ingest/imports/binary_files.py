"""Say what a binary recording of a known tool is, and which command prints it as text that is imported."""

import re
from typing import Final

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
    """Return what a binary file is, and what to run instead. Missing: "" where the tool is unknown.

    >>> describe_binary(b"PERFILE2", "perf.data")[:19], describe_binary(b"\\x7fELF", "a.out")
    ('a recording of perf', '')
    """
    found = [note for signature, note in SIGNATURES if head.startswith(signature)]
    found += [note for name, note in NAMES if name.search(path) is not None]
    return next(iter(found), "")
