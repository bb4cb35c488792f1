"""Readers: how the output of one family of tools is laid out. A reader never imports another reader."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from normstat.stats.readers.proc import df, free, ip_link, net_dev, nfsiostat, nfsstat, proc_net_snmp, ps, psi, top
from normstat.stats.readers.reports import iozone, mcelog, opreport, perf_lock, perf_report, perf_stat, run_times
from normstat.stats.readers.solaris import iostat_errors, kstat, lockstat, nicstat, prstat, se_livetest, truss, zpool_histogram
from normstat.stats.readers.sysstat import sadf, sysstat_json, sysv_sar
from normstat.stats.readers.tabular import (
    columns,
    cpu_blocks,
    cpu_table,
    fixed_columns,
    markdown_tables,
    named_values,
    one_line,
    patterns,
    sentences,
    side_by_side,
    wide_tables,
)
from normstat.stats.readers.trace import bcc, bpftrace, dtrace, strace, systemtap
from normstat.stats.records import NO_TIMING, ReadResult, State, Timing
from normstat.stats.spec import Spec


class Reading(Protocol):
    """One call of a reader."""

    def __init__(self, spec: Spec, *, state: State, offset: int, timing: Timing, command: str) -> None:
        """See read() below for the arguments."""

    def read(self, data: bytes, *, is_final: bool) -> ReadResult:
        """Read all whole lines of the data, and the last one if it is final."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What a module of this folder has; a `reading` is made for each call."""

    check: Callable[[Spec], None]
    """Raises KeyError, TypeError, ValueError or re.error for a layout that makes no sense."""
    reading: type[Reading]


READERS: Final[Mapping[str, Reader]] = {
    "columns": Reader(columns.check, columns.Reading),
    "fixed_columns": Reader(fixed_columns.check, fixed_columns.FixedReading),
    "lockstat": Reader(lockstat.check, lockstat.Reading),
    "mcelog": Reader(mcelog.check, mcelog.Reading),
    "run_times": Reader(run_times.check, run_times.Reading),
    "markdown_tables": Reader(markdown_tables.check, markdown_tables.Reading),
    "opreport": Reader(opreport.check, opreport.Reading),
    "iozone": Reader(iozone.check, iozone.Reading),
    "perf_report": Reader(perf_report.check, perf_report.Reading),
    "perf_lock": Reader(perf_lock.check, perf_lock.Reading),
    "perf_stat": Reader(perf_stat.check, perf_stat.Reading),
    "strace": Reader(strace.check, strace.Reading),
    "truss": Reader(truss.check, truss.Reading),
    "prstat": Reader(prstat.check, prstat.PrstatReading),
    "psi": Reader(psi.check, psi.PressureReading),
    "sadf": Reader(sadf.check, sadf.SadfReading),
    "free": Reader(free.check, free.FreeReading),
    "nfsiostat": Reader(nfsiostat.check, nfsiostat.NfsReading),
    "sysv_sar": Reader(sysv_sar.check, sysv_sar.SarReading),
    "nicstat": Reader(nicstat.check, nicstat.NicReading),
    "sysstat_json": Reader(sysstat_json.check, sysstat_json.JsonReading),
    "nfsstat": Reader(nfsstat.check, nfsstat.NfsReading),
    "top": Reader(top.check, top.TopReading),
    "cpu_blocks": Reader(cpu_blocks.check, cpu_blocks.CpuBlocksReading),
    "patterns": Reader(patterns.check, patterns.PatternReading),
    "mib": Reader(proc_net_snmp.check, proc_net_snmp.MibReading),
    "cpu_table": Reader(cpu_table.check, cpu_table.CpuTableReading),
    "net_dev": Reader(net_dev.check, net_dev.NetDevReading),
    "dtrace": Reader(dtrace.check, dtrace.Reading),
    "bpftrace": Reader(bpftrace.check, bpftrace.Reading),
    "bcc": Reader(bcc.check, bcc.Reading),
    "systemtap": Reader(systemtap.check, systemtap.Reading),
    "wide_tables": Reader(wide_tables.check, wide_tables.WideTablesReading),
    "named_values": Reader(named_values.check, named_values.NamedValuesReading),
    "kstat": Reader(kstat.check, kstat.KstatReading),
    "live_test": Reader(se_livetest.check, se_livetest.LiveTestReading),
    "df": Reader(df.check, df.DfReading),
    "ip_link": Reader(ip_link.check, ip_link.LinkReading),
    "ps": Reader(ps.check, ps.PsReading),
    "sentences": Reader(sentences.check, sentences.SentenceReading),
    "side_by_side": Reader(side_by_side.check, side_by_side.SideBySideReading),
    "iostat_errors": Reader(iostat_errors.check, iostat_errors.IostatErrorsReading),
    "one_line": Reader(one_line.check, one_line.OneLineReading),
    "zpool_histogram": Reader(zpool_histogram.check, zpool_histogram.ZpoolHistogramReading),
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
    """Return samples, rejected lines and accounts of a piece of a stream.

    `state` is {} at the beginning, else what the call before returned; `offset` is the place of data[0] in the stream. A last line
    without newline is left for the next call, unless `is_final`. `timing` says what is known of the times from elsewhere, `command`
    the command line: its options tell whether the first report is about the time since boot.
    Raises: BadRequest for an unknown zone, and nothing else, whatever the bytes.
    """
    reading = READERS[spec.reader].reading(spec, state=state, offset=offset, timing=timing, command=command)
    return reading.read(data, is_final=is_final)
