"""Stories: what tells one thing is told once, the process that did it first, in units that a person says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from normstat.comparison.findings.coming_and_going import MAX_RATIO
from normstat.comparison.host_comparison import HostComparison
from normstat.comparison.io_gap import IoGap, io_gap
from normstat.comparison.model import Finding, FindingGroup, Story
from normstat.comparison.next_questions.question_rules import load_rules
from normstat.comparison.stories import actors
from normstat.comparison.stories.build import merge_hosts
from normstat.comparison.stories.story_table import BadTable, find_place, load_table, parse_table
from normstat.comparison.stories.story_words import describe_clause, describe_normal, is_amount_that_matters
from normstat.runtime.readable import format_human
from normstat.scoring.summary import FloatArray
from tests.comparison.sides import Values, compare_values, make_side, stat_of

N, M = 600, 60
COMMANDS = "pidstat_linux_command"
PIDS = "pidstat_linux"
Given = dict[str, tuple[dict[tuple[str, str], FloatArray], dict[tuple[str, str], FloatArray]]]


def noise(mean: float, n: int, *, seed: int = 1, share: float = 0.05) -> FloatArray:
    return np.round(mean * (1 + share * np.random.default_rng(seed).standard_normal(n)), 2)


def quiet_host() -> Given:
    """One disk, two CPUs and a java that is always there; the incident is as the baseline."""
    sides: Given = {
        "iostat_linux": ({}, {}),
        "vmstat_linux": ({}, {}),
        "mpstat_linux": ({}, {}),
        COMMANDS: ({}, {}),
        PIDS: ({}, {}),
    }
    for side, n in ((0, N), (1, M)):
        for number, (key, mean) in enumerate({"wkb_per_s": 40.0, "util_pct": 2.0, "w_per_s": 9.0, "dareq_sz_kb": 4.0}.items()):
            sides["iostat_linux"][side]["vda", key] = noise(mean, n, seed=number + side)
        sides["vmstat_linux"][side]["", "io_bo"] = noise(40, n, seed=9 + side)
        for number, cpu in enumerate(("0", "1")):
            sides["mpstat_linux"][side][cpu, "iowait_pct"] = noise(3, n, seed=21 + 2 * number + side)
            sides["mpstat_linux"][side][cpu, "usr_pct"] = noise(12, n, seed=31 + 2 * number + side)
        for number, (key, mean) in enumerate({"cpu_pct": 20.0, "kb_wr_per_s": 30.0, "rss_kb": 900_000.0}.items()):
            for stat, name in ((COMMANDS, "java"), (PIDS, "815/java")):
                sides[stat][side][name, key] = noise(mean, n, seed=41 + 2 * number + side)
    return sides


def add_writer(sides: Given, *, wrote_kb: float | None) -> None:
    """A dd that is new and fills the disk; without `wrote_kb` the agent may not see its I/O."""
    io, cpu = sides["iostat_linux"][1], sides["mpstat_linux"][1]
    io["vda", "wkb_per_s"], io["vda", "util_pct"] = noise(1_894_930, M), noise(86, M, share=0.01)
    io["vda", "dareq_sz_kb"] = noise(19_779, M)
    sides["vmstat_linux"][1]["", "io_bo"] = noise(1_907_984, M)
    for number in ("0", "1"):
        cpu[number, "iowait_pct"] = noise(35, M, seed=3)
    for stat, name in ((COMMANDS, "dd"), (PIDS, "29206/dd")):
        sides[stat][1][name, "cpu_pct"] = noise(21, M)
        if wrote_kb is not None:
            sides[stat][1][name, "kb_wr_per_s"] = noise(wrote_kb, M)


def stories_of(found: HostComparison) -> list[Story]:
    return merge_hosts([found.stories], [{at: at + 1 for at in range(len(found.groups))}])


def compare(sides: Mapping[str, tuple[Values, Values]]) -> list[Story]:
    return stories_of(compare_values(sides))


def add_commands(sides: Given, *, n_seen: int, n_unseen: int) -> None:
    """What the agent's sampler records of commands; those that are not seen have no I/O, the threads of the kernel no memory."""
    sides["linux_command"] = ({}, {})
    for side, n in ((0, N), (1, M)):
        for number in range(n_seen + n_unseen):
            sides["linux_command"][side][f"daemon{number}", "rss_kb"] = noise(5_000, n, seed=51 + number + side)
            if number < n_seen:
                sides["linux_command"][side][f"daemon{number}", "kb_wr_per_s"] = noise(3, n, seed=71 + number + side)
        sides["linux_command"][side]["kworker", "rss_kb"] = np.zeros(n)


