"""What follows from an artefact: the numbers of the sources, each with its formula; without a series, the tool that would tell."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pytest

from normstat.artefacts.answers.answer_model import (
    Answer,
    Evidence,
    HostJvms,
    SeriesMean,
    SeriesNeed,
    SeriesRun,
    float_array,
    load_hints,
)
from normstat.artefacts.answers.artefact_answers import answer_all, series_needed
from normstat.artefacts.reading import read_artefact
from tests.artefacts.test_reading import TRUSS
from tests.golden_captures import GOLDEN

LOCKSTAT: Final = """Adaptive mutex spin: 3318 events

Count indv cuml rcnt     spin Lock                   Caller
-------------------------------------------------------------------------------
  601  18%  18% 1.00        1 flock_lock             cleanlocks+0x10
  302   9%  27% 1.00        7 0xf597aab0             dev_get_dev_info+0x4c
-------------------------------------------------------------------------------

Adaptive mutex block: 24 events

Count indv cuml rcnt     nsec Lock                   Caller
-------------------------------------------------------------------------------
    3  12%  12% 1.00    90333 0xf5b3c738             ddi_prop_search_common+0x50
    3  12%  25% 1.00   235500 flock_lock             cleanlocks+0x10
-------------------------------------------------------------------------------
"""
TIME: Final = "real\t7m32.730s\nuser\t0m16.597s\nsys\t7m17.231s\n"
WRITES: Final = "                  SYSCALL      COUNT\n                    write    1250000\n                     read         30\n"
TIDS: Final = "\n       5             2563\n\n       5             2462\n\n       5             2557\n"
BY_TID: Final = "dtrace -n 'syscall::read:entry /execname == \"app\"/ { @[tid] = count(); } tick-10s { printa(@); clear(@); }'"


def golden(name: str) -> str:
    return (GOLDEN / "recorded" / name).read_text()


def mean(value: float, instance: str = "") -> SeriesMean:
    return SeriesMean(value, "", "stat", "field", instance, 60)


def answers(
    text: str, command: str = "", *, duration_s: float | None = None, series: Mapping[SeriesNeed, SeriesMean] | None = None
) -> dict[str, Answer]:
    found = read_artefact(text.encode(), command=command)
    evidence = Evidence(1, "web1", found.tool, command, "", found.effect, duration_s or found.duration_s, found.parts, series or {})
    return {answer.key: answer for answer in answer_all(evidence)}


def test_calls_a_second_under_truss() -> None:
    found = answers(TRUSS.decode(), "truss -c -p 351")
    rate = found["calls_per_second"]
    assert rate.sentence == "12,337 system calls/s, under truss."
    assert rate.value == pytest.approx(80316 / 6.51)
    assert rate.formula == "80,316 / 6.51 s = 12,337/s"
    assert rate.hint is not None
    assert "120,000 or more system calls/s" in rate.hint.text
    assert found["observer"].is_warning


def test_bytes_for_each_write_need_the_disk_of_the_same_window() -> None:
    disk = {SeriesNeed.DISK_WRITE: mean(141.07, "dm-3")}
    found = answers(WRITES, "stap top.stp -c 'sleep 10'", duration_s=10, series=disk)["bytes_per_write"]
    assert found.sentence == "1.13 bytes for each write: 125,000 writes/s, and 141.1 kB/s to dm-3 in the same window."
    assert found.value == pytest.approx(1.12856)
    assert (found.is_warning, found.hint is not None and "8192" in found.hint.text) == (True, True)
    missing = answers(WRITES, duration_s=10)["bytes_per_write"]
    assert (missing.value, "iostat -x 1" in missing.sentence) == (None, True)
    unknown = answers(WRITES)["bytes_per_write"]
    assert (unknown.value, "set the duration" in unknown.sentence) == (None, True)


def test_stalls_of_lockstat_beside_those_of_mpstat() -> None:
    found = answers(LOCKSTAT, "lockstat sleep 5", series={SeriesNeed.MUTEX_SPINS: mean(650), SeriesNeed.N_CPUS: mean(2)})
    assert found["mutex_stalls"].sentence == "663.6 mutex stalls/s by lockstat, 650/s by mpstat (smtx over all CPUs): they agree."
    assert found["mutex_stalls"].value == pytest.approx(663.6)
    apart = answers(LOCKSTAT, "lockstat sleep 5", series={SeriesNeed.MUTEX_SPINS: mean(100)})["mutex_stalls"]
    assert "they differ by 85 %" in apart.sentence
    alone = answers(LOCKSTAT, "lockstat sleep 5")["mutex_stalls"]
    assert alone.value == pytest.approx(663.6)
    assert "mpstat 1 (Solaris)" in alone.sentence
    time = found["lock_time"]
    assert time.value == pytest.approx((3 * 90333 + 3 * 235500) / 5e9 * 100)
    assert "of each of 2 CPUs" in time.sentence


def test_time_in_the_kernel_and_the_one_thread_that_it_was() -> None:
    cpus = {SeriesNeed.CPU_BUSY: mean(13.27), SeriesNeed.N_CPUS: mean(8)}
    found = answers(TIME, "time ./job", series=cpus)
    assert found["kernel_share"].value == pytest.approx(96.577, abs=0.001)
    assert found["kernel_share"].sentence.startswith("96.6 % of the elapsed time was spent in the kernel; the run used 1.002 CPUs")
    assert found["one_cpu"].sentence.startswith("All 8 CPUs together were 13.27 % busy: 1.06 CPUs")
    busy = {SeriesNeed.CPU_BUSY: mean(55), SeriesNeed.N_CPUS: mean(8)}
    assert "one_cpu" not in answers(TIME, series=busy)


def test_all_reads_come_from_one_thread() -> None:
    found = answers(TIDS, BY_TID)
    assert found["one_thread"].sentence == "100 % of read calls come from 1 thread (tid 5)."
    assert "2,563, 2,462, 2,557 (steady)" in found["reports"].sentence
    assert "In 3 reports per 10 s: " in found["reports"].sentence
    per_second = BY_TID.replace("printa", "normalize(@, 10); printa")
    assert "In 3 reports per second: " in answers(TIDS, per_second)["reports"].sentence
    # By something that is known at run time only.
    assert "In 3 reports: " in answers(TIDS, BY_TID.replace("printa", "normalize(@, this->s); printa"))["reports"].sentence
    assert "one_thread" not in answers(TIDS, "dtrace -n 'syscall:::entry { @[execname] = count(); }'"), (
        "a key is no thread by itself"
    )


def test_profiles_in_lock_code_and_in_the_idle_loop() -> None:
    assert answers(golden("opreport_tables/miracle-v3--locks.txt"))["lock_code"].sentence.startswith(
        "51.76 % of the samples are in lock"
    )
    found = read_artefact(golden("opreport_tables/miracle-v3--idle.txt").encode())
    sentences = [each.sentence for each in answer_all(Evidence(1, "web1", found.tool, "", "", "light", None, found.parts))]
    assert "default_idle is at the top with 24.37 %: the CPUs waited, they did not work." in sentences
    assert "97.59 % of the samples are at the halt instruction: the CPU was waiting, not working." in sentences
    assert "idle_code" not in answers(golden("opreport_tables/miracle-v3--locks.txt"))


def test_three_places_hold_the_busy_waits_and_counts_would_have_misled() -> None:
    text = golden("lkst/miracle-v3--statistics.txt")
    sentence = answers(text)["few_places"].sentence
    assert sentence.startswith("99.8 % of busy-wait time in 3 places")
    assert "wrong rows: 0xf8863ba3 (61,477) and 0xf88637bb (61,476)" in sentence


def test_a_stall_that_comes_back_is_found_in_the_series_of_the_host() -> None:
    times = float_array(list(range(200)))
    values = float_array([0.0 if second % 38 < 5 else 16_000.0 for second in range(200)])
    run = SeriesRun("System calls", "1/s", "mpstat_solaris", "syscl", times, values)
    found = read_artefact(TIME.encode())
    evidence = Evidence(1, "t2000", found.tool, "", "", found.effect, None, found.parts, {}, (run,))
    [stall] = [answer for answer in answer_all(evidence) if answer.key == "stalls"]
    assert "fell to nearly nothing for 5 s every 38 s" in stall.sentence
    assert stall.value == pytest.approx(38)


def test_six_jvms_on_seven_cpus_start_42_collector_threads() -> None:
    yields = "pid\ttid\tcount\n" + "".join(f"14344\t{tid}\t{25000 + tid}\n" for tid in range(2, 9))
    command = "dtrace -n 'syscall::yield:entry { @[pid, tid] = count(); }'"
    found = read_artefact(yields.encode(), command=command)
    evidence = Evidence(1, "zone1", found.tool, command, "", found.effect, None, found.parts, {SeriesNeed.N_CPUS: mean(7)})
    assert "gc_threads" not in {answer.key for answer in answer_all(evidence)}, "nothing says that 14344 is a JVM"
    jvms = HostJvms(frozenset({14344, 1, 2, 3, 4, 5}))
    [gc] = [answer for answer in answer_all(replace(evidence, jvms=jvms)) if answer.key == "gc_threads"]
    assert gc.sentence == "7 by default on 7 CPUs: 42 of the 6 JVMs here together."
    assert (gc.value, gc.formula, gc.is_warning) == (42, "7; 6 x 7 = 42", True)
    # A zone in a processor set that was doubled.
    bound = HostJvms(jvms.pids, {"1": 7})
    [gc] = [
        answer
        for answer in answer_all(replace(evidence, jvms=bound, series={SeriesNeed.N_CPUS: mean(24)}))
        if answer.key == "gc_threads"
    ]
    assert gc.sentence.endswith("; in processor set 1 of 7 CPUs 7, 6 x 7 = 42 of 6 JVMs.")
    # Stacks of the JVM's library are about Java, without the word.
    stacks = "\n libc.so.1`__lwp_cond_wait+0x4\n libjvm.so`__1cKGangWorkerEloop6M_v_+0xc8\n libc.so.1`_lwp_start\n 553\n"
    assert answers(stacks, "dtrace -n 'sched:::off-cpu { @[ustack()] = count(); }'", series={SeriesNeed.N_CPUS: mean(7)})[
        "gc_threads"
    ].sentence.startswith("7 by default on 7 CPUs")


def test_hardware_errors_are_a_warning_however_few() -> None:
    text = (GOLDEN / "synthetic/mcelog/mcelog-0.7--northbridge.txt").read_text()
    found = answers(text)["hardware_errors"]
    assert (found.value, found.is_warning) == (1, True)


def test_what_is_read_of_the_host_is_only_what_answers_ask_for() -> None:
    found = read_artefact(TIME.encode())
    evidence = Evidence(1, "web1", found.tool, "", "", found.effect, None, found.parts)
    assert series_needed(evidence) == {SeriesNeed.N_CPUS, SeriesNeed.CPU_BUSY}


def test_every_hint_has_a_source() -> None:
    assert all(hint.text and hint.source for hint in load_hints().values())


def test_a_distribution_of_powers_of_two_tells_no_limit() -> None:
    """dtrace's quantize() puts 256 to 511 into one bucket: nobody knows which of them is a limit."""
    text = """
  queue length
           value  ------------- Distribution ------------- count
              64 |                                         10
             128 |@                                        30
             256 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@         900
             512 |@@                                       60
            1024 |                                         0
"""
    assert "queue_limit" not in answers(text)


def test_a_round_trip_caps_what_a_session_can_ask() -> None:
    head = "PING db1 (10.0.0.2) 56(84) bytes of data.\n"
    reply = "[1795305600.1] 64 bytes from 10.0.0.2: icmp_seq={} ttl=64 time={} ms\n"
    found = answers(head + "".join(reply.format(seq, time) for seq, time in ((1, "0.201"), (2, "0.200"), (5, "0.180"))))
    trips, lost = found["round_trips"], found["lost_replies"]
    assert trips.sentence.startswith("5,000 a second at most: a session with db1 that waits for each answer needs 0.2 ms ")
    assert trips.formula == "1,000 ms / 0.2 ms = 5,000/s"
    assert trips.value == pytest.approx(5000)
    assert (lost.sentence, lost.is_warning) == ("2 of 5 requests to db1 had no reply (40 %).", True)
    assert "lost_replies" not in answers(head + reply.format(1, "0.201"))
