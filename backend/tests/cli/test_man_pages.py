"""`make man`: the manual pages say what `--help` says, and roff prints it as it is."""

import shutil
import subprocess

import pytest

from normstat.cli import COMMANDS, load_command
from setup.man_pages import escape, render_command, render_overview
from tests.e2e.product import AGENT


def show(page: str) -> str:
    """Return a page as man shows it, without warnings."""
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    command = ["groff", "-man", "-Tutf8", "-ww", "-P-cbou"]
    done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_page_has_each_subcommand_and_option() -> None:
    page = show(render_command("jobs", load_command("jobs")))
    for name in ("normstat jobs list", "normstat jobs stop", "normstat jobs retry", "--state <queued|running|done|failed|stopped>"):
        assert name in page


def test_the_overview_lists_every_command() -> None:
    page = show(render_overview())
    assert not [name for name in COMMANDS if f"normstat-{name}(1)" not in page]


def test_the_page_of_the_agent_ends_with_its_comment() -> None:
    command = ["sh", str(AGENT.parent / "package/manual.sh"), str(AGENT)]
    page = show(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert "--join-token-file FILE" in page
    assert "4 already running" in page
    assert "agents/src" not in page


@pytest.mark.parametrize("text", [".hidden", "'quoted'", 'say "so"', "a\\nb", "`code` --option"])
def test_text_is_shown_as_it_is(text: str) -> None:
    assert text in show(f'.TH X 1 "" "" ""\n.SH Y\n{escape(text)}\n')
