"""Next questions: which rule speaks of what, and what a command is made of."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from normstat.comparison.model import Question
from normstat.comparison.next_questions.question_rules import load_rules, parse_rules
from normstat.comparison.next_questions.questions import (
    FindingContext,
    FindingValue,
    System,
    find_questions,
    find_rules,
    to_system,
    tools_of,
)
from normstat.stats.catalogue import load_catalogue
from normstat.stats.fact_words import TOOLS

RULES = load_rules()


def context(
    stat: str,
    field: str,
    direction: str = "up",
    *instances: str,
    was: float = 1.0,
    now: float = 10.0,
    of: int = 0,
    kind: str = "level",
    unit: str = "",
    host: str = "web1",
) -> FindingContext:
    members = tuple(FindingValue(name, kind, was, now) for name in instances or ("",))
    return FindingContext(host, stat, field, unit, kind, direction, len(members), of or len(members), members)


def ask(contexts: Sequence[FindingContext], system: System) -> list[list[Question]]:
    return find_questions(contexts, {"web1": system})


def names(*contexts: FindingContext) -> list[str]:
    """The rules of the first context."""
    return find_rules(contexts, RULES)[0]


def commands(contexts: Sequence[FindingContext], system: System) -> str:
    return "\n".join(command.command for question in ask(contexts, system)[0] for command in question.commands)


def test_commands_need_tools_that_the_host_has() -> None:
    busy = context("mpstat_solaris", "sys_pct", "up", "0", "1", unit="%", now=40)

    def offered(*tools: str) -> tuple[list[str], list[str]]:
        [questions] = find_questions([busy], {"web1": "sunos"}, tools={"web1": frozenset(tools)})
        found = [command for question in questions for command in question.commands]
        return [command.command.split()[0] for command in found], [command.note for command in found]

    [known] = find_questions([busy], {"web1": "sunos"}, tools={"db1": frozenset()})
    everything = [command.command.split()[0] for question in known for command in question.commands]
    assert {"lockstat", "dtrace"} <= set(everything)
    runs, notes = offered("lockstat", "dtrace")
    assert runs == everything
    runs, notes = offered("lockstat", "truss")
    assert runs == [run for run in everything if run != "dtrace"]
    assert not any(note.startswith("Install") for note in notes)
    # Without any of them a question stays, and says what it lacks.
    stuck = context("mpstat_solaris", "smtx", "up", "0", "1")
    [questions] = find_questions([stuck], {"web1": "sunos"}, tools={"web1": frozenset({"none"})})
    notes = [command.note for question in questions for command in question.commands]
    assert notes
    assert all(note.startswith("Install lockstat first: not found on web1. ") for note in notes)


def test_the_agent_looks_for_the_tools_that_commands_are_filtered_by() -> None:
    agent = (Path(__file__).parents[3] / "agents/normstat-agent").read_text()
    [listed] = re.findall(r"for pt_tool in ([^;]+); do", agent)
    assert set(listed.split()) == TOOLS
    # Solaris' mdb is fed by echo; the runner of another command is none.
    unknown = [rule.name for rule in RULES.commands.values() if "| mdb" in rule.run and "mdb" not in tools_of(rule.run)]
    assert unknown == []


SYS = context("mpstat_solaris", "sys_pct", "up", "0", "1", unit="%", now=40)
LOST_IDLE = context("vmstat_linux", "cpu_id", "down", now=2, unit="%")


@pytest.mark.parametrize(
    ("contexts", "first"),
    [
        ([SYS], "sys-up"),
        ([SYS, context("vmstat_solaris", "faults_sy")], "sys-and-syscalls"),
        ([SYS, context("mpstat_solaris", "smtx", "up", "0", "1")], "sys-and-mutex"),
        ([SYS, context("mpstat_solaris", "smtx", "up", host="web2")], "sys-up"),
        ([SYS, context("mpstat_solaris", "csw")], "sys-and-csw"),
        ([SYS, context("mpstat_solaris", "csw"), context("mpstat_solaris", "syscl")], "sys-and-syscalls"),
        ([context("mpstat_linux", "usr_pct", "up", "3", of=64, now=98)], "one-cpu-hot"),
        ([context("mpstat_linux", "usr_pct", "up", *"01234567", of=8, now=98), context("mpstat_linux", "sys_pct")], "usr-up"),
        ([context("mpstat_linux", "usr_pct", "up", "3", of=64, now=40)], "usr-up"),
        ([context("mpstat_solaris", "intr", "up", "16", of=32, now=2969)], "cpu-hidden-interrupts"),
        ([LOST_IDLE], "idle-gone"),
        ([context("vmstat_linux", "cpu_id", "down", now=60)], "idle-down"),
        ([LOST_IDLE, context("vmstat_linux", "cpu_wa", now=80)], "idle-waits"),
        ([context("mpstat_linux", "idle_pct", "down", "2", now=60), context("mpstat_linux", "iowait_pct", "up", "3")], "idle-down"),
        ([context("pidstat_linux", "cpu_pct", "up", "77/java", now=99.8, unit="%")], "single-thread"),
        ([context("pidstat_linux", "cpu_pct", "up", "77/java", now=240, unit="%")], "process-cpu"),
        ([context("prstat_solaris_lwp_micro", "usr_pct", "up", "77/java/5", now=99)], "single-thread-lwp"),
        ([context("prstat_solaris_micro", "lck_pct", "up", "77/java")], "process-lock"),
        ([context("prstat_solaris_micro", "lat_pct", "up", "77/java")], "process-latency"),
        ([context("vmstat_solaris", "page_sr")], "scan-up"),
        ([context("proc_meminfo", "mem_free", "down", kind="trend")], "free-trend"),
        ([context("vmstat_linux", "memory_free", "down"), context("vmstat_linux", "memory_cache")], "free-cache"),
        ([context("pidstat_linux", "rss_kb", "up", "9/a", kind="trend")], "leak"),
        ([context("iostat_linux", "util_pct", "up", "sda", now=99)], "disk-saturated"),
        ([context("iostat_linux", "util_pct", "up", "sda", of=30, now=40)], "one-disk"),
        ([context("iostat_linux", "r_await_ms", "up", "sda")], "slow-not-busy"),
        ([context("iostat_linux", "r_await_ms", "up", "sda"), context("iostat_linux", "r_per_s", "up", "sda")], "disk-latency"),
        ([context("iostat_linux", "r_await_ms", "up", "sda"), context("iostat_linux", "r_per_s", "up", "sdb")], "slow-not-busy"),
        ([context("iostat_solaris", "kw_per_s", "down", "sd3"), context("iostat_solaris", "asvc_t_ms")], "disk-throughput-fell"),
        ([context("mpstat_solaris", "syscl", "down", kind="stall")], "syscalls-down"),
        ([context("nicstat_tcp", "retx_pct")], "retransmits"),
        ([context("uptime", "load_1m")], "load-blocked"),
        ([context("uptime", "load_1m"), context("vmstat_linux", "procs_r")], "load-up"),
        ([context("vmstat_linux", "procs_r")], "runq-while-idle"),
        ([context("vmstat_linux", "procs_r"), LOST_IDLE], "runq-up"),
        ([context("fsstat_solaris", "lookup_ops", "up", "/var")], "fs-calls"),
    ],
)
def test_first_question(contexts: list[FindingContext], first: str) -> None:
    assert names(*contexts)[:1] == [first]


def test_a_stall_is_asked_about_with_the_fall() -> None:
    assert "stall" in names(context("mpstat_solaris", "syscl", "down", kind="stall"))
    assert "stall" not in names(context("mpstat_solaris", "syscl", "down"))


def test_bytes_for_each_write() -> None:
    def disk(kilobytes: float, stat: str = "iostat_solaris", instance: str = "c0t0d0") -> list[FindingContext]:
        writes = context("iostat_solaris", "w_per_s", "up", "c0t0d0", now=1000, unit="1/s")
        return [writes, context(stat, "kw_per_s", "up", instance, now=kilobytes, unit="KiB/s")]

    assert names(*disk(512))[0] == "tiny-writes"
    assert names(*disk(4000))[0] == "tiny-writes"
    # 8 KiB each; another disk; another tool, whose window is not the same.
    for not_tiny in (disk(8000), disk(512, instance="c0t1d0"), disk(512, stat="iostat_freebsd")):
        assert "tiny-writes" not in names(*not_tiny)
        assert "disk-writes" in names(*not_tiny)


def test_tiny_writes_are_those_of_the_disk_in_question() -> None:
    def both(field: str, first: float, second: float, unit: str) -> FindingContext:
        members = (FindingValue("c0t0d0", "level", 1, first), FindingValue("c0t1d0", "level", 1, second))
        return FindingContext("web1", "iostat_solaris", field, unit, "level", "up", 2, 8, members)

    written = both("kw_per_s", 80_000, 500, "KiB/s")
    assert "tiny-writes" in names(both("w_per_s", 1000, 1000, "1/s"), written)
    of_the_first = context("iostat_solaris", "b_pct", "up", "c0t0d0", of=8, now=50)
    assert "tiny-writes" not in names(of_the_first, both("w_per_s", 1000, 1000, "1/s"), written)
    of_the_second = context("iostat_solaris", "b_pct", "up", "c0t1d0", of=8, now=50)
    assert "tiny-writes" in names(of_the_second, both("w_per_s", 1000, 1000, "1/s"), written)


@pytest.mark.parametrize(("n", "words"), [(1, "one few"), (16, "few"), (17, ""), (31, ""), (32, "most"), (64, "most")])
def test_how_many_are_one_few_and_most(n: int, words: str) -> None:
    def is_met(word: str) -> bool:
        text = f"""
            [meanings]
            "cpu.sys" = {{ of = "cpu", words = "x", fields = ["mpstat_linux:sys_pct"] }}
            [commands]
            one = {{ on = "linux", run = "true", note = "n", source = "true(1)" }}
            [[rules]]
            id = "r"
            when = ["cpu.sys {word}"]
            ask = "?"
            commands = ["one"]
        """
        return find_rules([context("mpstat_linux", "sys_pct", "up", *map(str, range(n)), of=64)], parse_rules(text)) == [["r"]]

    assert " ".join(word for word in ("one", "few", "most") if is_met(word)) == words


def test_nothing_is_asked_where_nothing_is_known() -> None:
    assert find_rules([context("kstat_solaris", "value"), context("my_tool", "usr_pct")], RULES) == [[], []]
    assert ask([], "linux") == []


@pytest.mark.parametrize(("system", "word"), [("sunos", "lockstat"), ("linux", "perf record")])
def test_commands_are_of_the_system(system: System, word: str) -> None:
    both = [SYS, context("mpstat_solaris", "smtx", "up", "0", "1")] if system == "sunos" else [context("vmstat_linux", "cpu_sy")]
    (question, *_), *_ = ask(both, system)
    assert question.commands[0].command.startswith(word)
    others = {command.run for command in RULES.commands.values() if command.on not in (system, "any")}
    assert others.isdisjoint(command.command for found in ask(both, system) for item in found for command in item.commands)
    assert all(command.source for command in question.commands)


def test_a_system_without_commands_of_its_own_gets_the_question() -> None:
    (question, *_), *_ = ask([context("vmstat_unix", "cpu_us")], "other")
    assert "which ones" in question.why
    assert [command.command for command in question.commands] == ["ps -eo pid,ppid,pcpu,args | sort -k3 -n -r | head -20"]


def test_the_instance_is_filled_in() -> None:
    assert "perf record -F 99 -C 17 -g -- sleep 10" in commands(
        [context("mpstat_linux", "sys_pct", "up", "17", of=64, now=90)], "linux"
    )
    assert "biosnoop-bpfcc -d nvme0n1" in commands([context("iostat_linux", "util_pct", "up", "nvme0n1", now=95)], "linux")
    assert "plockstat -C -e 10 -p 1097" in commands(
        [context("prstat_solaris_micro", "lck_pct", "up", "1097/VBoxHeadless")], "sunos"
    )
    assert "ethtool -S eth0.100" in commands([context("nicstat", "ierr_per_s", "up", "eth0.100")], "linux")
    assert "du -xh --max-depth=2 '/mnt/with blank'" in commands([context("df_linux", "used_pct", "up", "/mnt/with blank")], "linux")
    assert "nfsiostat 1 5 /home;" in commands([context("nfsiostat_linux_op", "avg_rtt_ms", "up", "/home read")], "linux")


def test_the_strongest_that_meets_the_limits_is_filled_in() -> None:
    idle_first = FindingContext(
        "web1",
        "mpstat_linux",
        "usr_pct",
        "%",
        "level",
        "up",
        2,
        64,
        (FindingValue("5", "level", 1, 30), FindingValue("9", "level", 1, 99)),
    )
    assert "-C 9 " in commands([idle_first], "linux")


@pytest.mark.parametrize(
    ("stat", "field", "hostile"),
    [
        ("iostat_linux", "util_pct", "sda; rm -rf /"),
        ("iostat_linux", "util_pct", "$(reboot)"),
        ("iostat_linux", "util_pct", "--help"),
        ("iostat_linux", "util_pct", "../../etc/passwd"),
        ("iostat_linux", "util_pct", "sda\nreboot"),
        ("mpstat_linux", "sys_pct", "1' || reboot || '"),
        ("mpstat_linux", "sys_pct", "٣"),
        ("pidstat_linux", "cpu_pct", "1;reboot/java"),
        ("pidstat_linux", "cpu_pct", "-1/java"),
        ("pidstat_linux", "cpu_pct", "٣/java"),
        ("nicstat", "ierr_per_s", "eth0`reboot`"),
        ("df_linux", "used_pct", "/mnt/\x1b[2Jreboot\r"),
        ("df_linux", "used_pct", "/mnt/\u202etoober"),
        ("df_linux", "used_pct", "-rf"),
    ],
)
def test_a_hostile_instance_is_in_no_command(stat: str, field: str, hostile: str) -> None:
    found = ask([context(stat, field, "up", hostile, of=64, now=95)], "linux")[0]
    harmless = ask([context(stat, field, "up", "@", of=64, now=95)], "linux")[0]
    assert found == harmless


def test_a_busier_command_is_asked_about_by_name() -> None:
    [first, *_] = ask([context("linux_command", "cpu_pct", "up", "postgres", was=5, now=90, of=30, unit="%")], "linux")[0]
    assert first.why.startswith("The processes of this command use more CPU time")
    assert first.commands[0].command.startswith("ps -C postgres ")


def test_a_mount_point_is_quoted() -> None:
    found = commands([context("df_linux", "used_pct", "up", "/mnt/$(reboot) 'x'")], "linux")
    assert """du -xh --max-depth=2 '/mnt/$(reboot) '"'"'x'"'"'' |""" in found


def test_the_process_behind_a_name_of_any_form() -> None:
    assert "-p 4242 " in commands([context("ps_linux", "cpu_pct", "up", "4242/4250/$(reboot)\n", now=50)], "linux")


@pytest.mark.parametrize(
    ("os", "specs", "system"),
    [
        ("Linux 6.1.0-28-amd64 x86_64", ["sunos"], "linux"),
        ("SunOS 5.11 i86pc", [], "sunos"),
        ("", ["sunos", "any"], "sunos"),
        ("", ["linux"], "linux"),
        ("", ["linux", "sunos"], "other"),
        ("", [], "other"),
        ("AIX 7.2", ["linux"], "other"),
    ],
)
def test_system_of_a_host(os: str, specs: list[str], system: System) -> None:
    assert to_system(os, specs) == system


@pytest.mark.parametrize("instance", ["nginx.service", "0", "", "docker/web 1", "812/java"])
def test_every_meaning_is_asked_about_whatever_its_instance_is_called(instance: str) -> None:
    """Containers and GPUs have plain names, but no command takes one."""
    for meaning in RULES.meanings.values():
        for pattern in meaning.patterns:
            for stat in pattern.stats:
                for field in pattern.fields:
                    assert ask([context(stat, field, direction, instance) for direction in ("up", "down")], "linux")


def test_few_questions_with_few_commands_each() -> None:
    contexts = [
        context("mpstat_solaris", field.key, direction, "1", of=8, now=95, kind="stall")
        for field in load_catalogue().stats["mpstat_solaris"][1].fields
        for direction in ("up", "down")
    ]
    found = ask(contexts, "sunos")
    assert max(len(questions) for questions in found) == 3
    assert max(len(question.commands) for questions in found for question in questions) <= 5