@pytest.mark.parametrize(
    ("n_seen", "n_unseen", "gap", "says"),
    [
        (5, 0, IoGap.ALL, ""),
        # init of a container shows its I/O to nobody.
        (5, 1, IoGap.ALL, ""),
        (2, 3, IoGap.OWN, "which process did it was not recorded: the agent may not read the I/O of other users' processes"),
        (0, 4, IoGap.NONE, "which process did it was not recorded: the agent may not read the I/O of any process"),
    ],
)
def test_a_disk_without_a_culprit_says_whose_io_was_not_recorded(n_seen: int, n_unseen: int, gap: IoGap, says: str) -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    for stat in (COMMANDS, PIDS):
        del sides[stat]
    add_commands(sides, n_seen=n_seen, n_unseen=n_unseen)
    assert io_gap({stat: make_side(stat_of(stat), incident, 0.0) for stat, (_, incident) in sides.items()}) is gap
    found = compare_values(sides)
    disk = next(story for story in stories_of(found) if story.topic == "disk")
    assert disk.processes == []
    assert says in disk.sentence
    assert disk.sentence.count("not recorded") == bool(says)
    assert next(line for line in found.ledger if line.resource == "disk").note == says


def test_where_no_processes_are_sampled_nothing_is_said_of_them() -> None:
    assert io_gap({}) is None
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    assert all("not recorded" not in story.sentence for story in compare(sides))


def test_nothing_happened() -> None:
    assert compare(quiet_host()) == []


def test_the_writer_its_disk_and_who_waits_are_one_story() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    [story] = compare(sides)
    assert (story.rank, story.topic, story.title, story.hosts) == (1, "disk", "Disk I/O", ["web1"])
    assert story.sentence.startswith("dd (29206), which is new, wrote 1.8 GiB/s; vda was busy 86 % of the time (normally 2.0 %);")
    assert "both CPUs waited for I/O 3" in story.sentence
    [process] = story.processes
    assert (process.name, process.pids, process.change, process.stat) == ("dd (29206)", [29206], "new", PIDS)
    # One quantity is told once, by the tool that names the disk; the size of discards is evidence, never the answer.
    assert sum("wrote" in line.text for line in story.lines) == 1
    assert story.also_seen_by == ["bo (vmstat)"]
    assert story.lines[-1].role == "detail"
    assert [line.role for line in story.lines] == sorted(
        (line.role for line in story.lines), key=["errors", "work", "busy", "latency", "wait", "detail"].index
    )
    assert story.onset_ms is not None


def test_the_counters_of_proc_alone_tell_the_same_story() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    names = {"iostat_linux": "linux_disk", "mpstat_linux": "linux_cpu", COMMANDS: "linux_command", PIDS: "linux_process"}
    [story] = compare({names[name]: both for name, both in sides.items() if name in names})
    assert story.topic == "disk"
    assert story.sentence.startswith("dd (29206), which is new, wrote 1.8 GiB/s; vda was busy 86 % of the time (normally 2.0 %);")
    assert "both CPUs waited for I/O 3" in story.sentence


