"""Where `normstat run` keeps what it measured: the local database, or a server through its API."""

import asyncio
import json
import urllib.error
import urllib.parse
import urllib.request
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from normstat.api.routes.experiment_schemas import RunCreate
from normstat.artefacts.artefact_service import ArtefactDraft, make_artefact, now_utc
from normstat.cli.db_session import run_in_session, run_or_exit
from normstat.db.row_records import to_record
from normstat.db.session import WriteSession, make_engine, make_sessions
from normstat.errors import BadRequest, DatabaseAway, NormstatError, NotAuthenticated
from normstat.experiments import experiment_rows
from normstat.experiments.artefact_runs import results_with_output
from normstat.experiments.experiment_rows import RunDraft, RunSource
from normstat.records.artefact_rows import ArtefactSource
from normstat.settings import load_settings
from normstat.stats.measured_value import MeasuredValue

AUTHOR: Final = "command line"
TIMEOUT_S: Final = 60


class RunTarget(ABC):
    """Keeps artefacts and runs."""

    @abstractmethod
    def check(self) -> None:
        """Check that runs can be kept, before a command begins."""

    @abstractmethod
    def keep_output(self, path: Path, draft: ArtefactDraft) -> int:
        """Return the id of the artefact made of an output."""

    @abstractmethod
    def keep_run(self, run: RunCreate) -> str:
        """Keep a run; return where its experiment is seen."""


class DatabaseTarget(RunTarget):
    """The local database, as other commands use it."""

    def check(self) -> None:
        """Check that the database answers and has this program's schema."""
        run_or_exit(lambda: None)

    def keep_output(self, path: Path, draft: ArtefactDraft) -> int:
        """Return the id of the artefact made of an output."""

        async def make() -> int:
            engine = make_engine(load_settings().database_url, pool_size=1)
            try:
                return (await make_artefact(make_sessions(engine), draft, path, now=now_utc())).id
            finally:
                await engine.dispose()

        return run_or_exit(lambda: asyncio.run(make()))

    def keep_run(self, run: RunCreate) -> str:
        """Keep a run; return where its experiment is seen."""

        async def add(session: WriteSession) -> int:
            results = await results_with_output(
                session, [MeasuredValue(each.name, each.value, each.unit) for each in run.results], run.artefacts
            )
            draft = to_record(RunDraft, run, source=RunSource.CLI, author=AUTHOR, results=results)
            return (await experiment_rows.add_run(session, run.experiment, draft)).experiment_id

        return f"/experiments/{run_in_session(add)}"


class ServerTarget(RunTarget):
    """A server, through its API, with an API token of the role operator."""

    def __init__(self, server: str, token: str) -> None:
        """Raise BadRequest for an address that is not one."""
        parts = urllib.parse.urlsplit(server)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise BadRequest(f"Found the server {server!r}; expected http://HOST:PORT or https://HOST")
        if not token:
            raise NotAuthenticated(
                "A server needs an API token of the role operator: create one on the page Accounts, and set NORMSTAT_API_TOKEN"
            )
        self.server = server.rstrip("/")
        self._token = token

    def check(self) -> None:
        """Check that the server answers and takes the token, with a role that may add runs."""
        me = self._ask("GET", "/auth/me")
        if me.get("role") == "viewer":
            raise NotAuthenticated("The API token has the role viewer; adding runs requires the role operator")

    def keep_output(self, path: Path, draft: ArtefactDraft) -> int:
        """Return the id of the artefact made of an output."""
        times = {"start": draft.start, "end": draft.end}
        params = {"host": draft.host, "title": draft.title, "command": draft.command, "name": draft.file_name, "source": "cli"}
        params |= {name: time.astimezone(UTC).isoformat() for name, time in times.items() if time is not None}
        found = self._ask("POST", f"/artefacts?{urllib.parse.urlencode(params)}", path.read_bytes(), "application/octet-stream")
        return int(found["id"])

    def keep_run(self, run: RunCreate) -> str:
        """Keep a run; return where its experiment is seen."""
        body = run.model_copy(update={"source": "cli"}).model_dump_json().encode()
        return f"{self.server}/experiments/{self._ask('POST', '/experiments/runs', body)['experiment']}"

    def _ask(self, method: str, path: str, body: bytes | None = None, kind: str = "application/json") -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        request = urllib.request.Request(f"{self.server}/api/v1{path}", data=body, headers=headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:  # noqa: S310 (the scheme is checked above)
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise _to_error(error) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise DatabaseAway(f"The server {self.server} cannot be reached: {reason}") from None


def _to_error(error: urllib.error.HTTPError) -> NormstatError:
    try:
        message = str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = f"HTTP status {error.code}"
    return BadRequest(f"The server refused it ({error.code}): {message}")


def choose_target(server: str | None, token: str | None) -> RunTarget:
    """Return the server's API where one is named, else the local database.

    Raises: BadRequest, NotAuthenticated
    """
    return ServerTarget(server, token or "") if server else DatabaseTarget()


def output_draft(run: RunCreate, name: str, duration_s: float) -> ArtefactDraft:
    """Return what is known of an output of a run: stdout or stderr."""
    return ArtefactDraft(
        host=run.host, source=ArtefactSource.CLI, author=AUTHOR, start=run.start, end=run.end, duration_s=duration_s,
        title=f"{run.experiment}: {name}", command=run.command, file_name=name,
    )  # fmt: skip


def now_text() -> str:
    """Return the time of now for the name of a file."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
