"""Conditions of rules: arithmetic, comparisons and a few functions over samples, whole columns at a time.

Everything that an expression can name or call is listed here; it cannot reach Python. A comparison is true, false
or unknown: one with a missing value is unknown, and so is what depends on it. Conditions are 1.0, 0.0 and NaN in that order.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from normstat.errors import shorten
from normstat.runtime import work_budget
from normstat.scoring.summary import FloatArray
from normstat.watch.rules.rolling import Timeline, all_of_span, mean_of_span, previous_of, starts_in_span

MAX_TEXT: Final = 1000
MAX_NODES: Final = 200
# Maximum span of time: longer ones would be read again and again.
MAX_SPAN_S: Final = 86_400.0
SPAN_UNITS: Final[Mapping[str, float]] = {"s": 1.0, "min": 60.0, "h": 3600.0}

ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[FloatArray, FloatArray], FloatArray]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
}
COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[FloatArray, FloatArray], np.ndarray]]] = {
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
OVER_INSTANCES: Final = ("sum_of", "mean_of", "max_of", "min_of", "count_of", "number_of")
# The share of reports in which a condition held is the mean of its 1.0 and 0.0.
OVER_TIME: Final[Mapping[str, Callable[[Timeline, FloatArray, float], FloatArray]]] = {
    "held": all_of_span,
    "share": mean_of_span,
    "mean": mean_of_span,
    "times": starts_in_span,
}
# Seconds until an input reaches a limit, by its trend over days (time_to.py).
TIME_TO: Final = "time_to"
FUNCTIONS: Final = (*OVER_INSTANCES, *OVER_TIME, "before", "abs", "max", "min", TIME_TO)


class BadExpression(ValueError):
    """An expression cannot be used; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples that an expression is evaluated on.

    Shape: values[name] (n_reports, n_instances), or (n_reports, 1) for the whole host; by its text also each `time_to` of the
    expression. Missing: NaN
    """

    reports: Timeline
    values: Mapping[str, FloatArray]


@dataclass(frozen=True, slots=True)
class TimeTo:
    """A `time_to` of an expression: its text, the input, and the limit, which is a number or the name of a limit."""

    text: str
    name: str
    limit: float | str

    def value_of(self, limits: Mapping[str, float]) -> float:
        """Return the limit, in the unit of the input."""
        return limits[self.limit] if isinstance(self.limit, str) else self.limit


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression. `span_s`: how far back it looks, in seconds; `is_each`: it has a value for each instance"""

    text: str
    node: ast.expr
    names: frozenset[str]
    limits: frozenset[str]
    is_each: bool
    span_s: float
    times_to: tuple[TimeTo, ...] = ()

    def evaluate(self, samples: Samples, limits: Mapping[str, float]) -> FloatArray:
        """Return the value at each report. Missing: NaN where one is needed and missing, or on division by zero.

        Shape: -> (n_reports, n_instances), or (n_reports, 1)
        """
        with np.errstate(all="ignore"):
            value = _Evaluation(samples, limits).visit(self.node)
        return np.broadcast_to(value, (len(samples.reports), value.shape[1]))


def parse_expression(text: str, inputs: Mapping[str, bool], limits: frozenset[str]) -> Expression:
    """Return an expression. `inputs`: the names it may use, and whether each has a value for each instance.

    Raises: BadExpression
    """
    if len(text) > MAX_TEXT:
        raise BadExpression(f"a condition has at most {MAX_TEXT:,} characters; this one has {len(text):,}")
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        message = error.msg if isinstance(error, SyntaxError) else "not an expression"
        raise BadExpression(f"{shorten(text)}: {message}") from None
    if sum(1 for _ in ast.walk(node)) > MAX_NODES:
        raise BadExpression(f"a condition has at most {MAX_NODES} parts; make two states of this one")
    check = _Check(text, inputs, limits)
    is_each = check.visit(node)
    return Expression(text, node, frozenset(check.names), frozenset(check.limits), is_each, check.longest_s, tuple(check.times_to))