def test_where_the_agent_may_not_see_who_did_it_the_newcomer_is_named() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    sides[COMMANDS][1]["tar", "cpu_pct"] = noise(22, M)
    first, *others = compare(sides)
    assert first.topic == "disk"
    assert first.sentence.startswith("tar and dd (29206) are new; vda was busy 86 % of the time (normally 2.0 %); vda wrote 1.8")
    assert [process.name for process in first.processes] == ["tar", "dd (29206)"]
    assert [story.topic for story in others] == ["cpu"]


def test_one_new_process_that_shows_on_two_resources_is_one_story() -> None:
    """It used a CPU and kept the disk busy; that it wrote, the agent may not see."""
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    found = compare_values(sides)
    [story] = stories_of(found)
    assert (story.rank, story.topic, story.title) == (1, "disk", "Disk I/O and CPU")
    assert story.sentence.startswith("dd (29206), which is new, used 21 % of a CPU; vda was busy 86 %")
    assert "vda wrote 1.8" in story.sentence
    assert story.sentence.count("dd") == 1
    assert [process.name for process in story.processes] == ["dd (29206)"]
    assert story.ranks == list(range(1, len(found.groups) + 1))
    assert len(story.lines) <= 8


def test_a_process_that_is_gone_is_the_same_story_backwards() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    backwards = {name: (incident, baseline) for name, (baseline, incident) in sides.items()}
    first, *_ = compare(backwards)
    assert (first.topic, first.processes[0].change) == ("disk", "gone")
    assert first.sentence.startswith("dd (29206) is gone; it wrote 1.8")


def test_a_process_that_does_more_is_told_with_what_is_normal() -> None:
    sides = quiet_host()
    for stat, name in ((COMMANDS, "java"), (PIDS, "815/java")):
        sides[stat][1][name, "cpu_pct"] = noise(180, M)
    [story] = compare(sides)
    assert story.sentence == "java (815) used 180 % of a CPU (normally 18 to 22 %)."
    assert (story.processes[0].change, story.processes[0].start_ms) == ("more", None)


def test_page_faults_of_a_process_are_told_in_words() -> None:
    sides = quiet_host()
    for side, n in ((0, N), (1, M)):
        for stat, name in ((COMMANDS, "java"), (PIDS, "815/java")):
            sides[stat][side][name, "majflt_per_s"] = np.zeros(n) if side == 0 else noise(40, n)
    [story] = compare(sides)
    assert story.sentence == "java (815) had 39.9 page faults/s that read from a disk (normally 0/s)."


@pytest.mark.parametrize(
    ("late", "words"), [(12, "yes (77), which began 12 s into the incident, used 99 % of a CPU"), (1, "yes (77), which is new, ")]
)
def test_a_process_that_begins_within_the_incident_has_a_start(late: int, words: str) -> None:
    sides = quiet_host()
    for stat, name in ((COMMANDS, "yes"), (PIDS, "77/yes")):
        sides[stat][1][name, "cpu_pct"] = noise(99, M)
    groups = [group for group in compare_values(sides).groups if group.kind == "appeared"]
    [actor] = actors.find_actors(groups)
    start_s = 1_795_305_600.0
    seen = {}
    for stat, name in ((COMMANDS, "yes"), (PIDS, "77/yes")):
        side = make_side(stat_of(stat), {(name, "cpu_pct"): noise(99, M)}, start_s)
        # It is missing from the first reports.
        times_s = start_s + np.arange(M + late, dtype=np.float64)
        seen[stat] = replace(side, report=side.report + late, times_s=times_s)
    process = actors.describe_actor("web1", actor, actors.Incident(seen, start_s, 60.0, actors.find_pids(seen)))
    assert process.sentence.startswith(words)
    assert process.start_ms == (round(1000 * (start_s + late)) if late > 1 else None)


