"""A disk that gets full is said once, and once that there is room again."""

from pathlib import Path

from normstat.local.disk import DiskMonitor, measure_free

MIB = 1 << 20


def test_each_change_is_said_once() -> None:
    said: list[str] = []
    sizes = (500, 33, 31, 5, 0, 40, 31, 47, 900, 900, 31, 48, 48, 48, 48, 33, 20)
    free, now = iter([n * MIB for n in sizes]), iter(range(1000))
    watch = DiskMonitor(Path("/data"), said.append, measure=lambda _: next(free), clock=lambda: next(now))
    has_room = [watch.check() for _ in sizes]
    # Two looks at a disk with much room, between others without, are no end of it.
    assert [number for number, is_new in enumerate(has_room) if is_new] == [13]
    assert [line.split(";")[0] for line in said] == [
        "the disk of /data is full: 31 MB free",
        "the disk of /data has room again: 48 MB free",
        "the disk of /data is full: 20 MB free",
    ]
    assert watch.is_full


def test_a_folder_that_cannot_be_asked_is_no_full_disk(tmp_path: Path) -> None:
    said: list[str] = []
    watch = DiskMonitor(tmp_path / "gone", said.append)
    assert not watch.check()
    assert said == []
    assert measure_free(tmp_path) > 0