def parse_span(text: str) -> float:
    """Return a duration in seconds.

    Raises: BadExpression

    >>> parse_span("30 s"), parse_span("5 min"), parse_span("1.5h")
    (30.0, 300.0, 5400.0)
    """
    number, unit = text.strip(), ""
    for name in ("min", "s", "h"):
        if number.endswith(name):
            number, unit = number.removesuffix(name).strip(), name
            break
    try:
        seconds = float(number) * SPAN_UNITS[unit]
    except (ValueError, KeyError):
        raise BadExpression(f"{shorten(text)} is not a duration; write it as '30 s', '5 min' or '2 h'") from None
    if not 0 < seconds <= MAX_SPAN_S:
        raise BadExpression(f"{shorten(text)}: a duration is more than 0 and at most 24 h")
    return seconds


class _Check(ast.NodeVisitor):
    """Refuses what an expression must not have. Each visit returns whether the part has a value for each instance."""

    def __init__(self, text: str, inputs: Mapping[str, bool], limits: frozenset[str]) -> None:
        self._text, self._inputs, self._limits = text, inputs, limits
        self.names: set[str] = set()
        self.limits: set[str] = set()
        self.longest_s = 0.0
        self.times_to: list[TimeTo] = []
        self._span_s = 0.0

    def visit_BoolOp(self, node: ast.BoolOp) -> bool:
        return self._is_each(*node.values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> bool:
        if not isinstance(node.op, ast.Not | ast.USub):
            self._refuse(node, "only 'not' and '-' may stand before a value")
        return self._is_each(node.operand)

    def visit_BinOp(self, node: ast.BinOp) -> bool:
        if type(node.op) not in ARITHMETIC and not isinstance(node.op, ast.Div):
            self._refuse(node, "only + - * / are known")
        return self._is_each(node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> bool:
        if any(type(each) not in COMPARISONS for each in node.ops):
            self._refuse(node, "only > >= < <= == != compare")
        return self._is_each(node.left, *node.comparators)

    def visit_Constant(self, node: ast.Constant) -> bool:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self._refuse(node, f"{node.value!r} is not a number")
        return False

    def visit_Name(self, node: ast.Name) -> bool:
        if node.id not in self._inputs:
            known = ", ".join(sorted(self._inputs)) or "none"
            self._refuse(node, f"there is no input {shorten(node.id)}; inputs: {known}")
        self.names.add(node.id)
        return self._inputs[node.id]

    def visit_Attribute(self, node: ast.Attribute) -> bool:
        if not isinstance(node.value, ast.Name) or node.value.id != "limit":
            self._refuse(node, "only limit.NAME has a dot")
        if node.attr not in self._limits:
            known = ", ".join(sorted(self._limits)) or "none"
            self._refuse(node, f"there is no limit {shorten(node.attr)}; limits: {known}")
        self.limits.add(node.attr)
        return False

    def visit_Call(self, node: ast.Call) -> bool:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS or node.keywords:
            self._refuse(node, f"functions are {', '.join(FUNCTIONS)}")
        n_expected = 2 if name in (*OVER_TIME, "max", "min", TIME_TO) else 1
        if len(node.args) != n_expected:
            self._refuse(node, f"{name} takes {n_expected} value{'s' if n_expected > 1 else ''}")
        if name in OVER_TIME:
            span_s = parse_span(_text_of(node.args[1]))
            # Spans within spans look back as far as all of them together.
            self._span_s += span_s
            self.longest_s = max(self.longest_s, self._span_s)
            is_each = self._is_each(node.args[0])
            self._span_s -= span_s
            return is_each
        is_each = self._is_each(*node.args)
        if name == TIME_TO:
            self.times_to.append(self._to_time_to(node))
        return is_each and name not in OVER_INSTANCES

    def _to_time_to(self, node: ast.Call) -> TimeTo:
        level, limit = node.args
        if not isinstance(level, ast.Name):
            self._refuse(node, "time_to takes an input, such as time_to(left, 0)")
        if isinstance(limit, ast.Attribute):
            return TimeTo(ast.unparse(node), level.id, limit.attr)
        if not isinstance(limit, ast.Constant) or not isinstance(limit.value, int | float):
            self._refuse(node, "the limit of time_to is a number or limit.NAME")
        return TimeTo(ast.unparse(node), level.id, float(limit.value))

    def _is_each(self, *parts: ast.expr) -> bool:
        # All are looked at: each may name something unknown.
        found = [bool(self.visit(part)) for part in parts]
        return any(found)

    def generic_visit(self, node: ast.AST) -> NoReturn:
        self._refuse(node, f"{type(node).__name__} is not for conditions")

    def _refuse(self, node: ast.AST, why: str) -> NoReturn:
        part = ast.get_source_segment(self._text.strip(), node) if isinstance(node, ast.expr) else None
        raise BadExpression(f"{shorten(part or self._text)}: {why}")


def _text_of(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise BadExpression("a duration is written in quotes: held(busy > 80, '30 s')")


class _Evaluation(ast.NodeVisitor):
    """Evaluates a checked expression. The budget may stop it before each part."""

    def visit(self, node: ast.AST) -> FloatArray:
        work_budget.check()
        value: FloatArray = super().visit(node)
        return value

    def __init__(self, samples: Samples, limits: Mapping[str, float]) -> None:
        self._samples, self._limits = samples, limits

    def visit_BoolOp(self, node: ast.BoolOp) -> FloatArray:
        values: list[FloatArray] = [self.visit(value) for value in node.values]
        is_and = isinstance(node.op, ast.And)
        result = values[0]
        for value in values[1:]:
            decides = (result == 0) | (value == 0) if is_and else (result == 1) | (value == 1)
            is_unknown = np.isnan(result) | np.isnan(value)
            result = np.where(decides, 0.0 if is_and else 1.0, np.where(is_unknown, np.nan, 1.0 if is_and else 0.0))
        return result

    def visit_UnaryOp(self, node: ast.UnaryOp) -> FloatArray:
        value: FloatArray = self.visit(node.operand)
        return np.subtract(1.0 if isinstance(node.op, ast.Not) else 0.0, value)

    def visit_BinOp(self, node: ast.BinOp) -> FloatArray:
        left, right = self.visit(node.left), self.visit(node.right)
        if isinstance(node.op, ast.Div):
            return np.where(right == 0, np.nan, left / right)
        return ARITHMETIC[type(node.op)](left, right)

    def visit_Compare(self, node: ast.Compare) -> FloatArray:
        values = [self.visit(each) for each in (node.left, *node.comparators)]
        result: FloatArray | None = None
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            holds = np.where(np.isnan(left) | np.isnan(right), np.nan, COMPARISONS[type(op)](left, right).astype(float))
            result = holds if result is None else np.where((result == 0) | (holds == 0), 0.0, result * holds)
        assert result is not None
        return result

    def visit_Constant(self, node: ast.Constant) -> FloatArray:
        assert isinstance(node.value, int | float)
        return np.full((1, 1), float(node.value))

    def visit_Name(self, node: ast.Name) -> FloatArray:
        return self._samples.values[node.id]

    def visit_Attribute(self, node: ast.Attribute) -> FloatArray:
        return np.full((1, 1), self._limits[node.attr])

    def visit_Call(self, node: ast.Call) -> FloatArray:
        assert isinstance(node.func, ast.Name)
        name, reports = node.func.id, self._samples.reports
        if name == TIME_TO:
            return self._samples.values[ast.unparse(node)]
        first: FloatArray = self.visit(node.args[0])
        if name in OVER_TIME:
            whole = np.broadcast_to(first, (len(reports), first.shape[1]))
            return OVER_TIME[name](reports, whole, parse_span(_text_of(node.args[1])))
        if name in OVER_INSTANCES:
            return _reduce(name, first)
        if name == "before":
            return previous_of(reports, np.broadcast_to(first, (len(reports), first.shape[1])))
        if name == "abs":
            return np.where(first < 0, -first, first)
        second: FloatArray = self.visit(node.args[1])
        combined: FloatArray = np.maximum(first, second) if name == "max" else np.minimum(first, second)
        return combined


def _reduce(name: str, value: FloatArray) -> FloatArray:
    """Return one column: the instances with a value count. Missing: NaN where none has one; their number is 0"""
    is_known = ~np.isnan(value)
    n_known = is_known.sum(axis=1, keepdims=True)
    if name == "number_of":
        return np.asarray(n_known, dtype=np.float64)
    filled = np.where(is_known, value, {"max_of": -np.inf, "min_of": np.inf}.get(name, 0.0))
    if name == "count_of":
        reduced = (filled != 0).sum(axis=1, keepdims=True).astype(float)
    elif name == "max_of":
        reduced = filled.max(axis=1, keepdims=True, initial=-np.inf)
    elif name == "min_of":
        reduced = filled.min(axis=1, keepdims=True, initial=np.inf)
    else:
        reduced = filled.sum(axis=1, keepdims=True) / (np.maximum(n_known, 1) if name == "mean_of" else 1)
    return np.where(n_known > 0, reduced, np.nan)