def test_what_comes_and_goes_anyway_is_no_finding() -> None:
    sides = quiet_host()
    for number in range(6):
        # A minute of cron's work each time, under another name.
        sides[COMMANDS][0][f"job{number}", "cpu_pct"] = noise(60, M, seed=number)
    sides[COMMANDS][1]["job9", "cpu_pct"] = noise(55, M)
    found = compare_values(sides)
    assert found.groups == []
    assert found.small_processes == "1 other command is new (job9), together 54.9 % of one CPU."


def test_several_small_processes_have_their_plural() -> None:
    sides = quiet_host()
    for pid in (78, 79):
        sides[PIDS][1][f"{pid}/a", "cpu_pct"] = noise(0.3, M)
    del sides[COMMANDS]
    assert compare_values(sides).small_processes.startswith("2 other processes are new")


def test_of_single_samples_nothing_is_said_to_be_new() -> None:
    sides = {name: tuple({key: values[:2] for key, values in side.items()} for side in both) for name, both in quiet_host().items()}
    sides[COMMANDS][1]["yes", "cpu_pct"] = noise(99, 2)
    found = compare_values(sides)  # type: ignore[arg-type]
    assert (found.groups, found.stories) == ([], [])
    assert [item.instance for item in found.appeared] == ["yes"]


def test_one_cpu_of_many_is_a_small_part_of_the_host() -> None:
    impacts = []
    for n_cpus in (2, 64):
        sides = quiet_host()
        sides["mpstat_linux"] = tuple(  # type: ignore[assignment]
            {(str(cpu), "usr_pct"): noise(12, n, seed=cpu + n) for cpu in range(n_cpus)} for n in (N, M)
        )
        sides[COMMANDS][1]["yes", "cpu_pct"] = noise(100, M, share=0)
        found = compare_values(sides)
        [group] = [group for group in found.groups if group.kind == "appeared"]
        impacts.append(group.impact)
    assert impacts == pytest.approx([0.5, 1 / 64])


def test_a_process_of_many_threads_is_more_than_one_cpu() -> None:
    """Thirteen of 64 CPUs went to it: whoever was woken up must read its name."""
    sides = quiet_host()
    sides["mpstat_linux"] = tuple(  # type: ignore[assignment]
        {(str(cpu), "sys_pct"): noise(level, n, seed=cpu + n) for cpu in range(64)} for n, level in ((N, 8), (M, 43))
    )
    sides[COMMANDS][0]["indexer", "system_pct"] = noise(40, N)
    sides[COMMANDS][1]["indexer", "system_pct"] = noise(1400, M)
    found = compare_values(sides)
    story = found.stories[0].story
    assert [process.name for process in story.processes] == ["indexer"]
    assert story.sentence.startswith("indexer ")
    group = next(group for group in found.groups if group.stat == COMMANDS)
    assert group.impact == pytest.approx(13.6 / 64, rel=0.05)


def test_a_new_error_counter_competes() -> None:
    one = {("sda", "tot_errors"): np.zeros(N), ("sda", "r_per_s"): noise(9, N)}
    other = {("sda", "r_per_s"): noise(9, M, seed=2), ("sdb", "r_per_s"): noise(500, M)}
    [group] = compare_values({"iostat_solaris": (one, other)}).groups
    assert (group.kind, group.instances, group.stat) == ("appeared", ["sdb"], "iostat_solaris")
    assert group.change_ratio <= MAX_RATIO
    assert group.members[0].baseline.n == 0


def test_the_same_on_several_hosts_is_one_story() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    found = compare_values(sides).stories
    later = [
        replace(item, story=replace(item.story, hosts=["web2"], onset_ms=(item.story.onset_ms or 0) + 9000, anomaly_score=0.9))
        for item in found
    ]
    ranks: Sequence[Mapping[int, int]] = [{at: at + 1 for at in range(50)}, {at: at + 51 for at in range(50)}]
    [story] = merge_hosts([later, found], ranks)
    assert story.hosts == ["web1", "web2"]
    assert story.sentence.startswith("On 2 of 2 hosts, first on web1; on web2: dd (29206), which is new, ")
    assert story.anomaly_score == 0.9
    assert len(story.ranks) == 2 * len(found[0].groups)
    only = merge_hosts([found, []], ranks)
    assert only[0].sentence.startswith("web1: dd (29206)")


