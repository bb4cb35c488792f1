"""The `normstat` command. Each command's module is imported only when it is called, so that `normstat parse` starts fast."""

import importlib
from typing import Final, cast

import typer
from typer.core import TyperCommand, TyperGroup

# Command -> module; the module has a typer.Typer named `app` with one command, or with several for a group.
MODULES: Final = {
    "up": "normstat.commands.up",
    "serve": "normstat.commands.serve",
    "migrate": "normstat.commands.migrate",
    "own-database": "normstat.commands.own_database",
    "parse": "normstat.commands.parse",
    "import": "normstat.commands.import_files",
    "export": "normstat.commands.export",
    "reparse": "normstat.commands.reparse",
    "baseline": "normstat.commands.baseline",
    "profile": "normstat.commands.profile",
    "compare": "normstat.commands.compare",
    "report": "normstat.commands.report",
    "stat": "normstat.commands.stat",
    "rollup": "normstat.commands.rollup",
    "retention": "normstat.commands.retention",
    "storage": "normstat.commands.storage",
    "host": "normstat.commands.host",
    "backup": "normstat.commands.backup",
    "restore": "normstat.commands.restore",
    "login-link": "normstat.commands.login_link",
    "agent-token": "normstat.commands.agent_token",
    "openapi": "normstat.commands.openapi",
    "gen": "normstat.commands.gen",
}


class LazyGroup(TyperGroup):
    """A group that imports a command's module when the command is asked for."""

    def list_commands(self, ctx: object) -> list[str]:
        """Names of all commands, in the order of MODULES."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | TyperGroup | None:
        """The command of that name, or None."""
        del ctx
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(MODULES[cmd_name])
        command = cast("TyperCommand | TyperGroup", typer.main.get_command(module.app))
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LazyGroup,
    help="Know what is normal for your system, or every number is a guess.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


@app.callback()
def main() -> None:
    """Know what is normal for your system, or every number is a guess."""
