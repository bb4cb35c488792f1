"""Events of a host from snapshots of its facts."""

import pytest

from normstat.query.fact_history import describe, drop_unfinished
from normstat.query.host_events import find_events
from normstat.stats.fact_lines import FactName, FactSnapshot, parse_snapshots
from normstat.stats.fact_words import describe_change

BOOT = 1795300000


def snapshots(*texts: str) -> list[FactSnapshot]:
    """Snapshots ten minutes apart after a boot: facts as `key=value`, in one text each."""
    lines: list[str] = []
    for place, text in enumerate(texts):
        lines += [str(BOOT + 600 * (place + 1)), *(fact.strip().replace("=", "\t", 1) for fact in text.split(";"))]
    return list(parse_snapshots(lines))


def events(*texts: str) -> list[tuple[int, int | None, str]]:
    """Seconds after the boot, the earliest, and the text of each event."""
    return [
        (
            round(event.at.timestamp()) - BOOT,
            None if event.not_before is None else round(event.not_before.timestamp()) - BOOT,
            event.text,
        )
        for event in find_events(snapshots(*texts), "web1")
    ]


def test_the_boot_before_the_first_snapshot_is_an_event() -> None:
    assert events(f"boot_time={BOOT}; cpus=2", f"boot_time={BOOT + 1}; cpus=2") == [(0, None, "Booted")]


def test_a_kernel_changes_with_the_boot_and_other_facts_between_two_looks() -> None:
    found = events(
        f"boot_time={BOOT}; kernel_release=1; memory_kb=1024", f"boot_time={BOOT + 900}; kernel_release=2; memory_kb=2048"
    )
    assert found == [
        (0, None, "Booted"),
        (900, None, "Rebooted"),
        (900, None, "Kernel: 1 → 2"),
        (1200, 600, "Memory: 1 MiB → 2 MiB"),
    ]


def test_a_clock_that_was_set_is_no_reboot() -> None:
    """The kernel counts the time of the boot back from its clock; the id of the boot is another one only after a boot."""
    assert events(f"boot_time={BOOT}; boot_id=a", f"boot_time={BOOT + 3600}; boot_id=a") == [(0, None, "Booted")]
    assert events(f"boot_time={BOOT}; boot_id=a", f"boot_time={BOOT + 1}; boot_id=b") == [
        (0, None, "Booted"),
        (1, None, "Rebooted"),
    ]


def test_a_boot_time_that_drifts_for_long_is_no_reboot() -> None:
    assert events(*(f"boot_time={BOOT + 5 * place}" for place in range(40))) == [(0, None, "Booted")]


def test_what_another_agent_reports_first_is_no_change() -> None:
    old, new = "cpus=2; mount /=ext4", "agent=2; cpus=4; mount /=ext4; mount /home=xfs; smt=on"
    assert [text for *_, text in events(old, new)] == ["CPUs online: 2 → 4", "Mounted /home (xfs)"]
    # The same agent: the limit is new.
    assert [text for *_, text in events("agent=2; cpus=2", "agent=2; cpus=2; cpu_limit=1.50")] == ["CPU limit: 1.50 (new)"]


def test_changes_and_events_say_the_same() -> None:
    taken = snapshots("cpus=2; boot_id=a", "cpus=4; boot_id=a", "cpus=4; boot_id=b")
    assert [(change.text, change.at, change.not_before) for change in describe(taken).changes] == [
        (event.text, event.at, event.not_before) for event in find_events(taken, "web1")
    ]
    assert [fact.key for fact in describe(taken).facts] == ["cpus"]


def test_facts_that_are_still_to_come_are_not_gone() -> None:
    """A request of the agent may end anywhere in a snapshot; `agent` is its last line."""
    cut = snapshots("cpus=2; mount /=ext4; agent=1", "cpus=2")
    assert drop_unfinished([cut]) == [cut[:1]]
    whole = snapshots("cpus=2; agent=1", "cpus=4; agent=1")
    assert drop_unfinished([whole, []]) == [whole, []]
    # An agent that never prints it.
    old = snapshots("cpus=2", "cpus=4")
    assert drop_unfinished([old]) == [old]


def test_a_boot_time_that_is_none_is_no_event() -> None:
    assert events("boot_time=yesterday", "boot_time=99999999999999999999; cpus=1") == [(1200, 600, "CPUs online: 1 (new)")]


@pytest.mark.parametrize(
    ("key", "before", "after", "text"),
    [
        ("io_scheduler", "none", "bfq", "I/O scheduler x: none → bfq"),
        ("memory_limit_kb", None, "1048576", "Memory limit x: 1 GiB (new)"),
        ("memory_limit_kb", "1048576", None, "Memory limit x: gone (was 1 GiB)"),
        ("mount", None, "xfs /dev/sdb", "Mounted x (xfs /dev/sdb)"),
        ("mount", "xfs /dev/sdb", "nfs a:/b", "Mounted x: xfs /dev/sdb → nfs a:/b"),
        ("bios", "1", "2", "bios x: 1 → 2"),
    ],
)
def test_changes_in_words(key: str, before: str | None, after: str | None, text: str) -> None:
    assert describe_change(FactName(key, "x"), before, after) == text