# --- the table ---


def test_every_meaning_has_a_place() -> None:
    assert set(load_table().places) == set(load_rules().meanings)


@pytest.mark.parametrize(
    ("stat", "field", "instance", "place"),
    [
        ("iostat_linux", "util_pct", "vda", ("disk", "busy")),
        ("iostat_linux", "dkb_per_s", "vda", ("disk", "detail")),
        ("vmstat_linux", "io_bo", "", ("disk", "work")),
        ("mpstat_solaris", "wt_pct", "0", ("disk", "wait")),
        ("mpstat_solaris", "smtx", "0", ("locks", "wait")),
        ("linux_pressure", "stall_pct", "io.some", ("disk", "wait")),
        ("linux_pressure", "stall_pct", "cpu.some", ("cpu", "wait")),
        (COMMANDS, "kb_wr_per_s", "dd", ("disk", "work")),
        ("prstat_solaris_micro", "lck_pct", "7/java", ("locks", "wait")),
        ("my_queue", "depth", "", ("my_queue", "work")),
    ],
)
def test_places(stat: str, field: str, instance: str, place: tuple[str, str]) -> None:
    found = find_place(stat, field, instance)
    assert (found.topic, found.role) == place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"no.such" = { topic = "cpu", role = "work", words = "" }', "questions.toml has no such meaning"),
        ('"cpu.usr" = { topic = "gpu", role = "work", words = "" }', "the topic is one of cpu"),
        ('"cpu.usr" = { topic = "cpu", role = "cause", words = "" }', "the role one of work"),
    ],
)
def test_tables_that_are_none(text: str, message: str) -> None:
    with pytest.raises(BadTable, match=message):
        parse_table(f'[topics]\ncpu = "CPU"\n[meanings]\n{text}')


# --- words ---


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_894_930, "KiB/s", "1.81 GiB/s"),
        (24, "KiB/s", "24 KiB/s"),
        (0, "KiB/s", "0 KiB/s"),
        (0.25, "ms", "250 us"),
        (2834, "ms", "2.83 s"),
        (1_500_000, "bytes", "1.5 MB"),
        (86.42, "%", "86 %"),
        (-0.001, "%", "0 %"),
        (5.94, "%", "5.9 %"),
        (4264.5, "1/s", "4,264 /s"),
        (2.5, "tasks", "2.5 tasks"),
        (1, "processes", "1 process"),
        (1, "1/s", "1 /s"),
        (None, "%", "no value"),
    ],
)
def test_values_as_people_say_them(value: float | None, unit: str, text: str) -> None:
    assert format_human(value, unit) == text


def side_of(sides: Given, kind: str) -> tuple[FindingGroup, Finding]:
    groups = compare_values(sides).groups
    group = next(group for group in groups if group.kind == kind)
    return group, group.members[0]


def test_clauses_say_how_far_the_ends_went() -> None:
    sides = quiet_host()
    spiky = noise(2, M, seed=4)
    spiky[::12] = 97
    sides["iostat_linux"][1]["vda", "util_pct"] = spiky
    group, finding = side_of(sides, "spikes")
    clause = describe_clause(group, find_place(group.stat, group.field, finding.instance), 60.0)
    assert clause == "vda was busy 9.9 % of the time (up to 97 %; normally 1.8 to 2.2 %)"


def clause_of(sides: Given, key: str) -> str:
    group = next(group for group in compare_values(sides).groups if group.field == key)
    return describe_clause(group, find_place(group.stat, group.field, group.members[0].instance), 60.0)


