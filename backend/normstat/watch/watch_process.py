"""A process of its own that judges the hosts of a large fleet by rules.

In the server's process each statement of a run waits for the event loop, which stores posts: on busy cores a run took a minute. The
parent writes a line for each run, and reads how many hosts were judged. The process ends with its parent, whose pipe it reads, and
has nothing in memory that another one would need: the parent starts one again where it ended.
"""

import asyncio
import json
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from normstat.db.limited_session import LEADER_PID
from normstat.runtime.isolated_module import PACKAGES

log = structlog.get_logger()

# With fewer hosts that send, a run takes less than a second, and a process of 140 MB is not worth it.
FROM_HOSTS: Final = 100
# A run takes some seconds.
ANSWER_S: Final = 120.0
NEXT_RUN: Final = b"\n"


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """What the process needs to know. `leader_pid`: of the connection that holds the leader's lock, None for a server alone"""

    database_url: str
    database_dir: str | None
    log_level: str
    leader_pid: int | None

    @classmethod
    def of(
        cls, sessions: async_sessionmaker[AsyncSession], *, database_url: str, database_dir: Path | None, log_level: str
    ) -> "WatchSettings":  # fmt: skip
        """Return the settings for the work of these sessions: where they are the leader's alone, so are those of the process."""
        folder = None if database_dir is None else str(database_dir)
        return cls(database_url, folder, log_level, sessions.kw.get("info", {}).get(LEADER_PID))


class WatchProcess:
    """The process as its parent sees it; started by the first run."""

    def __init__(self, settings: WatchSettings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> int | None:
        """Judge hosts as `Watcher.run` does; return how many. Missing: None where the process ended, and another one is started"""
        process = self._process
        if process is None:
            process = self._process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        try:
            async with asyncio.timeout(ANSWER_S):
                process.stdin.write(NEXT_RUN)
                await process.stdin.drain()
                line = await process.stdout.readline()
        except (TimeoutError, OSError) as error:
            log.warning("watch_process_silent", error=type(error).__name__)
        if line:
            return int(line)
        # Unless it was ended on purpose, its log says why it ended; without one, it was killed.
        is_unexpected = self._process is process
        self.end()
        status = await process.wait()
        if is_unexpected:
            log.warning("watch_process_ended", status=status)
        return None

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__), cwd=PACKAGES, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdin is not None
        # Not as an argument, which others on the machine could read: the URL may hold a password.
        process.stdin.write(json.dumps(asdict(self._settings)).encode() + b"\n")
        log.info("watch_process_started", pid=process.pid)
        return process

    def end(self) -> None:
        """End the process, if there is one; what it was about to store is judged again by the next one."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.kill()


async def _serve(settings: WatchSettings) -> None:
    """Judge hosts for each line of the parent."""
    # Not in the parent, which may never judge itself.
    from normstat.db import leader  # noqa: PLC0415
    from normstat.db.session import make_engine, make_sessions  # noqa: PLC0415
    from normstat.db.turns import describe, is_database_away  # noqa: PLC0415
    from normstat.samples.spec_refresh import reload_user_specs  # noqa: PLC0415
    from normstat.settings import CONNECTIONS_OF_WATCHING  # noqa: PLC0415
    from normstat.watch.watcher import Watcher  # noqa: PLC0415

    # Its import makes transactions of the leader check the lock.
    assert leader.LEADER_LOCK
    sessions = make_sessions(make_engine(settings.database_url, pool_size=CONNECTIONS_OF_WATCHING), settings.leader_pid)
    folder = None if settings.database_dir is None else Path(settings.database_dir)
    watcher = Watcher(sessions, database_url=settings.database_url, database_dir=folder)
    while await asyncio.to_thread(sys.stdin.buffer.readline):
        n_judged = 0
        try:
            await reload_user_specs(sessions)
            n_judged = await watcher.run()
        except (SQLAlchemyError, psycopg.Error) as error:
            if not is_database_away(error):
                raise
            log.warning("watch_waits_for_database", cause=describe(error))
        sys.stdout.buffer.write(b"%d\n" % n_judged)
        sys.stdout.buffer.flush()


def main() -> None:
    """Run the process."""
    from normstat.runtime.logs import configure_logging  # noqa: PLC0415

    # Ctrl-C in a terminal reaches the parent, too, which ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = WatchSettings(**json.loads(sys.stdin.buffer.readline()))
    configure_logging(settings.log_level)
    asyncio.run(_serve(settings))


if __name__ == "__main__":
    main()
