"""The `normstat` command: one module per command, imported only when called, so that `normstat parse` starts fast.

Responsible for: arguments, printing, exit codes. Never: logic, which belongs to the packages that a command calls. Entry point:
`app`; `serve_command` starts the server, `workers` is the parent of several server processes, `server_process` one of them.
"""

import importlib
from typing import Final, cast

import typer
from typer.core import TyperCommand, TyperGroup

# Command -> module; the module has a typer.Typer named `app` with one command, or with several for a group.
MODULES: Final = {
    "up": "normstat.cli.up_command",
    "serve": "normstat.cli.serve_command",
    "migrate": "normstat.cli.migrate_command",
    "own-database": "normstat.cli.own_database",
    "parse": "normstat.cli.parse_command",
    "import": "normstat.cli.import_command",
    "export": "normstat.cli.export_command",
    "reparse": "normstat.cli.reparse_command",
    "jobs": "normstat.cli.jobs_command",
    "baseline": "normstat.cli.baseline_command",
    "profile": "normstat.cli.profile_command",
    "compare": "normstat.cli.compare_command",
    "report": "normstat.cli.report_command",
    "stat": "normstat.cli.stat_command",
    "rollup": "normstat.cli.rollup_command",
    "retention": "normstat.cli.retention_command",
    "storage": "normstat.cli.storage_command",
    "host": "normstat.cli.host_command",
    "backup": "normstat.cli.backup_command",
    "restore": "normstat.cli.restore_command",
    "login-link": "normstat.cli.login_link_command",
    "agent-token": "normstat.cli.agent_token_command",
    "openapi": "normstat.cli.openapi_command",
    "gen": "normstat.cli.gen_command",
}


class LazyGroup(TyperGroup):
    """A group that imports a command's module on demand."""

    def list_commands(self, ctx: object) -> list[str]:
        """Return the names of all commands, in the order of MODULES."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: object, cmd_name: str) -> TyperCommand | TyperGroup | None:
        """Return the command of that name, or None."""
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
