"""The result of a check."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

# Names that are listed; the others are counted.
MAX_NAMED: Final = 5


class CheckStatus(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    """It works, but needs attention."""

    ERROR = "error"
    """Something does not work, or data is at risk."""

    NOT_CHECKED = "not_checked"
    """It could not be checked: neither good nor bad."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check found. `expected` and `advice` are empty where it is ok; of one that could not run, `found` says why."""

    check: str
    status: CheckStatus
    found: str
    expected: str = ""
    advice: str = ""


def ok(check: str, found: str) -> CheckResult:
    """Return a check that found nothing wrong."""
    return CheckResult(check, CheckStatus.OK, found)


def warning(check: str, found: str, expected: str, advice: str) -> CheckResult:
    """Return a check that found something to look at."""
    return CheckResult(check, CheckStatus.WARNING, found, expected, advice)


def error(check: str, found: str, expected: str, advice: str) -> CheckResult:
    """Return a check that found something broken."""
    return CheckResult(check, CheckStatus.ERROR, found, expected, advice)


def not_checked(check: str, why: str, advice: str = "") -> CheckResult:
    """Return a check that could not run."""
    return CheckResult(check, CheckStatus.NOT_CHECKED, why, "", advice)


def count_by_status(results: Sequence[CheckResult]) -> dict[CheckStatus, int]:
    """Return the number of checks with each status, 0 included."""
    return {status: sum(result.status is status for result in results) for status in CheckStatus}
