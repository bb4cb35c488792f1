"""Lines between rows that are known from an earlier report are what they would be if each was read alone."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.heading import known_headers
from normstat.stats.engine.stretches import MAX_ALTERNATIVES, Stretches
from normstat.stats.readers.tabular import columns
from tests.stats.reading import Reading, read_pieces

MPSTAT_HEAD = "     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle"
BANNER = "Linux 6.1.0-40-amd64 (host) \t2026-11-21 \t_x86_64_\t(16 CPU)\n"


def clock_at(second: int) -> str:
    return f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"


def mpstat(seconds: Sequence[int], *, n_cpus: int = 16, half: str = "") -> list[str]:
    rows = "{clock}    {cpu:>4}   12.50    0.00    3.25    0.00    0.00    0.25    0.00    0.00    0.00   84.00\n"
    return [
        f"\n{clock_at(second - 1)}{half}{MPSTAT_HEAD}\n"
        + "".join(rows.format(clock=clock_at(second) + half, cpu=cpu) for cpu in ("all", *range(n_cpus)))
        for second in seconds
    ]


IOSTAT_COLUMNS = (
    "r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz", "w/s", "wkB/s", "wrqm/s", "%wrqm", "w_await", "wareq-sz",
)  # fmt: skip
IOSTAT_HEAD = f"{'Device':12}" + "".join(f"{column:>9}" for column in (*IOSTAT_COLUMNS, "aqu-sz", "%util")) + "\n"


def iostat(seconds: Sequence[int], day: str = "2026-11-21") -> list[str]:
    cpu = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n          1.00    0.00    2.00    0.25    0.00   96.75\n"
    return [
        f"{day}T{clock_at(second)}+0100\n{cpu}\n{IOSTAT_HEAD}"
        + "".join(f"nvme{disk}n1     {'     1.25' * 13}     0.{second % 100:02}\n" for disk in range(6))
        + "\n"
        for second in seconds
    ]


def solaris(seconds: Sequence[int]) -> list[str]:
    head = "CPU minf mjf xcal  intr ithr  csw icsw migr smtx  srw syscl  usr sys  wt idl\n"
    rows = "".join(f"{cpu:3}    0   0   12   345   99  100    2    3    4    0  2000    5   2   0  93\n" for cpu in range(16))
    return [f"{1795262400 + second}\n{head}{rows}" for second in seconds]


def read_both(spec: str, command: str, text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Reading, Reading]:
    """The text as it comes, twice because what is known outlives a stream, and read without knowing any stretch."""
    data = text.encode()
    read_pieces(require_spec(spec), [data], command)
    found = read_pieces(require_spec(spec), [data], command)
    with monkeypatch.context() as patch:
        patch.setattr(Stretches, "alternatives", lambda _self, _key: ())
        alone = read_pieces(require_spec(spec), [data], command)
    pieces = [data[at : at + 1501] for at in range(0, len(data), 1501)]
    assert read_pieces(require_spec(spec), pieces, command) == alone
    return found, alone


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lines each stretch had that was known."""
    found: list[int] = []
    take = columns.Reader._take_known

    def note(*arguments: object) -> object:
        stretch = take(*arguments)  # type: ignore[arg-type]
        if stretch is not None:
            found.append(len(stretch.lines))
        return stretch

    monkeypatch.setattr(columns.Reader, "_take_known", note)
    return found


CASES = {
    "mpstat": ("mpstat_linux", "mpstat -P ALL 1", BANNER + "".join(mpstat(range(43_200, 43_240))), 39),
    "across midnight": ("mpstat_linux", "mpstat -P ALL 1", BANNER + "".join(mpstat(range(86_390, 86_410))), 19),
    "two tables": ("iostat_linux", "iostat -x -t 1", BANNER + "\n" + "".join(iostat(range(60, 90))), 56),
    "epochs": ("mpstat_solaris", "mpstat -T u 1", "".join(solaris(range(30))), 28),
}


