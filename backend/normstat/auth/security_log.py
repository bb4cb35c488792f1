"""Security events in the log: logins, refusals, changes of accounts and tokens.

They also go to the audit log, but for those that the API notes there with the change itself.

Each is one line with a fixed name and keys. It contains no secret, and no name that was typed into a login form for an account that
does not exist: people type passwords there. Logged names are shortened.

Events that a stranger can cause at will must not fill the disk. For each event and source (an address, an account) the first few in
a minute are written in full; the rest is counted, and at the end of the minute one line `security_events_repeated` gives the
number.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import structlog
from sqlalchemy import event as orm_event
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.errors import shorten
from normstat.records.audit_rows import AuditEntry

log = structlog.get_logger()

WINDOW_S: Final = 60.0
MAX_IN_FULL: Final = 5
# Sources beyond this number share one count per event, so a distributed flood costs neither memory nor lines.
MAX_SOURCES: Final = 50
OTHERS: Final = "(others)"
FLUSH_S: Final = 10.0
MAX_NAME_LENGTH: Final = 60
# Maximum number of events of strangers per minute in the audit log; the next one after it says how many were left out.
MAX_AUDITED: Final = 20
NOTED_WITH_THE_CHANGE: Final = frozenset({"password_changed"})

Level = Literal["info", "warning"]
Value = str | int | float | bool | None


def short_name(name: str) -> str:
    """Return a name for the log: quoted, so that it cannot pass for other keys or lines, and shortened."""
    return shorten(name, MAX_NAME_LENGTH)


def short_groups(groups: Sequence[str] | None) -> str:
    """Return the host groups whose hosts an account sees, as they are logged; None: all hosts."""
    return "all hosts" if groups is None else shorten(", ".join(groups) or "none")


def log_after_commit(session: AsyncSession, event: str, **keys: Value) -> None:
    """Write the event once the session has committed; a rolled-back change did not happen."""

    def write(_: object) -> None:
        log.info(event, **keys)

    orm_event.listen(session.sync_session, "after_commit", write, once=True)


@dataclass(slots=True)
class _Window:
    ends_at: float
    level: Level
    n: int = 0
    n_counted: int = 0


class SecurityLog:
    """Writes events that strangers can cause, with flood protection, and hands them to the audit log."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, audit: Callable[[AuditEntry], None] | None = None) -> None:
        self._clock = clock
        self._audit = audit
        self._audit_minute_ends_at = 0.0
        self._n_audited = 0
        self._n_not_audited = 0
        self._windows: dict[tuple[str, str], _Window] = {}

    def note(self, event: str, source: str, *, level: Level = "warning", account: str | None = None, **keys: Value) -> None:
        """Write the event, or count it when this source has caused many of its kind within a minute.

        `account`: the name of one that exists. Names that were only typed are never logged.
        """
        self.flush()
        if (event, source) not in self._windows and len(self._windows) >= MAX_SOURCES:
            source = OTHERS
        window = self._windows.setdefault((event, source), _Window(self._clock() + WINDOW_S, level))
        window.n += 1
        if window.n > MAX_IN_FULL:
            window.n_counted += 1
            return
        self._write(level, event, **({} if account is None else {"account": short_name(account)}), **keys)
        self._to_audit(level, event, account, keys)

    def flush(self, *, is_last: bool = False) -> None:
        """Write the counts of past minutes; with `is_last`, of all."""
        now = self._clock()
        for key in [key for key, window in self._windows.items() if is_last or window.ends_at <= now]:
            window = self._windows.pop(key)
            if window.n_counted:
                event, source = key
                self._write(window.level, "security_events_repeated", repeated=event, source=source, n=window.n_counted)
                self._to_audit(window.level, event, None, {"source": source, "repeated": window.n_counted})

    async def run(self) -> None:
        """Write counts periodically, until cancelled."""
        try:
            while True:
                await asyncio.sleep(FLUSH_S)
                self.flush()
        finally:
            self.flush(is_last=True)

    def _to_audit(self, level: Level, event: str, account: str | None, keys: Mapping[str, Value]) -> None:
        if self._audit is None or event in NOTED_WITH_THE_CHANGE:
            return
        if account is None:
            # Strangers: a log file is rotated, a table is not.
            now = self._clock()
            if now >= self._audit_minute_ends_at:
                self._audit_minute_ends_at, self._n_audited = now + WINDOW_S, 0
            self._n_audited += 1
            if self._n_audited > MAX_AUDITED:
                self._n_not_audited += 1
                return
        if self._n_not_audited:
            keys = {**keys, "more_before": self._n_not_audited}
            self._n_not_audited = 0
        request = structlog.contextvars.get_contextvars()
        entry = AuditEntry(
            account=account,
            means="none",
            address=str(request.get("address", "")),
            action=event,
            target={key: str(value) for key, value in keys.items() if value is not None},
            is_refused=level == "warning",
            request_id=str(request.get("request_id", "")),
        )
        self._audit(entry)

    @staticmethod
    def _write(level: Level, event: str, **keys: Value) -> None:
        (log.warning if level == "warning" else log.info)(event, **keys)
