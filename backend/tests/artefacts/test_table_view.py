"""Tables of artefacts: what has a share, and what only repeats the sum of the others."""

import pytest

from normstat.artefacts.histogram_view import view_histogram
from normstat.artefacts.parts import HistogramPart, TablePart
from normstat.artefacts.reading import read_artefact
from normstat.artefacts.table_view import TableRequest, view_table

TIMES = b"""Hit Ctrl-C to stop tracing, or wait...
^C
Elapsed Times for processes ssh,

         SYSCALL          TIME (ns)
            read              90000
           write              10000
          TOTAL:             100000

CPU Times for processes ssh,

         SYSCALL          TIME (ns)
            read               3000
          TOTAL:               3000
"""
REPORT = b"""# Samples: 1K of event 'cycles'
#
# Overhead      Command         Shared Object                 Symbol
# ........  ...........  ....................  .....................
#
    28.15%  firefox-bin  libxul.so             [.] 0xd10b45
     4.45%      swapper  [kernel.kallsyms]     [k] mwait_idle_with_hints
"""
BUCKETS = b"""Tracing block device I/O... Hit Ctrl-C to end.
^C
     usecs           : count     distribution
       0 -> 1        : 1        |****                                    |
       2 -> 3        : 9        |****************************************|
"""


def table(text: bytes) -> TablePart:
    part = read_artefact(text).parts[0]
    assert isinstance(part, TablePart)
    return part


def test_the_sum_of_other_rows_has_no_share() -> None:
    view = view_table(table(TIMES), TableRequest())
    assert view.key_names == ["table", "key"]
    assert view.total == 103_000
    shares = {tuple(row.key): (row.is_total, row.share) for row in view.rows}
    is_total, share = shares["Elapsed Times for processes ssh", "read"]
    assert not is_total
    assert share == pytest.approx(90 / 103)
    assert shares["Elapsed Times for processes ssh", "TOTAL:"] == (True, None)
    grouped = view_table(table(TIMES), TableRequest(group=("table",)))
    assert [(row.key, row.values, row.is_total) for row in grouped.rows] == [
        (["Elapsed Times for processes ssh"], [100_000], False),
        (["CPU Times for processes ssh"], [3000], False),
    ]


def test_a_percentage_of_the_whole_is_a_share() -> None:
    [part] = [part for part in read_artefact(REPORT).parts if part.stat == "perf_report"]
    assert isinstance(part, TablePart)
    view = view_table(part, TableRequest(order="overhead_pct"))
    assert [row.share for row in view.rows] == pytest.approx([0.2815, 0.0445])
    assert [row.cumulative for row in view.rows] == pytest.approx([0.2815, 0.3260])
    assert view.total is None


def test_the_unit_of_buckets_is_read_in_the_name_of_the_distribution() -> None:
    part = read_artefact(BUCKETS).parts[0]
    assert isinstance(part, HistogramPart)
    assert view_histogram(part).unit == "us"
