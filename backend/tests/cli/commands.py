"""Commands of normstat in this process, on the database of a test."""

import asyncio
import functools
from dataclasses import dataclass

from typer.testing import CliRunner

from normstat.cli import app
from normstat.settings import load_settings


@dataclass(frozen=True)
class Commands:
    """Runs commands, each in a thread: it has an event loop of its own."""

    database_url: str

    async def __call__(self, *arguments: object, standard_input: bytes | None = None) -> tuple[int, str, str]:
        """The exit code of the command, and what it prints on standard output and on standard error."""
        environment = {"NORMSTAT_DATABASE_URL": self.database_url}
        call = functools.partial(CliRunner().invoke, app, [*map(str, arguments)], env=environment, input=standard_input)
        # A process reads its settings once; here it is a new one each time.
        load_settings.cache_clear()
        try:
            result = await asyncio.to_thread(call)
        finally:
            load_settings.cache_clear()
        # As it was written: `stdout` has other ends of lines.
        return result.exit_code, result.stdout_bytes.decode(), result.stderr

    async def do(self, *arguments: object) -> str:
        """What a command prints that must go well, and says nothing on standard error."""
        code, out, err = await self(*arguments)
        assert (code, err) == (0, ""), out
        return out
