"""The rule file itself: each rule can be met and is not met by its opposite, each command parses and ends by itself."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest

from normstat.comparison.next_questions.question_rules import (
    PLACE_HOLDERS,
    BadRules,
    CommandRule,
    Condition,
    Meaning,
    QuestionRule,
    load_rules,
    parse_condition,
    parse_rules,
)
from normstat.comparison.next_questions.questions import FindingContext, FindingValue, fill, find_rules
from normstat.stats.catalogue import load_catalogue
from normstat.stats.spec import Stat

RULES = load_rules()
VALUES = {"cpu": "17", "command": "java", "pid": "4242", "disk": "sda", "interface": "eth0", "mount": "'/mnt/with blank'"}
OPPOSITE = {"up": "down", "down": "up"}


def field_names(stat: Stat) -> Iterator[str]:
    yield from (field.key for field in stat.fields)
    yield from (f"{family.template.key}0_tim_pct" for family in stat.families)


@functools.cache
def fields_of_stats(pattern: str) -> frozenset[str]:
    """The fields of all stats with such a name."""
    stats = load_catalogue().stats
    return frozenset(key for name, (_, stat) in stats.items() if fnmatchcase(name, pattern) for key in field_names(stat))


@functools.cache
def example_field(meaning: Meaning, of_stat: str = "*") -> tuple[str, str, str]:
    """A stat, a field and an instance that the meaning speaks of."""
    instances = {
        "cpu": "3", "process": "7/x", "command": "java", "thread": "7/x/2", "disk": "sda", "interface": "eth0", "mount": "/x",
        "container": "web", "gpu": "0", "session": "4711/UPDATE orders", "statement": "0x4f2a1b3c UPDATE orders",
        "proxy": "web/FRONTEND", "": "",
    }  # fmt: skip
    for pattern in meaning.patterns:
        instance = pattern.instances[0].replace("*", "") if pattern.instances else instances[meaning.of]
        for name, (_, stat) in load_catalogue().stats.items():
            for field in field_names(stat):
                if fnmatchcase(name, of_stat) and pattern.matches(name, field, [instance]):
                    return name, field, instance
    raise AssertionError(f"{meaning.name} speaks of nothing")


def meet(condition: Condition) -> list[FindingContext]:
    """Stories that meet the condition."""
    stat, field, instance = example_field(RULES.meanings[condition.meanings[0]], "*_solaris" if condition.over else "*")
    if condition.over:
        value = condition.limits[0].value
        over = example_field(RULES.meanings[condition.over], stat)
        return [made(stat, field, instance, "up", now=value), made(*over, "up", now=1)]
    now = was = 50.0
    for limit in condition.limits:
        if limit.is_baseline:
            was = limit.value
        else:
            now = limit.value
    share = 1 if "one" in condition.spreads or "few" in condition.spreads else 4
    kind = min(condition.kinds) if condition.kinds else "level"
    return [made(stat, field, instance, condition.direction or "up", now=now, was=was, n=share, kind=kind)]


def made(
    stat: str, field: str, instance: str, direction: str, *, now: float, was: float = 50, n: int = 4, kind: str = "level"
) -> FindingContext:
    # Without a unit: limits are in the unit that they are compared in.
    return FindingContext("h", stat, field, "", kind, direction, n, 4, (FindingValue(instance, kind, was, now),))


def example(rule: QuestionRule) -> list[FindingContext]:
    """Stories that meet the rule, the first of them what its question hangs on; none that meets a rule which hides it."""
    contexts = [item for condition in rule.when if not condition.is_absent for item in meet(condition)]
    for other in RULES.rules:
        if rule.name in other.instead_of and rule.name not in find_rules(contexts, RULES)[0]:
            contexts += [item for condition in other.when if condition.is_absent for item in meet(condition)]
    return contexts


def is_met(rule: QuestionRule, contexts: list[FindingContext]) -> bool:
    return rule.name in find_rules(contexts, RULES)[0]


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.name)
def test_rule_is_met_by_its_example_and_by_no_opposite(rule: QuestionRule) -> None:
    contexts = example(rule)
    assert is_met(rule, contexts)
    first, here = rule.when[0], contexts[0]
    opposites: list[list[FindingContext]] = []
    if first.direction:
        opposites.append([replace(here, direction=OPPOSITE[first.direction]), *contexts[1:]])
    if first.kinds:
        steady = replace(here, kind="level", members=(replace(here.members[0], kind="level"),))
        opposites.append([steady, *contexts[1:]])
    if first.spreads:
        opposites.append([replace(here, n_members=2 if "one" in first.spreads else 1, n_instances=3), *contexts[1:]])
    for limit in first.limits:
        beyond = limit.value + (-1 if limit.is_least else 1)
        opposites.append([replace(here, members=(replace(here.members[0], incident=beyond),)), *contexts[1:]])
    for condition in rule.when[1:]:
        if condition.is_absent:
            opposites.append([*contexts, *meet(condition)])
        else:
            dropped = [item for item in contexts[1:] if not set(condition.meanings) & meanings_of(item)]
            opposites.append([here, *dropped])
    assert opposites, "a rule that nothing can fail to meet"
    for opposite in opposites:
        assert not is_met(rule, opposite), opposite


def meanings_of(context: FindingContext) -> frozenset[str]:
    return RULES.find_meanings(context.stat, context.field, [member.instance for member in context.members])


@pytest.mark.parametrize("meaning", RULES.meanings.values(), ids=lambda meaning: meaning.name)
def test_every_pattern_names_fields_that_there_are(meaning: Meaning) -> None:
    for pattern in meaning.patterns:
        for name in pattern.stats:
            known = fields_of_stats(name)
            assert any(fnmatchcase(key, field) for key in known for field in pattern.fields), f"{name}: {pattern.fields}"
        for field in pattern.fields:
            assert any(fnmatchcase(key, field) for name in pattern.stats for key in fields_of_stats(name)), field


def filled(command: CommandRule) -> str:
    found = fill(command, {holder: VALUES[holder] for holder in command.holders}, "Why?")
    assert found is not None
    return found.command


@pytest.mark.parametrize("command", RULES.commands.values(), ids=lambda command: command.name)
def test_command_parses_and_ends(command: CommandRule) -> None:
    run = filled(command)
    shell = "bash" if command.on == "linux" else "sh"
    parsed = subprocess.run([shutil.which(shell) or shell, "-n", "-c", run], capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, parsed.stderr
    for program in re.findall(r"(?:dtrace -n|bpftrace -e) '([^']*)'", run):
        assert_balanced(program)
        assert re.search(r"(tick-\d+s|interval:s:\d+) \{[^{}]*exit\((0)?\); \}", program), "it must end by itself"
    assert_bounded(run)


def assert_balanced(program: str) -> None:
    """Brackets close in order; a `/` outside of them opens or closes a predicate."""
    pairs = {")": "(", "}": "{", "]": "["}
    open_brackets = []
    for sign in re.sub(r'"[^"]*"', "", program):
        if sign in pairs.values():
            open_brackets.append(sign)
        elif sign in pairs:
            assert open_brackets, program
            assert open_brackets.pop() == pairs[sign], program
    assert not open_brackets, program
    outside = re.sub(r"\{[^{}]*\}", "", program)
    assert len(re.findall(r"(?:^|\s)/|/(?:\s|$)", outside)) % 2 == 0, program


# Tools that go on until they are stopped: what each needs to end by itself.
ENDS = {
    r"\b(?:perf (?:record|stat|trace|lock contention|sched record|kvm stat record|c2c record))\b": r"-- sleep \d+",
    r"\b(?:prstat|vmstat(?! -i)|iostat(?! -En)|mpstat|fsstat|zpool iostat|pidstat|sar|nfsiostat)\s": r" \d+ \d+\b",
    r"\b(?:intrstat|cpustat|trapstat)\s": r" \d+ \d+\b",
    r"\blockstat\b(?!-)": r"sleep \d+",
    r"\bplockstat\b": r"-e \d+",
    r"\btruss\b|\bdladm show-link -s": r"sleep \d+; kill -INT \$!",
    r"\bstrace\b|\bbiosnoop|\bext4slower": r"timeout -s INT \d+",
    r"\bturbostat\b": r"--num_iterations \d+",
    r"-bpfcc\b": r"\d+",
}


def assert_bounded(run: str) -> None:
    for tool, end in ENDS.items():
        for part in re.split(r" && |; (?!kill)|\|\|", run):
            if re.search(tool, part) and "perf report" not in part and "perf sched latency" not in part:
                assert re.search(end, run), f"{part!r} would never end"


def test_place_holders_are_all_used() -> None:
    used = {holder for command in RULES.commands.values() for holder in command.holders}
    assert used == {holder for holders in PLACE_HOLDERS.values() for holder in holders}


SMALL = """
[meanings]
"cpu.sys" = { of = "cpu", words = "x", fields = ["a:b"] }
[commands]
one = { on = "linux", run = "true", note = "n", source = "true(1)" }
[[rules]]
id = "r"
when = ["cpu.sys up"]
ask = "?"
commands = ["one"]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[meanings]", "[meanings", "questions: "),
        ('of = "cpu"', 'of = "cpux"', "meaning cpu.sys: of is 'cpux'"),
        ('["a:b"]', '["ab"]', "not of the form STAT:FIELD"),
        ('["a:b"]', "[]", "meaning cpu.sys: fields must be a list of texts"),
        ('words = "x"', 'word = "x"', "meaning cpu.sys: knows no word"),
        ('on = "linux"', 'on = "aix"', "command one: on is 'aix'"),
        ('"true(1)"', '"a book"', "no manual page, no https address"),
        ('"true(1)"', '"true(1)", needs = "sudo"', "command one: needs is 'sudo'"),
        ('run = "true"', 'run = "echo \'x"', "command one: a quotation mark is missing"),
        ('run = "true"', 'run = "echo {dsk}"', "there is no place holder {dsk}"),
        ('run = "true"', "run = \"echo '{disk}'\"", "{disk} stands within quotes"),
        ('run = "true"', 'run = "echo {disk}"', "rule r: one wants {disk}, which 'cpu.sys up' never gives"),
        ('["one"]', '["two"]', "rule r: there is no command 'two'"),
        ('ask = "?"', "", "rule r: ask must be a text"),
        ('ask = "?"', 'ask = "?"\ninstead_of = ["s"]', "rule r: instead_of names s"),
        ("cpu.sys up", "cpu.usr up", "'cpu.usr', which is not a meaning"),
        ("cpu.sys up", "cpu.sys upwards", "'upwards', which has no meaning here"),
        ("cpu.sys up", "cpu.sys kind:odd", "'kind:odd', which has no meaning here"),
        ("cpu.sys up", "no cpu.sys up", "neither a `no` nor a ratio"),
        ("cpu.sys up", "cpu.sys/cpu.sys >=1", "neither a `no` nor a ratio"),
        ('["cpu.sys up"]', '["cpu.sys up", "cpu.sys/cpu.sys up"]', "is a ratio"),
        (
            'commands = ["one"]',
            'commands = ["one"]\n[[rules]]\nid = "r"\nwhen = ["cpu.sys"]\nask = "?"\ncommands = ["one"]',
            "two with",
        ),
        ("[[rules]]", 'x = { on = "any", run = "x", note = "x", source = "x(1)" }\n[[rules]]', "no rule offers: x"),
    ],
)
def test_bad_rules_are_refused(old: str, new: str, message: str) -> None:
    text = SMALL.replace(old, new, 1)
    assert text != SMALL
    with pytest.raises(BadRules, match=re.escape(message)):
        parse_rules(text)


def test_the_small_file_is_right_as_it_is() -> None:
    book = parse_rules(SMALL)
    assert [rule.name for rule in book.rules] == ["r"]
    assert parse_condition("cpu.sys up one|few here >=2.5 was<=1", book.meanings).limits[1].is_baseline