@pytest.mark.parametrize("name", CASES)
def test_known_lines_are_what_they_are_alone(name: str, monkeypatch: pytest.MonkeyPatch, taken: list[int]) -> None:
    spec, command, text, n_known = CASES[name]
    found, alone = read_both(spec, command, text, monkeypatch)
    assert found == alone
    assert not found.rejected
    assert len({row.time_us for row in found.rows}) >= 20
    assert len(taken) >= n_known, "no stretch was known again: this tests nothing"


ODD: dict[str, tuple[str, str, str]] = {
    "a clock that is none": ("mpstat_linux", "12:00:20", "12:61:20"),
    "a clock of another form": ("mpstat_linux", "12:00:20", "12.00.20"),
    "a clock with the half of the day": ("mpstat_linux", "12:00:20  ", "12:00:20 PM  "),
    "another column": ("mpstat_linux", "12:00:20     CPU    %usr", "12:00:20     CPU    %new"),
    "a day that is none": ("iostat_linux", "2026-11-21T12:00:20", "2026-13-21T12:00:20"),
    "another day": ("iostat_linux", "2026-11-21T12:00:20", "2026-11-22T12:00:20"),
    "another zone": ("iostat_linux", "12:00:20+0100", "12:00:20-0300"),
    "a time that is none": ("iostat_linux", "2026-11-21T12:00:20", "2026-11-21T12:0x:20"),
    "a short epoch": ("mpstat_solaris", "1795262420\n", "0000000020\n"),
    "a word between": ("mpstat_solaris", "1795262420\n", "1795262420\nkilled\n"),
    "a carriage return": ("mpstat_solaris", "1795262420\n", "1795262420\r\n"),
    "no stamp": ("mpstat_solaris", "1795262420\n", ""),
}


@pytest.mark.parametrize("name", ODD)
def test_lines_that_only_look_like_known_ones(name: str, monkeypatch: pytest.MonkeyPatch, taken: list[int]) -> None:
    spec, before, after = ODD[name]
    seconds = range(43_210, 43_235)
    text = {
        "mpstat_linux": lambda: BANNER + "".join(mpstat(seconds)),
        "iostat_linux": lambda: BANNER + "\n" + "".join(iostat(seconds)),
        "mpstat_solaris": lambda: "".join(solaris(range(30))),
    }[spec]()
    assert before in text
    command = {"mpstat_linux": "mpstat -P ALL 1", "iostat_linux": "iostat -x -t 1", "mpstat_solaris": "mpstat -T u 1"}[spec]
    found, alone = read_both(spec, command, text.replace(before, after, 1), monkeypatch)
    assert found == alone
    assert taken


def test_clocks_of_twelve_hours_are_not_known_by_their_form(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        BANNER
        + "".join(part for at in range(12 * 3600 - 20, 12 * 3600) for part in mpstat([at], half=" AM"))
        + "".join(part for at in range(12 * 3600 + 1, 12 * 3600 + 20) for part in mpstat([at], half=" PM"))
    )
    found, alone = read_both("mpstat_linux", "mpstat -P ALL 1", text, monkeypatch)
    assert found == alone
    assert found.rows


def test_stretches_of_many_days_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    text = BANNER + "\n" + "".join("".join(iostat(range(10), day=f"2026-11-{day:02}")) for day in range(1, 29))
    found, alone = read_both("iostat_linux", "iostat -x -t 1", text, monkeypatch)
    assert found == alone
    known = known_headers(require_spec("iostat_linux")).stretches._known
    assert known
    assert max(map(len, known.values())) <= MAX_ALTERNATIVES


def test_specs_of_users_know_no_stretches(taken: list[int]) -> None:
    """Their patterns may look at the digits of a clock."""
    spec = replace(require_spec("mpstat_solaris"), is_user_made=True)
    data = "".join(solaris(range(30))).encode()
    assert len(read_pieces(spec, [data], "mpstat -T u 1").rows) == 30 * 16
    assert not taken
