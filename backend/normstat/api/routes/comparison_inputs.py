"""The parameters of a comparison: the same for a result, a report, and a saved comparison."""

from datetime import datetime
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlencode

from pydantic import Field, StringConstraints

from normstat.comparison.service import DEFAULT_LIMIT, BaselineChoice, ComparisonRequest
from normstat.errors import BadRequest
from normstat.runtime.body import NO_NUL, Body, Instant, Name, Note
from normstat.runtime.readable import to_iso
from normstat.window import Window

MAX_HOSTS: Final = DEFAULT_LIMIT
MAX_GROUPS: Final = 1000
Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Divisor = Annotated[str, StringConstraints(min_length=3, max_length=1000, pattern=NO_NUL)]
Hosts = Annotated[list[Name], Field(min_length=1, max_length=MAX_HOSTS, description="names of the hosts")]
AGAINST: Final = "exactly one of `baseline`, `baseline_start` with `baseline_end`, `ago`, `other_host` and `group`"


class AgainstInputs(Body):
    """What to compare the incident with, and how."""

    baseline: Annotated[Id | None, Field(description="id of a baseline")] = None
    version: Annotated[Id | None, Field(description="of the baseline; default: the newest")] = None
    baseline_start: Annotated[Instant | None, Field(description="instead of a baseline: its first instant")] = None
    baseline_end: Annotated[Instant | None, Field(description="instead of a baseline: the first instant after it")] = None
    ago: Annotated[
        Literal["day", "week"] | None, Field(description="instead of a baseline: the same time a day or a week earlier")
    ] = None
    other_host: Annotated[Name | None, Field(description="instead of a baseline: another host in the same window")] = None
    group: Annotated[
        Name | None, Field(description="instead of a baseline: the other hosts of this host group in the same window")
    ] = None
    divisor: Annotated[
        Divisor | None, Field(description="series that all others are divided by: stat.field or stat.field@instance")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MAX_GROUPS, description="most groups in the result; all are counted")] = DEFAULT_LIMIT


class ComparisonInputs(AgainstInputs):
    """Hosts and window of the incident, and what to compare with: exactly one of a baseline, another window, the same time
    earlier, another host, or a host group."""

    host: Hosts
    start: Annotated[Instant, Field(description="first instant of the incident")]
    end: Annotated[Instant, Field(description="first instant after the incident")]

    def require_against(self) -> None:
        """Require exactly one thing to compare with.

        Raises: BadRequest
        """
        window = (self.baseline_start, self.baseline_end)
        given = [self.baseline is not None, any(window), self.ago is not None, self.other_host is not None, self.group is not None]
        if sum(given) != 1 or (any(window) and not all(window)):
            raise BadRequest(f"Give {AGAINST}")
        if self.version is not None and self.baseline is None:
            raise BadRequest("`version` is that of a baseline: give `baseline` with it")

    def to_request(self) -> ComparisonRequest:
        """Return the request for `run_comparison`.

        Raises: BadRequest unless there is exactly one thing to compare with
        """
        self.require_against()
        window = None
        if self.baseline_start is not None and self.baseline_end is not None:
            window = Window(self.baseline_start, self.baseline_end)
        against = BaselineChoice(self.baseline, self.version, window, self.ago, self.other_host, self.group)
        # A host that is named twice is compared once.
        hosts = list(dict.fromkeys(self.host))
        return ComparisonRequest(hosts, Window(self.start, self.end), against, self.divisor, self.limit)

    def pinned(self, version: int | None) -> Self:
        """Return the inputs with the version of the baseline that was used, as the newest may change."""
        return self if self.baseline is None else self.model_copy(update={"version": version})

    def to_parameters(self) -> dict[str, str | int | list[str]]:
        """Return the parameters of GET /comparison."""
        return {
            name: to_iso(value) if isinstance(value, datetime) else value
            for name, value in self.model_dump(exclude_none=True, exclude={"limit"}).items()
        }

    def page_address(self, public_url: str) -> str:
        """Return the address of this comparison on the page."""
        asked = self.to_parameters()
        incident = f"{asked.pop('start')}/{asked.pop('end')}"
        if self.baseline_start is not None:
            asked["baseline_window"] = f"{asked.pop('baseline_start')}/{asked.pop('baseline_end')}"
        return f"{public_url.rstrip('/')}/comparison?{urlencode({**asked, 'incident': incident}, doseq=True)}"


class ReportInputs(AgainstInputs):
    """The parameters of GET /comparison, or `comparison`: the id of a saved one."""

    host: Hosts | None = None
    start: Annotated[Instant | None, Field(description="first instant of the incident")] = None
    end: Annotated[Instant | None, Field(description="first instant after the incident")] = None
    comparison: Annotated[Id | None, Field(description="id of a saved comparison, instead of all other parameters")] = None
    note: Annotated[Note, Field(description="printed in the report; default: the note of the saved comparison")] = ""

    def to_inputs(self) -> ComparisonInputs:
        """Return the parameters of the comparison.

        Raises: BadRequest when one is missing
        """
        if self.host is None or self.start is None or self.end is None:
            raise BadRequest("Give `host`, `start` and `end`, or `comparison`: the id of a saved one")
        return ComparisonInputs.model_validate(self.model_dump(exclude={"comparison", "note"}))
