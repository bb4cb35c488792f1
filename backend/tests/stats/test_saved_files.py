"""Files as recorders, spreadsheets and editors saved them."""

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import Timing
from tests.stats.reading import guessed, read_pieces, rows_of_result

FIRST_S = 1795860601

SADF = {
    "commas": "# hostname,interval,timestamp,CPU,%user,%idle\nweb1,600,2026-11-28 10:10:01 UTC,-1,1.00,98.40\n",
    "quotes": '"# hostname","interval","timestamp","CPU","%user","%idle"\n"web1","600","28.11.2026 10:10:01","-1","1,00","98,40"\n',
    "German dates": "# hostname;interval;timestamp;CPU;%user;%idle\r\nweb1;600;28.11.2026 10:10:01;-1;1,00;98,40\r\n",
    "tabs": "# hostname\tinterval\ttimestamp\tCPU\t%user\t%idle\nweb1\t600\t11/28/2026 10:10:01\t-1\t1.00\t98.40\n",
}


@pytest.mark.parametrize("text", SADF.values(), ids=SADF)
def test_sadf_from_a_spreadsheet(text: str) -> None:
    data = text.encode()
    assert guessed(data) == "sadf_linux"
    (row,) = rows_of_result(read(require_spec("sadf_linux"), data, state={}, offset=0, is_final=True))
    assert (row.time_us // 1_000_000, row.values) == (FIRST_S, (1.0, 98.4))
    without_seconds = data.replace(b"10:10:01", b"10:10")
    (row,) = rows_of_result(read(require_spec("sadf_linux"), without_seconds, state={}, offset=0, is_final=True))
    assert row.time_us // 1_000_000 == FIRST_S - 1


EXAWATCHER = (
    "#" * 60 + "\n# Starting Time:\t04/12/2019 18:16:32\n# Sample Interval(s):\t5\n# Archive Count:\t720\n"
    "# Collection Module:\tVmstatExaWatcher\n# Collection Command:\tvmstat  5 720\n" + "#" * 60 + "\n"
    "zzz <04/12/2019 18:16:32> Count:720\n"
)
OSWATCHER = "zzz ***Fri Apr 12 18:16:32 UTC 2019 Sample interval: 5 seconds\n"
VMSTAT = """\
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st
 3  0      0 12345678  10000 9000000    0    0    10    20    1    2  3  1 96  0  0
 4  0      0 12345679  10000 9000000    0    0    11    21  100  200  4  1 95  0  0
 5  0      0 12345680  10000 9000000    0    0    12    22  101  201  5  1 94  0  0
"""


@pytest.mark.parametrize("head", [EXAWATCHER, OSWATCHER], ids=["ExaWatcher", "OSWatcher"])
def test_a_recorder_says_the_interval_of_a_call(head: str) -> None:
    data = (head + VMSTAT).encode()
    result = read(require_spec("vmstat_linux"), data, state={}, offset=0, is_final=True)
    assert not result.rejected
    assert [row.time_us // 1_000_000 - 1555092992 for row in rows_of_result(result)] == [0, 5, 10]
    pieces = read_pieces(require_spec("vmstat_linux"), data.splitlines(keepends=True))
    assert pieces.rows == rows_of_result(result)
    known = read(require_spec("vmstat_linux"), data, state={}, offset=0, is_final=True, timing=Timing(interval_us=2_000_000))
    assert [row.time_us // 1_000_000 - 1555092992 for row in rows_of_result(known)] == [0, 2, 4]


def test_nfsiostat_with_each_number_on_its_own_line() -> None:
    text = (
        b"192.168.17.1:/var/www mounted on /var/www:\n\n   op/s\t\trpc bklog\n   0.60\n\t   0.00\nread:\n"
        b"  ops/s\t\t   kB/s\t\t  kB/op\t\tretrans\t\tavg RTT (ms)\tavg exe (ms)\n"
        b"\t\t  0.013\n\t  2.150\n\t169.751\n       0 (0.0%)\n\t 11.842\n\t 11.960\n"
    )
    assert guessed(text) == "nfsiostat_linux"
    spec = require_spec("nfsiostat_linux")
    result = read(spec, text, state={}, offset=0, is_final=True)
    assert not result.rejected
    rows = {row.instance: dict(zip([key for key, _ in row.columns], row.values, strict=True)) for row in rows_of_result(result)}
    assert list(rows) == ["/var/www", "/var/www read"]
    assert list(rows["/var/www"].values()) == [0.6, 0.0]
    assert list(rows["/var/www read"].values()) == [0.013, 2.15, 169.751, 0, 0.0, 11.842, 11.96]
    assert read_pieces(spec, text.splitlines(keepends=True)).rows == rows_of_result(result)


def test_load_averages_with_a_date_before_each() -> None:
    text = b"2026-11-28 10:10:01 0.10 0.20 0.30 1/123 4567\n2026-11-28 10:10:02 1.10 0.30 0.30 2/123 4568\n"
    assert guessed(text) == "proc_loadavg"
    rows = rows_of_result(read(require_spec("proc_loadavg"), text, state={}, offset=0, is_final=True))
    assert [(row.time_us // 1_000_000 - FIRST_S, row.values[0]) for row in rows] == [(0, 0.1), (1, 1.1)]