def test_a_cpu_is_named_as_one_also_where_it_waits_for_a_disk() -> None:
    sides = quiet_host()
    sides["mpstat_linux"][1]["1", "iowait_pct"] = noise(70, M)
    assert clause_of(sides, "iowait_pct").startswith("CPU 1 waited for I/O 70 % of the time (normally ")


def test_a_series_frozen_at_an_unusual_value_is_told_by_its_value() -> None:
    sides = quiet_host()
    sides["iostat_linux"][1]["vda", "util_pct"] = np.full(M, 100.0)
    assert clause_of(sides, "util_pct") == "vda was busy 100 % of the time (normally 1.8 to 2.2 %)"
    sides["iostat_linux"][1]["vda", "util_pct"] = np.full(M, 2.0)
    assert clause_of(sides, "util_pct") == "device vda %util (iostat) is frozen at 2.00 %"


@pytest.mark.parametrize(
    ("stat", "instance", "field", "unit", "baseline", "incident", "clause"),
    [
        ("mpstat_linux", "all", "idle_pct", "%", 90, 13, "the CPUs were idle 13 % of the time (normally 80 to 99 %)"),
        ("mpstat_linux", "1", "idle_pct", "%", 90, 13, "CPU 1 was idle 13 % of the time (normally 80 to 99 %)"),
        ("vmstat_linux", "", "system_cs", "1/s", 300, 44_591, "44,591 context switches/s (normally 80 to 99/s)"),
        (
            "linux_tcp",
            "",
            "retrseg_per_s",
            "segments/s",
            0,
            12,
            "TCP segments retransmitted: 12 segments/s (normally 80 to 99 segments/s)",
        ),
        ("iostat_linux", "vda", "f_per_s", "1/s", 0, 1225, "device vda: flushes of the disk's cache 1,225/s (normally 80 to 99/s)"),
        # Within the band: what was normal is the middle, not the band.
        ("iostat_linux", "vda", "util_pct", "%", 85, 92, "vda was busy 92 % of the time (normally 85 %, at times 99 %)"),
    ],
)
def test_clauses(stat: str, instance: str, field: str, unit: str, baseline: float, incident: float, clause: str) -> None:  # noqa: PLR0917
    group, finding = side_of_writer()
    finding = replace(
        finding,
        instance=instance,
        kind="level",
        direction="up",
        baseline=replace(finding.baseline, p5=80.0, p95=99.0, median=baseline, mean=baseline),
        incident=replace(finding.incident, median=incident, mean=incident),
    )
    group = replace(group, stat=stat, field=field, unit=unit, members=[finding], n_members=1, n_instances=2)
    assert describe_clause(group, find_place(stat, field, instance), 60.0) == clause


@pytest.mark.parametrize(
    ("field", "per_s", "highest", "clause"),
    [
        ("oom_kills_per_s", 3 / 60, 0.0, "the kernel killed 3 processes for lack of memory (normally none)"),
        ("oom_kills_per_s", 1 / 60, 0.0, "the kernel killed 1 process for lack of memory (normally none)"),
        # Where some are normal, or there are many, the rate says more.
        ("oom_kills_per_s", 3 / 60, 0.2, "the kernel killed 0.05 processes/s for lack of memory (normally 0/s)"),
        ("oom_kills_per_s", 2.0, 0.0, "the kernel killed 2 processes/s for lack of memory (normally 0/s)"),
    ],
)
def test_a_few_errors_that_never_happened_before_are_counted(field: str, per_s: float, highest: float, clause: str) -> None:
    group, finding = side_of_writer()
    finding = replace(
        finding,
        instance="",
        kind="level",
        direction="up",
        baseline=replace(finding.baseline, p5=0.0, p95=0.0, median=0.0, mean=0.0, highest=highest),
        incident=replace(finding.incident, median=per_s, mean=per_s),
    )
    group = replace(group, stat="linux_memory", field=field, unit="1/s", members=[finding], n_members=1, n_instances=1)
    assert describe_clause(group, find_place(group.stat, field, ""), 60.0) == clause


