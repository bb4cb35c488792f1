"""Write the manual pages of the commands: man_pages.py DIR. They say what `--help` says, in roff.

`normstat.1` lists the commands, `normstat-COMMAND.1` has the options of one with those of its subcommands. A page has a date only
where SOURCE_DATE_EPOCH gives one, so that two builds are the same. The agent's page: agents/package/manual.sh.
"""

import datetime as dt
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import typer

from normstat import __version__
from normstat.cli import COMMANDS, app, load_command

EPOCH: Final = os.environ.get("SOURCE_DATE_EPOCH")
DATE: Final = dt.datetime.fromtimestamp(int(EPOCH), tz=dt.UTC).date().isoformat() if EPOCH else ""
Command = typer.core.TyperCommand | typer.core.TyperGroup


def write_pages(folder: Path) -> None:
    """Write all pages into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "normstat.1").write_text(render_overview(), encoding="utf-8")
    for name in COMMANDS:
        (folder / f"normstat-{name}.1").write_text(render_command(name, load_command(name)), encoding="utf-8")


def render_overview() -> str:
    """Return the page of `normstat` itself."""
    group = typer.main.get_group(app)
    commands = [line for name, text in COMMANDS.items() for line in (".TP", f".BR normstat\\-{escape(name)} (1)", escape(text))]
    lines = [
        *_head("normstat", group.help or ""),
        *_section("SYNOPSIS", [".B normstat", "[OPTIONS] COMMAND [ARGUMENTS]"]),
        *_section("OPTIONS", _options(group, "normstat")),
        *_section("COMMANDS", commands),
        *_section("EXIT STATUS", ["0 if the command did what it was asked to, 1 after an error, 2 for wrong options."]),
        *_section("FILES", [".I /etc/normstat/normstat.toml", ".br", "Settings; the environment wins."]),
    ]
    return "\n".join(lines) + "\n"


def render_command(name: str, command: Command) -> str:
    """Return the page of one command, with those of its subcommands where it has some."""
    full = f"normstat {name}"
    lines = [*_head(f"normstat-{name}", COMMANDS[name]), *_section("SYNOPSIS", [_usage(command, full)])]
    lines += _section("DESCRIPTION", [escape(_one_line(command.help or COMMANDS[name]))])
    lines += _section("OPTIONS", _options(command, full))
    if isinstance(command, typer.core.TyperGroup):
        for second, found in command.commands.items():
            sub = cast("typer.core.TyperCommand", found)
            if not sub.hidden:
                lines += [f".SS {escape(second)}", _usage(sub, f"{full} {second}"), ".PP", escape(_one_line(sub.help or ""))]
                lines += _options(sub, f"{full} {second}")
    return "\n".join([*lines, *_section("SEE ALSO", [".BR normstat (1)"])]) + "\n"


def escape(text: str) -> str:
    """Return a text that roff prints as it is."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace('"', "\\(dq")
    return re.sub(r"^\.", r"\\&.", plain, flags=re.MULTILINE)


def _head(name: str, text: str) -> list[str]:
    title = escape(name.upper())
    return [
        f'.TH "{title}" 1 "{DATE}" "normstat {__version__}" "normstat"',
        *_section("NAME", [f"{escape(name)} \\- {escape(text)}"]),
    ]


def _section(title: str, lines: list[str]) -> list[str]:
    return [f".SH {title}", *lines] if lines else []


def _one_line(text: str) -> str:
    """Return the text of a docstring with its paragraphs as lines."""
    return "\n.PP\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _usage(command: Command, full: str) -> str:
    with command.make_context(full, [], resilient_parsing=True) as context:
        return f".B {escape(full)}\n{escape(' '.join(command.collect_usage_pieces(context)))}"


def _options(command: Command, full: str) -> list[str]:
    return list(_option_lines(command, full))


def _option_lines(command: Command, full: str) -> Iterator[str]:
    with command.make_context(full, [], resilient_parsing=True) as context:
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is not None:
                yield from (".TP", f".B {escape(record[0])}", escape(_one_line(record[1])))


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
