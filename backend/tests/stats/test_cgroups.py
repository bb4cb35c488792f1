"""Control groups as the sampler prints them: what a unit used, what it may use, and what is not known."""

from collections.abc import Iterable

from normstat.stats.process_lines import parse_snapshot
from tests.stats.proc_snapshots import EPOCH, Values, pids, rejected, rows, stat_line

SPEC = "proc_pid_linux"
WEB = "/sys/fs/cgroup/system.slice/web.service"
DOCKER = "docker/" + "ab" * 32


def units(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_unit", spec=SPEC)


def disks(text: str | Iterable[str]) -> list[tuple[float, str, Values]]:
    return rows(text, "linux_unit_disk", spec=SPEC)


def group(path: str, *lines: str) -> str:
    return "".join(f"{line}\n" for line in (f"==> {path} <==", *lines))


def v2(used_us: int, throttled: int = 0, *, limit: str = "50000 100000", **more: int) -> list[str]:
    numbers = {"read": 0, "oom": 0, "waited_us": 0, **more}
    return [
        f"cpu.stat usage_usec {used_us}",
        f"cpu.stat user_usec {used_us // 4}",
        f"cpu.stat system_usec {3 * used_us // 4}",
        f"cpu.stat nr_periods {2 * throttled + 50}",
        f"cpu.stat nr_throttled {throttled}",
        f"cpu.max {limit}",
        "memory.current 1098727424",
        "memory.max 2147483648",
        f"memory.events oom_kill {numbers['oom']}",
        "memory.stat anon 1048576",
        f"io.stat 8:0 rbytes={numbers['read']} wbytes=0 rios=1 wios=0 dbytes=0 dios=0",
        f"io.stat 8:16 rbytes={numbers['read']} wbytes=0 rios=1 wios=0 dbytes=0 dios=0",
        "pids.current 3",
        "pids.max max",
        f"io.pressure some avg10=0.00 avg60=0.00 avg300=0.00 total={numbers['waited_us']}",
    ]


def test_a_unit_has_rates_amounts_and_limits() -> None:
    """A size of ten digits is no time."""
    text = pids(0, stat_line(7, "java")) + group(WEB, *v2(1_000_000, 10))
    text += pids(5, stat_line(7, "java")) + group(WEB, *v2(3_000_000, 20, read=5 * 1024, oom=1, waited_us=500_000))
    first, second = units(text)
    amounts = {
        "anon_kb": 1024, "cpu_limit_pct": 50.0, "memory_kb": 1072976, "memory_limit_kb": 2097152,
        "memory_of_limit_pct": 51.16, "tasks": 3,
    }  # fmt: skip
    assert first == (0, "web.service", amounts)
    assert second == (
        5,
        "web.service",
        amounts
        | {
            "cpu_pct": 40.0, "usr_pct": 10.0, "system_pct": 30.0, "cpu_of_limit_pct": 80.0, "throttled_pct": 50.0,
            "kb_rd_per_s": 2.0, "kb_wr_per_s": 0.0, "rd_per_s": 0.0, "wr_per_s": 0.0, "oom_kills_per_s": 0.2, "io_some_pct": 10.0,
        },
    )  # fmt: skip


def test_each_disk_of_a_unit_has_its_own_row_and_one_made_of_others_is_not_counted_again() -> None:
    def report(at: int, *, by: int) -> str:
        words = [f"io.stat {disk} rbytes=0 wbytes={by * kib * 1024} rios=0 wios={by}" for disk, kib in (("8:0", 50), ("253:0", 50))]
        # The kernel lists a disk when the group uses it.
        words += ["io.stat 259:1 rbytes=5120 wbytes=0 rios=5 wios=0"] if by else []
        return pids(at, stat_line(7, "java")) + group(WEB, *words)

    names = group(
        "/proc/partitions", "major minor  #blocks  name", "", "   8        0   1048576 sda", " 253        0   1048576 dm-0"
    )  # fmt: skip
    text = report(0, by=0) + names + report(5, by=2) + report(10, by=2)
    assert disks(text) == [
        (5, "web.service/sda", {"kb_rd_per_s": 0.0, "kb_wr_per_s": 20.0, "rd_per_s": 0.0, "wr_per_s": 0.4}),
        (5, "web.service/dm-0", {"kb_rd_per_s": 0.0, "kb_wr_per_s": 20.0, "rd_per_s": 0.0, "wr_per_s": 0.4}),
        # One without a name is known by its number.
        (5, "web.service/259:1", {"kb_rd_per_s": 1.0, "kb_wr_per_s": 0.0, "rd_per_s": 1.0, "wr_per_s": 0.0}),
    ]
    assert [values.get("kb_wr_per_s") for _, _, values in units(text)] == [20.0, 0.0]
    pieces = [text[at : at + 50] for at in range(0, len(text), 50)]
    assert disks(pieces) == disks(text)


def test_a_unit_on_stacked_disks_alone_is_counted() -> None:
    def report(at: int, written: int) -> str:
        names = group("/proc/partitions", "   7        0   1048576 loop0")
        return pids(at, stat_line(7, "java")) + names + group(WEB, f"io.stat 7:0 rbytes=0 wbytes={written} rios=0 wios=1")

    assert units(report(0, 0) + report(5, 5120))[0][2]["kb_wr_per_s"] == 1.0


def test_a_heading_alone_is_a_group_that_did_nothing() -> None:
    begin = pids(0, stat_line(7, "java")) + group(WEB, *v2(1_000_000))
    text = begin + pids(5, stat_line(7, "java")) + group(WEB) + pids(10, stat_line(7, "java")) + group(WEB, *v2(1_500_000))
    _, idle, busy = units(text)
    assert (idle[2]["cpu_pct"], idle[2]["memory_kb"]) == (0.0, 1072976)
    # All of it since the previous snapshot.
    assert busy[2]["cpu_pct"] == 10.0


def test_a_group_that_is_gone_has_no_row_and_one_that_came_back_no_rate() -> None:
    """A unit that was started again counts from zero, and its limit may have gone."""
    text = pids(0, stat_line(7, "java")) + group(WEB, *v2(9_000_000)) + pids(5, stat_line(7, "java"))
    text += pids(10, stat_line(7, "java")) + group(WEB, *v2(1_000_000, limit="max 100000"))
    text += pids(15, stat_line(7, "java")) + group(WEB, *v2(500_000, limit="max 100000"))
    assert [(at, "cpu_pct" in values, "cpu_limit_pct" in values) for at, _, values in units(text)] == [
        (0, False, True), (10, False, False), (15, False, False),
    ]  # fmt: skip


def test_version_1_has_a_folder_for_each_controller() -> None:
    def report(at: int, used_ns: int, ticks: int, throttled: int, read: int) -> str:
        root = "/sys/fs/cgroup"
        return (
            pids(at, stat_line(7, "nginx"))
            + group(
                f"{root}/cpu,cpuacct/{DOCKER}", f"cpuacct.usage {used_ns}", f"cpuacct.stat user {ticks}", "cpuacct.stat system 0",
                "cpu.stat nr_periods 50", f"cpu.stat nr_throttled {throttled}", "cpu.cfs_quota_us 20000",
                "cpu.cfs_period_us 100000",
            )
            + group(
                f"{root}/memory/{DOCKER}", "name shop", "memory.usage_in_bytes 2048", "memory.limit_in_bytes 9223372036854771712",
                "memory.failcnt 0",
                 "memory.oom_control oom_kill 0", "memory.stat total_rss 1024", "memory.stat total_cache 1024",
            )
            + group(f"{root}/blkio/{DOCKER}", f"blkio.throttle.io_service_bytes 8:0 Read {read}")
            + group(f"{root}/pids/{DOCKER}", "pids.current 2", "pids.max max")
        )  # fmt: skip

    first, second = units(report(0, 1_000_000_000, 100, 0, 0) + report(5, 2_000_000_000, 150, 0, 10240))
    assert (first[1], second[1]) == ("shop", "shop")
    assert second[2] == {
        "cpu_pct": 20.0, "usr_pct": 10.0, "system_pct": 0.0, "cpu_limit_pct": 20.0, "cpu_of_limit_pct": 100.0, "memory_kb": 2,
        "anon_kb": 1, "file_kb": 1, "at_limit_per_s": 0.0, "oom_kills_per_s": 0.0, "kb_rd_per_s": 2.0, "tasks": 2,
    }  # fmt: skip


def test_groups_of_one_unit_are_added_up_but_not_twice() -> None:
    """Sessions of a user are one unit; a group within a group of the same unit is in it already."""
    root = "/sys/fs/cgroup/user.slice/user-7.slice"
    text = pids(0, stat_line(7, "sh"))
    for name in ("session-1.scope", "session-2.scope", "session-2.scope/inner"):
        text += group(f"{root}/{name}", "cpu.stat usage_usec 0", "pids.current 2")
    text += pids(5, stat_line(7, "sh"))
    for name in ("session-1.scope", "session-2.scope", "session-2.scope/inner"):
        text += group(f"{root}/{name}", "cpu.stat usage_usec 500000", "pids.current 2")
    assert units(text)[1] == (5, "user 7: sessions", {"cpu_pct": 20.0, "tasks": 4})


def test_pieces_are_read_as_the_whole() -> None:
    text = "".join(
        pids(5 * at, stat_line(7, "java")) + group(WEB, "name web", *v2(1_000_000 * at)) + group(f"{WEB}2")
        for at in range(4)
    )  # fmt: skip
    whole = units(text)
    assert len(whole) == 4
    for size in (1, 7, 100):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert units(pieces) == whole


def test_malformed_lines_are_rejected() -> None:
    wrong = [
        "cpu.stat usage_usec", "cpu.stat usage_usec -1", "cpu.max 5", "memory.current max", "memory.current 1 2",
        "io.stat sda rbytes=1", "io.stat 8:0 rbytes=x", "io.pressure some total=1", "blkio.throttle.io_serviced 8:0 Read",
        "no.file 1", "pids.max -5",
    ]  # fmt: skip
    text = pids(0, stat_line(7, "java")) + group(WEB, "io.stat 8:0 ", *wrong)
    assert len(rejected(text, spec=SPEC)) == len(wrong)


def test_the_unit_of_a_process_is_in_its_details() -> None:
    line = stat_line(7, "java")
    text = f"{EPOCH}\n==> /proc/uptime <==\n10.00 0.00\n{line}\n==> /proc/7/status <==\nUid:\t0\t0\t0\t0\nUser:\troot\n"
    text += f"Cgroup:\t/{DOCKER}\tshop\n==> /proc/7/status <==\nArgs:\tjava -jar x\n"
    facts = parse_snapshot(text.encode(), 7)
    assert facts is not None
    assert (facts.user, facts.unit, facts.arguments) == ("root", "shop", "java -jar x")
