"""Times of reports that print none, or count from their start."""

from normstat.stats.catalogue import require_spec
from normstat.stats.readers import read
from normstat.stats.records import NO_TIME, Timing
from tests.golden_captures import capture_path


def test_intervals_of_perf_are_counted_from_the_start() -> None:
    text = (
        b"     0.500544593;168;;context-switches;1001459104;100.00;167.755;/sec\n     1.001588143;109;;context-switches;1;1.00;;\n"
    )
    start_us = 1_795_262_400_000_000
    result = read(require_spec("perf_stat"), text, state={}, offset=0, timing=Timing(start_us=start_us))
    (block,) = (block for block in result.blocks if block.stat.name == "perf_stat")
    assert block.time_us.tolist() == [start_us + 500_545, start_us + 1_001_588]
    again = read(require_spec("perf_stat"), text + text, state={}, offset=0, timing=Timing(start_us=start_us))
    (block,) = (block for block in again.blocks if block.stat.name == "perf_stat")
    assert block.time_us.tolist()[2:] == [NO_TIME, NO_TIME], "a second run began, and nothing says when"


def test_reports_that_print_no_time_are_an_interval_apart() -> None:
    text = capture_path("lockstat/illumos--interrupts").read_bytes()
    timing = Timing(start_us=0, interval_us=60_000_000)
    result = read(require_spec("lockstat"), text, state={}, offset=0, timing=timing)
    (block,) = (block for block in result.blocks if block.stat.name == "lockstat_section")
    assert block.time_us.tolist() == [0, 60_000_000], "the same section once more is the next report"


def test_what_a_recorder_calls_anew_is_a_new_report() -> None:
    text = capture_path("plockstat/solaris-10--after-libumem").read_bytes()
    stamp = b"zzz ***Sat Nov 21 12:00:%02d UTC 2026\n"
    result = read(require_spec("plockstat"), stamp % 10 + text + stamp % 40 + text, state={}, offset=0)
    (block,) = result.blocks
    half = len(block) // 2
    assert list(block.instances[:half]) == list(block.instances[half:]), "names are numbered within one report"
    assert {block.time_us[0].item() + 30_000_000} == set(block.time_us[half:].tolist())
