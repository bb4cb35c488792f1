"""Releases of PostgreSQL as known when this version of normstat was made: how long a major version gets updates, what they fixed.

Sources: https://www.postgresql.org/support/versioning/, the announcements, and for November 2026 the changelog of Debian's 17.12.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

MIN_MAJOR: Final = 14  # multiranges came with 14
# The last day with updates of each major version.
SUPPORT_ENDS: Final[Mapping[int, date]] = {
    14: date(2026, 11, 12),
    15: date(2027, 11, 11),
    16: date(2028, 11, 9),
    17: date(2029, 11, 8),
    18: date(2030, 11, 14),
}


@dataclass(frozen=True, slots=True, order=True)
class PostgresVersion:
    """A version such as 16.14."""

    major: int
    minor: int

    @classmethod
    def of_number(cls, version_num: int) -> "PostgresVersion":
        """Return the version of PostgreSQL's `server_version_num`.

        >>> str(PostgresVersion.of_number(160014))
        '16.14'
        """
        return cls(*divmod(version_num, 10000))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


@dataclass(frozen=True, slots=True)
class SecurityRelease:
    """A day on which vulnerabilities were fixed. `minors` has the minor version of each major version.

    `n_fixed` is the number of vulnerabilities of all supported versions together; a few of them are not in every one.
    """

    day: date
    n_fixed: int
    minors: Mapping[int, int]


# The oldest first.
SECURITY_RELEASES: Final = (
    SecurityRelease(date(2026, 2, 12), 5, {14: 21, 15: 16, 16: 12, 17: 8, 18: 2}),
    SecurityRelease(date(2026, 5, 14), 11, {14: 23, 15: 18, 16: 14, 17: 10, 18: 4}),
    SecurityRelease(date(2026, 8, 13), 28, {14: 24, 15: 19, 16: 15, 17: 11, 18: 6}),
    SecurityRelease(date(2026, 11, 12), 47, {14: 25, 15: 20, 16: 16, 17: 12, 18: 7}),
)


def find_missing(version: PostgresVersion) -> list[SecurityRelease]:
    """Return the security releases that are newer than this version, the oldest first.

    Missing: empty for a version that has them all, and for a major version that is not in the table
    """
    return [release for release in SECURITY_RELEASES if version.minor < release.minors.get(version.major, 0)]


def is_supported(version: PostgresVersion, today: date) -> bool:
    """Return whether the major version gets updates; true for one that is newer than the table."""
    return version.major >= MIN_MAJOR and today <= SUPPORT_ENDS.get(version.major, date.max)
