"""The list of commands is true, and is printed without importing what the commands need."""

import json
import pkgutil
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from normstat import __version__, cli

SUFFIX = "_command"


def test_every_module_of_a_command_is_listed() -> None:
    modules = {module.name for module in pkgutil.iter_modules(cli.__path__) if module.name.endswith(SUFFIX)}
    assert {name.replace("-", "_") + SUFFIX for name in cli.COMMANDS} == modules


@pytest.mark.parametrize("name", list(cli.COMMANDS))
def test_every_command_has_help(name: str) -> None:
    command = cli.load_command(name)
    assert command.name == name
    assert command.help
    assert not {"install_completion", "show_completion"} & {parameter.name for parameter in command.params}


def test_the_list_of_commands_needs_no_database_library() -> None:
    code = "\n".join(
        [
            "import json, sys",
            "from normstat.cli import app",
            "try: app(['--help'], standalone_mode=False)",
            "finally: print('\\n' + json.dumps(sorted(sys.modules)))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *shown, modules = done.stdout.strip().splitlines()
    assert all(any(name in line for line in shown) for name in cli.COMMANDS)
    assert not {"sqlalchemy", "alembic", "numpy", "fastapi"} & set(json.loads(modules))


def test_the_version_names_the_commit() -> None:
    done = CliRunner().invoke(cli.app, ["--version"])
    assert re.fullmatch(rf"normstat {re.escape(__version__)} \(commit [0-9a-f]{{12,}}\)\n", done.output)


def test_the_shell_completes_options_without_looking_for_a_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for running databases would delay the prompt, and write into it."""
    monkeypatch.setattr("normstat.cli.local_database.use_running_database", lambda: pytest.fail("a database was looked for"))
    words = {"_NORMSTAT_COMPLETE": "complete_bash", "COMP_WORDS": "normstat jobs re", "COMP_CWORD": "2"}
    assert CliRunner().invoke(cli.app, env=words, prog_name="normstat").stdout.split() == ["retry"]


def test_a_mistyped_command_is_guessed() -> None:
    result = CliRunner().invoke(cli.app, ["repars"])
    assert result.exit_code == 2
    assert "reparse" in result.output


@pytest.mark.parametrize(
    ("name", "unwanted"),
    [
        ("up", {"psycopg", "pydantic", "pydantic_settings", "http.client", "email", "asyncio", "structlog", "rich"}),
        pytest.param("serve", {"rich", "pygments"}, marks=pytest.mark.matrix),
        ("parse", {"fastapi", "sqlalchemy", "psycopg", "pydantic", "numpy"}),
        ("compare", {"fastapi", "sqlalchemy", "psycopg", "pydantic_settings", "structlog", "numpy", "pyarrow"}),
    ],
)
def test_a_command_holds_no_library_that_it_needs_not(name: str, unwanted: set[str]) -> None:
    assert not unwanted & _imported_by(f"from normstat.cli import load_command; load_command({name!r})")


def test_files_are_compared_without_the_libraries_of_the_database_and_hosts_without_those_of_files() -> None:
    of_database = {"sqlalchemy", "psycopg", "pydantic_settings", "structlog", "normstat.stats.catalogue"}
    assert not of_database & _imported_by("import normstat.cli.compared_files")
    assert not {"pyarrow", "rich", "fastapi"} & _imported_by(
        "from normstat.cli import quick_imports\nwith quick_imports(): import normstat.cli.compared_hosts"
    )


def _imported_by(code: str) -> set[str]:
    shown = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))
