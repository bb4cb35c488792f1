"""Choose events of a log by a small expression: cpu=1 and (event=lock,unlock or command~crond) and not duration<10us.

    or     any of them          time=A..B              between, both ends included
    and    all of them          time>=+1.5s            after the first event
    not    not this one         cpu=0,3                one of several
    ( )    grouping             function~schedule      has this in it, upper or lower case

Fields: time, cpu, pid, command, event, function, object (or address), arguments, duration, line.
It is never executed: it becomes masks.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from normstat.artefacts.parts import NO_NUMBER, CodedTexts, LogPart
from normstat.artefacts.trace_log.log_times import read_span, read_time
from normstat.errors import BadRequest, shorten

Mask = npt.NDArray[np.bool_]
MAX_LENGTH: Final = 2000
MAX_TERMS: Final = 100
MAX_DEPTH: Final = 30
TOKEN: Final = re.compile(
    r'\s*(?:(?P<bracket>[()])|(?P<field>[a-z]{2,10})\s*(?P<op>!=|!~|>=|<=|=|~|>|<)\s*(?P<value>(?:"[^"]*"|[^\s()",])(?:"[^"]*"|(?:(?<!\()\(\)|[^\s()"]))*)|(?P<word>and|or|not)\b)',
    re.IGNORECASE,
)
TEXTS: Final = {
    "command": "command", "comm": "command", "event": "event", "function": "function", "object": "object", "address": "object",
    "lock": "object", "arguments": "arguments", "args": "arguments",
}  # fmt: skip
NUMBERS: Final = {"cpu": "cpu", "pid": "pid", "tid": "pid", "line": "line"}
TIMES: Final = frozenset({"time", "duration"})
HELP: Final = "write e.g. cpu=1 and (event=lock,unlock or command~crond) and not duration<10us"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    op: str = ""
    value: str = ""


def choose_events(part: LogPart, where: str = "", *, start_ns: int | None = None, end_ns: int | None = None) -> Mask:
    """Return which events the expression and the window [start_ns, end_ns) choose; all of them without either.

    Raises: BadRequest for an expression that cannot be read
    """
    mask: Mask = np.ones(part.n_rows, bool)
    if start_ns is not None:
        mask &= part.time_ns >= start_ns
    if end_ns is not None:
        mask &= part.time_ns < end_ns
    if where.strip():
        mask &= _Parser(part, _split(where)).parse()
    return mask


def _split(where: str) -> list[_Token]:
    if len(where) > MAX_LENGTH:
        raise BadRequest(f"The filter has {len(where):,} characters; at most {MAX_LENGTH:,}")
    tokens: list[_Token] = []
    at = 0
    while at < len(where.rstrip()):
        found = TOKEN.match(where, at)
        if found is None:
            raise BadRequest(f"The filter cannot be read from {shorten(where[at:].strip())} on; {HELP}")
        at = found.end()
        if found["bracket"] is not None:
            tokens.append(_Token(found["bracket"], found["bracket"]))
        elif found["field"] is not None:
            tokens.append(_Token("term", found[0].strip(), found["op"], found["value"]))
            tokens[-1] = _Token("term", found["field"].lower(), found["op"], found["value"])
        else:
            tokens.append(_Token(found["word"].lower(), found["word"]))
    if sum(token.kind == "term" for token in tokens) > MAX_TERMS:
        raise BadRequest(f"The filter has more than {MAX_TERMS} conditions")
    return tokens


class _Parser:
    """Recursive descent: or, and, not, brackets, conditions."""

    def __init__(self, part: LogPart, tokens: Sequence[_Token]) -> None:
        self._part = part
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def parse(self) -> Mask:
        mask = self._any()
        if self._at < len(self._tokens):
            raise BadRequest(
                f"The filter has {shorten(self._tokens[self._at].text)} where and, or, or its end was expected; {HELP}"
            )
        return mask

    def _peek(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _any(self) -> Mask:
        mask = self._all()
        while self._peek() == "or":
            self._at += 1
            mask |= self._all()
        return mask

    def _all(self) -> Mask:
        mask = self._one()
        while self._peek() == "and":
            self._at += 1
            mask &= self._one()
        return mask

    def _one(self) -> Mask:
        kind = self._peek()
        self._at += 1
        if kind == "term":
            token = self._tokens[self._at - 1]
            return choose_by(self._part, token.text, token.op, token.value)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadRequest(f"The filter is nested more than {MAX_DEPTH} deep")
        if kind == "not":
            mask = ~self._one()
        elif kind == "(":
            mask = self._any()
            if self._peek() != ")":
                raise BadRequest(f"The filter has a ( without its ); {HELP}")
            self._at += 1
        else:
            raise BadRequest(f"The filter ends where a condition was expected; {HELP}")
        self._depth -= 1
        return mask


def choose_by(part: LogPart, field: str, op: str, value: str) -> Mask:
    """Return the events that meet one condition.

    Raises: BadRequest
    """
    values = [text.replace('"', "") for text in re.findall(r'(?:"[^"]*"|[^,"])+', value)]
    if not values:
        raise BadRequest(f"{field} is compared with nothing; {HELP}")
    if field in TEXTS:
        return _by_text(getattr(part, TEXTS[field]), op, values)
    if field in NUMBERS:
        column = getattr(part, NUMBERS[field])
        mask: Mask = _by_number(column, op, values, _integer) & (column != NO_NUMBER)
        return mask
    if field == "duration":
        timed: Mask = _by_number(part.duration_ns, op, values, read_span) & (part.duration_ns != NO_NUMBER)
        return timed
    if field == "time":
        first = int(part.time_ns[0]) if part.n_rows else 0
        return _by_number(part.time_ns, op, values, lambda text: read_time(text, clock=part.clock, first_ns=first))
    known = ", ".join([*TEXTS, *NUMBERS, *sorted(TIMES)])
    raise BadRequest(f"Events have no {shorten(field)}; they have {known}")


def _by_text(column: CodedTexts, op: str, values: Sequence[str]) -> Mask:
    if op in {"=", "!="}:
        wanted = set(values)
        hits = [name in wanted for name in column.names]
    elif op in {"~", "!~"}:
        words = [value.casefold() for value in values]
        hits = [any(word in folded for word in words) for folded in map(str.casefold, column.names)]
    else:
        raise BadRequest(f"Texts are compared with =, !=, ~ or !~, not with {op}")
    chosen: Mask = np.array(hits, bool)[column.codes] if hits else np.zeros(len(column), bool)
    return ~chosen if op.startswith("!") else chosen


def _by_number(
    column: npt.NDArray[np.int64] | npt.NDArray[np.int32], op: str, values: Sequence[str], read: Callable[[str], int]
) -> Mask:
    if op in {"=", "!="}:
        chosen: Mask = np.zeros(len(column), bool)
        for value in values:
            low, dots, high = value.partition("..")
            chosen |= (column >= read(low)) & (column <= read(high)) if dots else column == read(value)
        return ~chosen if op == "!=" else chosen
    if len(values) != 1 or op not in {">", ">=", "<", "<="}:
        raise BadRequest(f"{op} compares with one number; {HELP}")
    limit = read(values[0])
    compared: Mask = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[op](column, limit)
    return compared


def _integer(text: str) -> int:
    if re.fullmatch(r"\d{1,10}", text.strip()) is None:
        raise BadRequest(f"{shorten(text)} is not a whole number")
    return int(text)
