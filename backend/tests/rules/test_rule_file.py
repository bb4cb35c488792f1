"""Rule files: what is wrong is said with the entry and the reason."""

import pytest

from normstat.rules.rule_file import BadRule, load_builtin_rules, read_rule

GOOD = """
format = 1
name = "busy-disk"
title = "Busy disks"
subsystem = "disk"
version = 1
of = "disk"
about = "A disk that is busy."
source = "ours"
[inputs]
busy = { meaning = "disk.busy", unit = "%" }
[limits]
busy = { value = 80, unit = "%", source = "ours" }
[[states]]
state = "amber"
when = "busy > limit.busy"
for = "30 s"
action = "Look."
[[states]]
state = "green"
action = "Nothing."
"""


def test_a_good_rule_is_read() -> None:
    rule = read_rule(GOOD, "busy.toml")
    assert (rule.name, rule.of, rule.span_s, rule.limit_values()) == ("busy-disk", "disk", 30.0, {"busy": 80.0})
    assert [state.colour for state in rule.states] == ["amber", "green"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("format = 1", "format = 2", "format must be 1; found 2"),
        ("format = 1", "format = [", "not TOML"),
        ('name = "busy-disk"', 'name = "Busy Disk"', "name 'Busy Disk': small letters"),
        ('title = "Busy disks"', "", "the file: title is missing"),
        ('title = "Busy disks"', 'title = " "', "the file: title is empty"),
        ('title = "Busy disks"', "title = 3", "the file: title must be text"),
        ("version = 1", "version = 0", "version must be a whole number"),
        ("version = 1", "version = true", "version must be a whole number"),
        ('of = "disk"', 'of = "disc"', "of = 'disc': one of"),
        ('source = "ours"\n[', 'sauce = 1\nsource = "ours"\n[', "the file has 'sauce'"),
        ("disk.busy", "disk.bussy", "inputs.busy: there is no meaning 'disk.bussy'"),
        ('unit = "%" }\n[limits]', 'unit = "percent" }\n[limits]', "unit 'percent' must be one of"),
        ('meaning = "disk.busy", ', "", "needs either a meaning or fields"),
        ('meaning = "disk.busy"', 'fields = ["iostat_linux.utill"]', "'iostat_linux.utill' is no field"),
        ('meaning = "disk.busy"', 'fields = "iostat_linux.util_pct"', "fields must be a list"),
        ('meaning = "disk.busy"', 'fields = ["rate(iostat_linux.util_pct"]', "is no field; write it as STAT.FIELD"),
        ('meaning = "disk.busy"', 'fields = ["mean(iostat_linux.util_pct)"]', "is no field"),
        ('meaning = "disk.busy"', 'fields = ["iostat_linux.util_pct@"]', "is no field"),
        ('of = "disk"', 'of = "disk"\nexcept = "lo"', "except must be a list of texts"),
        ("busy = { meaning", "Busy = { meaning", "inputs.Busy: names are small letters"),
        ("value = 80", 'value = "80"', "limits.busy: value must be a number"),
        ("value = 80", "value = inf", "limits.busy: value must be a number"),
        ('busy > limit.busy"', 'busy > 80"', "no condition uses limit.busy"),
        ('busy > limit.busy"', 'busy > limit.idle"', "states[1].when: 'limit.idle': there is no limit 'idle'"),
        ('"30 s"', '"30 days"', "states[1].when: '30 days' is no length of time"),
        ('state = "amber"', 'state = "orange"', "states[1]: state 'orange' must be one of white"),
        ('when = "busy > limit.busy"\n', "", "states[1]: 'for' needs a 'when'"),
        ('action = "Nothing."', 'when = "busy > 1"\naction = "Nothing."', "the last state, and no other, is without 'when'"),
        ('of = "disk"', "", "a value for each instance"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, why: str) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    if 'of = "disk"' in old and not new:
        text = text.replace('unit = "%" }\n[', 'unit = "%", each = true }\n[', 1)
    with pytest.raises(BadRule) as caught:
        read_rule(text, "busy.toml")
    assert str(caught.value).startswith("busy.toml: ")
    assert why in str(caught.value)


def test_built_in_rules_have_names_of_their_own() -> None:
    assert all(name == rule.name for name, rule in load_builtin_rules().items())
    assert {"mutex", "hidden-interrupts", "run-queue", "disk-slow"} <= set(load_builtin_rules())