def test_who_did_little_is_not_blamed() -> None:
    """A tool that reads some KiB/s is no culprit of a busy disk."""
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    before, after = sides[COMMANDS]
    before["vmstat", "kb_rd_per_s"], after["vmstat", "kb_rd_per_s"] = np.zeros(N), np.full(M, 8.2)
    disk = next(story for story in compare(sides) if story.topic == "disk")
    assert [process.name for process in disk.processes] == ["dd (29206)"]
    assert "vmstat" not in disk.sentence


def test_what_nobody_would_notice_is_no_story() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    sides["linux_tcp"] = ({("", "iseg_per_s"): noise(2.4, N, share=0.01)}, {("", "iseg_per_s"): noise(2.0, M, share=0.01)})
    found = compare_values(sides)
    assert any(group.stat == "linux_tcp" for group in found.groups), "it stays among the changes"
    assert [story.topic for story in stories_of(found)] == ["disk"]


def test_weak_stories_get_no_culprit() -> None:
    sides = quiet_host()
    add_writer(sides, wrote_kb=1_890_000)
    resets = np.zeros(M)
    resets[7] = 1
    sides["linux_tcp"] = ({("", "atmptf_per_s"): np.zeros(N)}, {("", "atmptf_per_s"): resets})
    stories = compare(sides)
    assert [story.topic for story in stories[:1]] == ["disk"]
    assert all("dd" not in story.sentence for story in stories[1:])


def test_what_is_normal() -> None:
    _, finding = side_of_writer()
    assert describe_normal(finding.baseline, "%") == "normally 1.8 to 2.2 %"
    flat = replace(finding.baseline, p5=0.0, p95=0.0)
    assert describe_normal(flat, "KiB/s") == "normally 0 KiB/s"
    assert describe_normal(replace(finding.baseline, p5=10.0, p95=5000.0), "KiB/s") == "normally 10 KiB/s to 4.88 MiB/s"
    assert describe_normal(replace(finding.baseline, p5=0.0, p95=5000.0), "KiB/s") == "normally 0 to 4.88 MiB/s"
    assert describe_normal(replace(finding.baseline, p5=None), "%") == ""


def side_of_writer() -> tuple[FindingGroup, Finding]:
    sides = quiet_host()
    add_writer(sides, wrote_kb=None)
    groups = compare_values(sides).groups
    group = next(group for group in groups if group.field == "util_pct")
    return group, group.members[0]


def test_traffic_names_the_process_that_is_new_as_a_candidate() -> None:
    """No tool shows whose traffic it is: a new process among others of its name is named, whatever little CPU time it used."""
    sides: dict[str, tuple[dict[tuple[str, str], FloatArray], dict[tuple[str, str], FloatArray]]] = {
        "linux_net": ({}, {}),
        "linux_process": ({}, {}),
    }
    for side, n in ((0, N), (1, M)):
        for field in ("rxpck_per_s", "txpck_per_s"):
            sides["linux_net"][side]["lo", field] = noise(5, n, seed=3 + side) if side == 0 else noise(1970, n, seed=4)
        for pid in (11, 12):
            for field, mean in (("cpu_pct", 8.0), ("ended_pct", 0.0)):
                sides["linux_process"][side][f"{pid}/python3", field] = noise(mean, n, seed=pid + side)
    for field, mean in (("cpu_pct", 2.5), ("ended_pct", 0.0)):
        sides["linux_process"][1]["29488/python3", field] = noise(mean, M, seed=9)
    story = compare(sides)[0]
    assert story.sentence.startswith("python3 (29488) is new; lo ")
    assert [(process.pids, process.change) for process in story.processes] == [([29488], "new")]


