"""What `normstat compare` reports to a build: an exit code for what was found, and a JUnit file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from normstat.comparison.model import Comparison
from normstat.errors import BadRequest, shorten
from normstat.runtime.readable import count_of

# Distinct from errors (1) and wrong options (2).
FOUND_EXIT: Final = 3
CONDITION: Final = re.compile(r"(unusual|disturbed|appeared)(?::([1-9][0-9]{0,6}))?")
# XML 1.0 has no other control characters, not even escaped.
NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class FailOn(StrEnum):
    """What a build can fail on: changes, tools that disturbed the host, series that are new."""

    UNUSUAL = "unusual"
    DISTURBED = "disturbed"
    APPEARED = "appeared"


@dataclass(frozen=True, slots=True)
class FailCondition:
    """Fail when at least `n` things of a kind were found."""

    kind: FailOn
    n: int


@dataclass(frozen=True, slots=True)
class CheckCase:
    """One test case: a subsystem, story or kind of finding, and the sentences of what was found; none: it passes."""

    kind: FailOn
    name: str
    sentences: Sequence[str]


def parse_fail_on(texts: Sequence[str]) -> list[FailCondition]:
    """Return the conditions.

    Raises: BadRequest

    >>> parse_fail_on(["unusual", "appeared:3"])
    [FailCondition(kind=<FailOn.UNUSUAL: 'unusual'>, n=1), FailCondition(kind=<FailOn.APPEARED: 'appeared'>, n=3)]
    """
    found = []
    for text in texts:
        match = CONDITION.fullmatch(text)
        if match is None:
            raise BadRequest(
                f"--fail-on is {shorten(text)}; expected unusual, disturbed or appeared, each also with :N, e.g. unusual:3"
            )
        found.append(FailCondition(FailOn(match[1]), int(match[2] or 1)))
    return found


def cases_of(result: Comparison) -> list[CheckCase]:
    """Return the cases of a comparison: stories, subsystems with groups outside of stories, tools that disturbed, new series."""
    told = {rank for story in result.stories for rank in story.ranks}
    cases = [CheckCase(FailOn.UNUSUAL, f"{story.title} ({', '.join(story.hosts)})", [story.sentence]) for story in result.stories]
    by_subsystem: dict[str, list[str]] = {}
    for group in result.groups:
        if group.rank not in told and group.kind not in {"appeared", "disappeared"}:
            by_subsystem.setdefault(str(group.subsystem), []).append(f"{group.host}: {group.sentence}")
    cases += [CheckCase(FailOn.UNUSUAL, name, sentences) for name, sentences in by_subsystem.items()]
    if not cases:
        cases.append(CheckCase(FailOn.UNUSUAL, "nothing unusual", []))
    disturbed = [f"{one.host}: {one.sentence}" for one in result.circumstances if one.kind == "observer"]
    cases.append(CheckCase(FailOn.DISTURBED, "tools that disturbed the host", disturbed))
    cases.append(CheckCase(FailOn.APPEARED, "series that appeared", [f"{one.host}: {one.sentence}" for one in result.appeared]))
    return cases


def failures_of(cases: Sequence[CheckCase], conditions: Sequence[FailCondition]) -> list[str]:
    """Return the sentences of the conditions that are met."""
    found = []
    for condition in conditions:
        n = sum(len(case.sentences) for case in cases if case.kind is condition.kind)
        if n >= condition.n:
            found.append(f"--fail-on {condition.kind}: {count_of(n, 'finding')}, the limit is {condition.n}")
    return found


def write_junit(path: Path, cases: Sequence[CheckCase], conditions: Sequence[FailCondition]) -> None:
    """Write the cases as JUnit XML. A case fails when it has sentences and its kind is one that the build fails on.

    Raises: BadRequest when the file cannot be written
    """
    met = {
        condition.kind
        for condition in conditions
        if sum(len(case.sentences) for case in cases if case.kind is condition.kind) >= condition.n
    }
    failed = [case for case in cases if case.sentences and case.kind in met]
    totals = {"name": "normstat compare", "tests": str(len(cases)), "failures": str(len(failed)), "errors": "0", "skipped": "0"}
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", totals)
    for case in cases:
        item = ET.SubElement(suite, "testcase", {"classname": f"normstat.{case.kind}", "name": _clean(case.name), "time": "0"})
        if not case.sentences:
            continue
        text = _clean("\n".join(case.sentences))
        if case in failed:
            failure = ET.SubElement(item, "failure", {"type": str(case.kind), "message": text.split("\n", 1)[0]})
            failure.text = text
        else:
            ET.SubElement(item, "system-out").text = text
    try:
        path.write_bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")
    except OSError as error:
        raise BadRequest(f"Cannot write {path}: {error.strerror}; choose a writable place") from None


def _clean(text: str) -> str:
    return NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
