"""The locations of files that are not Python modules: the page, the agents' files, the migrations.

A wheel carries them in `normstat/bundled/` (`make wheel`). In a checkout they are in their own folders. A setting wins over both.
Only the standard library: `normstat up` and the list of commands import this.
"""

import re
import subprocess
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).resolve().parents[1]
BUNDLED: Final = PACKAGE / "bundled"
# The folder that holds backend/, where the package runs from a checkout; in a wheel's site-packages there is nothing to find.
CHECKOUT: Final = PACKAGE.parents[1]

# Folder in the wheel -> folder in the checkout, and a file that it must have.
PAGE: Final = ("page", "frontend/dist", "index.html")
AGENTS: Final = ("agents", "agents", "normstat-agent")
MIGRATIONS: Final = ("migrations", "migrations", "env.py")
DOCS: Final = ("docs", "docs", "README.md")


def is_checkout() -> bool:
    """Return whether this package runs from a checkout, and not from an installed wheel."""
    return (CHECKOUT / "backend" / "pyproject.toml").is_file()


def find_commit() -> str | None:
    """Return the commit that this program was built from, or that the checkout is at; None where neither is known."""
    if not is_checkout():
        file = BUNDLED / "commit"
        return file.read_text(encoding="ascii").strip() if file.is_file() else None
    # An archive of the sources has no history, but `git archive` writes the commit into this file.
    exported = CHECKOUT / ".source-commit"
    if exported.is_file() and re.fullmatch("[0-9a-f]{40,}", name := exported.read_text(encoding="ascii").strip()):
        return name[:12]
    try:
        asked = subprocess.run(  # noqa: S603 (words of ours)
            ["git", "-C", str(CHECKOUT), "rev-parse", "HEAD"],  # noqa: S607 (where it is differs)
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip()[:12] or None


def program_dir() -> Path:
    """Return the folder that an account must be able to read to run normstat: the checkout, or where the wheel was put."""
    return CHECKOUT if is_checkout() else PACKAGE.parent


def find_page_dir(setting: Path | None) -> Path | None:
    """Return the folder of the built page: the setting's, the wheel's or the checkout's; None where no page was built."""
    return setting or _find(PAGE)


def find_agents_dir(setting: Path | None) -> Path | None:
    """Return the folder of the agent script: the setting's, the wheel's or the checkout's; None where there is none."""
    return setting or _find(AGENTS)


def find_docs_dir() -> Path | None:
    """Return the folder of the documentation: the wheel's or the checkout's; None where there is none."""
    return _find(DOCS)


def migration_places(setting: Path | None) -> list[Path]:
    """Return where the folder of the migrations may be, the first place first."""
    if setting is not None:
        return [setting]
    return [*_places(MIGRATIONS), Path.cwd() / "migrations"]


def _places(kind: tuple[str, str, str]) -> list[Path]:
    bundled, in_checkout, _ = kind
    return [BUNDLED / bundled, *([CHECKOUT / in_checkout] if is_checkout() else [])]


def _find(kind: tuple[str, str, str]) -> Path | None:
    return next((place for place in _places(kind) if (place / kind[2]).is_file()), None)