@pytest.mark.parametrize(
    ("stat", "field", "unit", "normal", "now", "matters"),
    [
        ("linux_process", "kb_rd_per_s", "KiB/s", (0.0, 0.0, 0.0), (0.0, 1.6, 8.0), False),
        ("linux_process", "kb_rd_per_s", "KiB/s", (0.0, 0.0, 0.0), (900.0, 2000.0, 2500.0), True),
        ("linux_process", "majflt_per_s", "1/s", (0.0, 0.0, 0.0), (0.0, 0.1, 0.2), False),
        # A service that writes a little, and less than that, or hardly less.
        ("linux_process", "kb_wr_per_s", "KiB/s", (30.0, 40.0, 50.0), (10.0, 20.0, 40.0), True),
        ("linux_process", "kb_wr_per_s", "KiB/s", (28.0, 30.0, 36.0), (0.0, 26.0, 34.0), False),
        ("linux_net", "rxpck_per_s", "packets/s", (137.0, 300.0, 845.0), (20.0, 68.0, 90.0), False),
        ("linux_net", "rxpck_per_s", "packets/s", (137.0, 300.0, 845.0), (0.0, 0.0, 0.0), True),
        # Who waits is never too little.
        ("iostat_linux", "r_await_ms", "ms", (5.0, 5.0, 5.1), (5.0, 6.0, 8.0), True),
        # Nor are scans of tables, but for those of a few rows.
        ("postgresql_table", "seq_rows_per_s", "1/s", (0.0, 0.0, 0.0), (20.0, 28.0, 29.0), False),
        ("postgresql_table", "seq_rows_per_s", "1/s", (0.0, 0.0, 0.0), (2e5, 5e5, 9e5), True),
    ],
)
def test_an_amount_below_those_of_the_ledger_does_not_matter(
    stat: str, field: str, unit: str, normal: tuple[float, ...], now: tuple[float, ...], *, matters: bool
) -> None:
    group, finding = side_of_writer()
    sides = [
        replace(values, p5=low, mean=middle, median=middle, p95=high)
        for values, (low, middle, high) in ((finding.baseline, normal), (finding.incident, now))
    ]
    finding = replace(finding, instance="", baseline=sides[0], incident=sides[1])
    group = replace(group, stat=stat, field=field, unit=unit, members=[finding], n_members=1, n_instances=1)
    assert is_amount_that_matters(group) == matters


def test_a_service_that_stalls_is_told_with_the_disk_that_stops_with_it() -> None:
    sides = quiet_host()
    # The command has many processes: what one of them does is lost in their sum.
    del sides[COMMANDS]
    for side, n in ((0, N), (1, M)):
        sides[PIDS][side]["815/java", "cpu_pct"] = noise(9, n, seed=5 + side)
        stalls = (np.arange(n) % 12 < 4) & bool(side)
        for stat, name, field in (
            ("iostat_linux", "vda", "w_per_s"),
            ("iostat_linux", "vda", "wkb_per_s"),
            (PIDS, "815/java", "cpu_pct"),
        ):
            sides[stat][side][name, field] = np.where(stalls, 0.0, sides[stat][side][name, field])
    [story] = compare(sides)
    assert [process.name for process in story.processes] == ["java (815)"]
    assert story.sentence.startswith("java (815) used 6.1 % of a CPU (down to 0 %; normally ")
    assert "; every 12 s vda stops for 4 s: " in story.sentence


def test_too_few_page_faults_lead_no_story() -> None:
    sides = quiet_host()
    # They never happened before, and are rarer than one in five seconds.
    sides[COMMANDS][0]["java", "majflt_per_s"] = np.zeros(N)
    sides[COMMANDS][1]["java", "majflt_per_s"] = np.where(np.arange(M) % 15 < 2, 1.2, 0.0)
    for stat, name in ((COMMANDS, "java"), (PIDS, "815/java")):
        sides[stat][1][name, "cpu_pct"] = noise(60, M)
    [story] = compare(sides)
    assert (story.topic, [process.sentence for process in story.processes]) == (
        "cpu",
        ["java (815) used 60 % of a CPU (normally 18 to 22 %)"],
    )
