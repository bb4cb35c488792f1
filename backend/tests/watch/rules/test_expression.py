"""Conditions: three-valued, vectorised, closed to everything that is not listed; files of rules say what is wrong, and where."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.scoring.summary import FloatArray
from normstat.watch.rules.expression import BadExpression, Samples, parse_expression, parse_span
from normstat.watch.rules.rolling import Timeline
from normstat.watch.rules.rule_file import BadRule, load_builtin_rules, read_rule

INPUTS = {"usr": True, "sys": True, "runq": False}
LIMITS = frozenset({"sys"})
NAN = math.nan

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


def evaluate(text: str, **values: list[float] | list[list[float]]) -> list[list[float]]:
    columns: dict[str, FloatArray] = {name: np.array(given, dtype=float).reshape(len(given), -1) for name, given in values.items()}
    n_reports = len(next(iter(columns.values())))
    samples = Samples(Timeline(np.arange(n_reports, dtype=float)), columns)
    found: list[list[float]] = parse_expression(text, INPUTS, LIMITS).evaluate(samples, {"sys": 20.0}).tolist()
    return found


@pytest.mark.parametrize(
    ("text", "usr", "sys", "expected"),
    [
        ("usr > 5 and sys > limit.sys", 6, 21, 1),
        ("usr > 5 and sys > limit.sys", 6, 20, 0),
        ("usr > 5 and sys > limit.sys", 6, NAN, NAN),
        ("usr > 5 and sys > limit.sys", 5, NAN, 0),
        ("usr > 5 or sys > limit.sys", NAN, 21, 1),
        ("usr > 5 or sys > limit.sys", NAN, 20, NAN),
        ("not usr > 5", NAN, 0, NAN),
        ("not usr > 5", 5, 0, 1),
        ("0 < usr <= 5", 5, 0, 1),
        ("0 < usr <= 5 < sys", 5, 5, 0),
        ("usr / sys > 2", 5, 0, NAN),
        ("max(usr, sys) >= 7 and min(usr, sys) < 7", 7, 6, 1),
        ("abs(usr - sys) == 3", 1, 4, 1),
        ("-usr + 2 * sys != 7", 1, 4, 0),
    ],
)
def test_conditions_are_true_false_or_unknown(text: str, usr: float, sys: float, expected: float) -> None:
    assert evaluate(text, usr=[[usr]], sys=[[sys]]) == pytest.approx(np.array([[expected]]), nan_ok=True)


def test_instances_are_counted_where_they_have_values() -> None:
    usr = [[10.0, 90.0, NAN], [NAN, NAN, NAN]]
    for text, expected in (
        ("sum_of(usr)", [100, NAN]),
        ("mean_of(usr)", [50, NAN]),
        ("max_of(usr)", [90, NAN]),
        ("min_of(usr)", [10, NAN]),
        ("count_of(usr > 50)", [1, NAN]),
        ("number_of(usr)", [2, 0]),
    ):
        assert evaluate(text, usr=usr) == pytest.approx(np.array(expected).reshape(2, 1), nan_ok=True), text


def test_a_value_of_the_host_goes_to_each_instance() -> None:
    assert evaluate("runq > usr", runq=[5.0, 1.0], usr=[[1.0, 9.0], [1.0, 0.0]]) == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("__import__('os')", "functions are"),
        ("usr.__class__", "only limit.NAME"),
        ("(lambda: 1)()", "functions are"),
        ("[1 for _ in usr]", "not for conditions"),
        ("usr ** 9999999", "only + - * /"),
        ("usr if sys else runq", "not for conditions"),
        ("usr[0]", "not for conditions"),
        ("'a' > usr", "is not a number"),
        ("usr > True", "is not a number"),
        ("idle > 3", "there is no input 'idle'; inputs: runq, sys, usr"),
        ("usr > limit.usr", "there is no limit 'usr'; limits: sys"),
        ("usr >", "invalid syntax"),
        ("", "invalid syntax"),
        ("held(usr > 3)", "held takes 2 values"),
        ("held(usr > 3, 30)", "a duration is written in quotes"),
        ("held(usr > 3, '30 d')", "not a duration"),
        ("held(usr > 3, '48 h')", "at most 24 h"),
        ("max(usr, key=sys)", "functions are"),
        ("usr" + " + 1" * 400, "at most"),
        ("(" * 400 + "usr" + ")" * 400, "too many nested parentheses"),
        ("+usr", "may stand before a value"),
        ("usr in sys", "compare"),
        ("usr\x00", "null"),
    ],
)
def test_what_is_not_listed_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(BadExpression, match="(?i)" + why.replace("+", r"\+").replace("*", r"\*").replace("(", r"\(")):
        parse_expression(text, INPUTS, LIMITS)


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        expression = parse_expression(text, INPUTS, LIMITS)
    except BadExpression:
        return
    samples = Samples(Timeline(np.arange(3.0)), {name: np.ones((3, 2 if is_each else 1)) for name, is_each in INPUTS.items()})
    assert expression.evaluate(samples, {"sys": 1.0}).shape[0] == 3


def test_spans_within_spans_look_back_as_far_as_both() -> None:
    assert parse_expression("held(mean(usr, '1 min') > 3, '30 s') or sys > 1", INPUTS, LIMITS).span_s == 90
    assert parse_span("2 h") == 7200


def naive_held(times: list[float], holds: list[float], span: float) -> list[float]:
    """Looks at every report before each, one by one."""
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    result = []
    for at, now in enumerate(times):
        own, covered = [holds[at]], usual
        for before in range(at - 1, -1, -1):
            if times[before + 1] - times[before] > 3 * usual:
                break
            if times[before] > now - span:
                own.append(holds[before])
            covered = now - times[before] + usual
        result.append(0.0 if 0 in own else 1.0 if covered >= span - 1e-6 and NAN not in own and all(x == 1 for x in own) else NAN)
    return result


@given(
    st.lists(st.tuples(st.sampled_from([1, 1, 1, 2, 3, 9]), st.sampled_from([0.0, 1.0, 1.0, 1.0, NAN])), min_size=1, max_size=40),
    st.sampled_from([1, 3, 5, 10]),
)
def test_held_is_what_looking_at_each_report_gives(steps: list[tuple[int, float]], span: int) -> None:
    times = np.cumsum([step for step, _ in steps]).astype(float)
    usr = np.array([[value] for _, value in steps])
    expression = parse_expression(f"held(usr == 1, '{span} s')", INPUTS, LIMITS)
    found = expression.evaluate(Samples(Timeline(times), {"usr": usr}), {}).ravel()
    expected = naive_held(times.tolist(), [value for _, value in steps], span)
    assert found == pytest.approx(np.array(expected), nan_ok=True)


def test_mean_share_and_before_stop_at_gaps() -> None:
    times = np.array([0.0, 1, 2, 3, 100, 101])
    samples = Samples(Timeline(times), {"usr": np.array([[1.0], [3], [NAN], [5], [7], [9]])})

    def over(text: str) -> list[float]:
        return parse_expression(text, INPUTS, LIMITS).evaluate(samples, {}).ravel().tolist()

    assert over("mean(usr, '2 s')") == pytest.approx([NAN, 2, 3, 5, NAN, 8], nan_ok=True)
    assert over("share(usr > 2, '2 s')") == pytest.approx([NAN, 0.5, 1, 1, NAN, 1], nan_ok=True)
    assert over("times(usr != 3, '2 s')") == pytest.approx([NAN, 0, 0, 1, NAN, 0], nan_ok=True)
    assert over("before(usr)") == pytest.approx([NAN, 1, 3, NAN, NAN, 7], nan_ok=True)


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
        ('unit = "%" }\n[limits]', 'unit = "%", fact = "cpus" }\n[limits]', "fact = 'cpus': one of cpus, with each = true"),
        ('meaning = "disk.busy", ', "", "needs either a meaning or fields"),
        ('meaning = "disk.busy"', 'fields = ["iostat_linux.utill"]', "'iostat_linux.utill' is not a field"),
        ('meaning = "disk.busy"', 'fields = "iostat_linux.util_pct"', "fields must be a list"),
        ('meaning = "disk.busy"', 'fields = ["rate(iostat_linux.util_pct"]', "is not a field; write it as STAT.FIELD"),
        ('meaning = "disk.busy"', 'fields = ["mean(iostat_linux.util_pct)"]', "is not a field"),
        ('meaning = "disk.busy"', 'fields = ["iostat_linux.util_pct@"]', "is not a field"),
        ('of = "disk"', 'of = "disk"\nexcept = "lo"', "except must be a list of texts"),
        ("busy = { meaning", "Busy = { meaning", "inputs.Busy: names are small letters"),
        ("value = 80", 'value = "80"', "limits.busy: value must be a number"),
        ("value = 80", "value = inf", "limits.busy: value must be a number"),
        ('busy > limit.busy"', 'busy > 80"', "no condition uses limit.busy"),
        ('busy > limit.busy"', 'busy > limit.idle"', "states[1].when: 'limit.idle': there is no limit 'idle'"),
        ('"30 s"', '"30 days"', "states[1].when: '30 days' is not a duration"),
        ('state = "amber"', 'state = "orange"', "states[1]: state 'orange' must be one of white"),
        ('when = "busy > limit.busy"\n', "", "states[1]: 'for' needs a 'when'"),
        ('action = "Nothing."', 'when = "busy > 1"\naction = "Nothing."', "only the last state has no 'when'"),
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


def test_an_input_that_facts_may_give_is_only_counted() -> None:
    """Its values would be made up."""
    text = GOOD.replace('of = "disk"\n', "").replace('unit = "%" }\n[l', 'unit = "%", each = true, fact = "cpus" }\n[l')
    assert read_rule(text.replace('"busy >', '"number_of(busy) >'), "busy.toml").inputs[0].fact == "cpus"
    with pytest.raises(BadRule, match=r"inputs\.busy: an input with a fact has no values; use it as number_of\(busy\)"):
        read_rule(text.replace('"busy >', '"number_of(busy) + max_of(busy) >'), "busy.toml")
