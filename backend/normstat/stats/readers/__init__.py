"""Readers: how the output of one family of tools is laid out. A reader never imports another reader."""

from collections.abc import Mapping
from types import ModuleType
from typing import Final, Protocol, cast

from normstat.stats.readers import (
    bcc,
    bpftrace,
    columns,
    cpu_blocks,
    cpu_table,
    df,
    dtrace,
    fixed_columns,
    free,
    iostat_errors,
    iozone,
    ip_link,
    kstat,
    live_test,
    lockstat,
    markdown_tables,
    mcelog,
    mib,
    named_values,
    net_dev,
    nfsiostat,
    nfsstat,
    nicstat,
    one_line,
    opreport,
    patterns,
    perf_lock,
    perf_report,
    perf_stat,
    prstat,
    ps,
    psi,
    run_times,
    sadf,
    sentences,
    side_by_side,
    strace,
    sysstat_json,
    systemtap,
    sysv_sar,
    top,
    truss,
    wide_tables,
    zpool_histogram,
)
from normstat.stats.records import NO_TIMING, ReadResult, State, Timing
from normstat.stats.spec import Spec


class Reader(Protocol):
    """What the module of a reader has."""

    def check(self, spec: Spec) -> None:
        """Raises KeyError, TypeError, ValueError or re.error for a layout that makes no sense."""

    def read(
        self, spec: Spec, data: bytes, *, state: State, offset: int, is_final: bool, timing: Timing, command: str
    ) -> ReadResult:
        """See read() below."""


def _reader(module: ModuleType) -> Reader:
    return cast(Reader, module)


READERS: Final[Mapping[str, Reader]] = {
    "columns": _reader(columns),
    "fixed_columns": _reader(fixed_columns),
    "lockstat": _reader(lockstat),
    "mcelog": _reader(mcelog),
    "run_times": _reader(run_times),
    "markdown_tables": _reader(markdown_tables),
    "opreport": _reader(opreport),
    "iozone": _reader(iozone),
    "perf_report": _reader(perf_report),
    "perf_lock": _reader(perf_lock),
    "perf_stat": _reader(perf_stat),
    "strace": _reader(strace),
    "truss": _reader(truss),
    "prstat": _reader(prstat),
    "psi": _reader(psi),
    "sadf": _reader(sadf),
    "free": _reader(free),
    "nfsiostat": _reader(nfsiostat),
    "sysv_sar": _reader(sysv_sar),
    "nicstat": _reader(nicstat),
    "sysstat_json": _reader(sysstat_json),
    "nfsstat": _reader(nfsstat),
    "top": _reader(top),
    "cpu_blocks": _reader(cpu_blocks),
    "patterns": _reader(patterns),
    "mib": _reader(mib),
    "cpu_table": _reader(cpu_table),
    "net_dev": _reader(net_dev),
    "dtrace": _reader(dtrace),
    "bpftrace": _reader(bpftrace),
    "bcc": _reader(bcc),
    "systemtap": _reader(systemtap),
    "wide_tables": _reader(wide_tables),
    "named_values": _reader(named_values),
    "kstat": _reader(kstat),
    "live_test": _reader(live_test),
    "df": _reader(df),
    "ip_link": _reader(ip_link),
    "ps": _reader(ps),
    "sentences": _reader(sentences),
    "side_by_side": _reader(side_by_side),
    "iostat_errors": _reader(iostat_errors),
    "one_line": _reader(one_line),
    "zpool_histogram": _reader(zpool_histogram),
}


def read(
    spec: Spec,
    data: bytes,
    *,
    state: State,
    offset: int,
    is_final: bool = False,
    timing: Timing = NO_TIMING,
    command: str = "",
) -> ReadResult:
    """Samples, rejected lines and accounts of a piece of a stream.

    `state` is {} at the beginning, else what the call before returned; `offset` is the place of data[0] in the stream. A last line
    without newline is left for the next call, unless `is_final`. `timing` says what is known of the times from elsewhere, `command`
    the command line: its options tell whether the first report is about the time since boot.
    Raises: BadRequest for an unknown zone, and nothing else, whatever the bytes.
    """
    return READERS[spec.reader].read(spec, data, state=state, offset=offset, is_final=is_final, timing=timing, command=command)
