"""The command normstat: one module per command, imported only when called, so that `normstat parse` starts fast.

Responsible for: arguments, printing, exit codes. Never: logic, which belongs to the packages that a command calls. Entry point:
`app`; `serve_command` starts the server (`server`).
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Annotated, Any, Final, cast

import typer
from typer.core import TyperCommand, TyperGroup

from normstat import __version__
from normstat.runtime.memory import collector_paused

# Command -> what it does, for the list of commands. The module normstat.cli.<command>_command has a typer.Typer named `app`, with
# one command, or with several for a group.
COMMANDS: Final = {
    "up": "Run database, server and an agent for this host; Ctrl-C stops them.",
    "demo": "Open a day of three hosts with two incidents, read-only; Ctrl-C stops it.",
    "serve": "Run the server until it is stopped.",
    "migrate": "Run all pending migrations.",
    "own-database": "Create the role and the database of NORMSTAT_DATABASE_URL.",
    "parse": "Print one JSON object for every sample of a file.",
    "import": "Load recorded tool output: files, folders, archives.",
    "imports": "List imports; change their title, host and times.",
    "artefact": "Keep, list and show what tools print once.",
    "trace-log": "Analyse, filter, format and plot the log of a trace.",
    "bundle": "Carry a host and a window from one normstat to another.",
    "graph": "Draw series of hosts as SVG or PNG, or as text.",
    "export": "Write the raw samples of a host, digit for digit.",
    "reparse": "Reparse streams with the current specs.",
    "jobs": "List, stop and retry background jobs.",
    "baseline": "Manage baselines, the periods marked as normal.",
    "profile": "Show and build the profiles of baselines.",
    "compare": "Show what changed in an incident against a baseline.",
    "related": "Show what moves with a series.",
    "report": "Write a comparison as one self-contained file; list and export reports.",
    "rules": "List, explain and try rules on recorded samples.",
    "scores": "Show how far hosts were from their normal, and score the past.",
    "watch": "Show what rules find now.",
    "use": "Show utilisation, saturation and errors of each resource of a host.",
    "until": "Show how long until something of a host is full.",
    "changes": "Show when normal changed on a host.",
    "alerts": "Show alerts and who received them; test channels and try routes.",
    "webhooks": "List and test webhooks, and show their deliveries.",
    "event": "Note, list and delete events.",
    "verdict": "Say whether hosts got better or worse after an event.",
    "run": "Run a command as a run of an experiment, and keep what it measured.",
    "experiment": "List experiments and what they say, add runs.",
    "stat": "Manage your own stats.",
    "rollup": "Show, drop and rebuild rollups.",
    "seal": "Pack samples of past days now.",
    "unseal": "Make packed samples rows again, for SQL.",
    "pack": "Pack old raw bytes now.",
    "retention": "Show and set how long samples and raw bytes are kept.",
    "storage": "Show what uses the disk, how fast it grows, and when it will be full.",
    "host": "Delete hosts.",
    "doctor": "Say what is wrong with an installation.",
    "config": "Check and show the settings, with the source of each.",
    "cluster": "Spread the database over several machines with Citus.",
    "backup": "Back up the database into a folder.",
    "restore": "Restore a backup into an empty database.",
    "audit": "Show who did what, from where.",
    "login-link": "Print a link that logs in once; creates the first administrator.",
    "second-factor": "Show second factors of accounts; reset one that is lost.",
    "sessions": "List and end the sessions of accounts.",
    "agent-token": "Create, list, rotate and revoke tokens of agents.",
    "join-token": "Create tokens that hosts enrol with; list and revoke them.",
    "mcp": "Let an assistant on this machine ask a server, by the Model Context Protocol.",
    "openapi": "Print the OpenAPI document.",
    "gen": "Rewrite the generated pages of docs/.",
}

# These start a database, serve one that the environment names, need none, or look for it themselves.
WITHOUT_LOOKUP: Final = frozenset(
    {"up", "demo", "serve", "own-database", "parse", "trace-log", "mcp", "openapi", "gen", "config", "compare"}
)


# These write no log, or do so in a part that they import later.
WITHOUT_LOG: Final = frozenset({"up", "demo", "parse", "migrate", "jobs", "compare"})


# The command that runs, as in `baseline delete`, for the audit log.
called_command: ContextVar[str] = ContextVar("called_command", default="")


class LazyGroup(TyperGroup):
    """A group that imports the module of a command when the command is called, not to list it."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=text) for name, text in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name and the loaded command that the arguments begin with, and the other arguments."""
        name, command, others = super().resolve_command(ctx, args)
        # Completion by the shell lists options only: it needs no database.
        if name is not None and name not in WITHOUT_LOOKUP and not ctx.resilient_parsing:
            # Settings take time to import: not for the list of commands.
            from normstat.cli.local_database import use_running_database  # noqa: PLC0415

            use_running_database()
        if name is None or command is None:
            return name, None, others
        loaded = load_command(name)
        has_second = isinstance(loaded, TyperGroup) and others and others[0] in loaded.commands
        called_command.set(f"{name} {others[0]}" if has_second else name)
        return name, loaded, others


def load_command(name: str) -> TyperCommand | TyperGroup:
    """Return the command of that name, with its module imported."""
    with collector_paused() if name in WITHOUT_LOG else quick_imports():
        module = importlib.import_module(f"normstat.cli.{name.replace('-', '_')}_command")
    command = cast("TyperCommand | TyperGroup", typer.main.get_command(module.app))
    command.name = name
    return command


@contextmanager
def quick_imports() -> Iterator[None]:
    """Run the block, which imports much, without the garbage collector, and with a structlog that has no rich."""
    with collector_paused():
        _import_structlog()
        yield


def _import_structlog() -> None:
    """Import structlog without rich, which it would use for tracebacks that we never print: 4 MB, and 30 ms of each start."""
    if "rich" in sys.modules or "structlog" in sys.modules:
        return
    # What says None cannot be imported.
    sys.modules["rich"] = cast("ModuleType", None)
    try:
        importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]


app = typer.Typer(
    cls=LazyGroup,
    help="Know what is normal for your system, or every number is a guess.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(is_asked: bool) -> None:
    if is_asked:
        # Reads a file or asks git: not for other commands.
        from normstat.runtime.installed_files import find_commit  # noqa: PLC0415

        commit = find_commit()
        typer.echo(f"normstat {__version__}" + (f" (commit {commit})" if commit else ""))
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and the commit.")
]


@app.callback()
def main(*, version: VersionOption = False) -> None:
    """Know what is normal for your system, or every number is a guess."""
