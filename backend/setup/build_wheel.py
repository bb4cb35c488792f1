"""Build the wheel with the page, the migrations and the agent inside: build_wheel.py DIR [--page FOLDER]. Prints the wheel's path.

It also has the manual pages and the completion of bash, zsh and fish, where a system looks for them below `share`.
Reproducible: the same sources give the same bytes, whenever and by whomever they are built (SOURCE_DATE_EPOCH is honoured). Builds
in a temporary copy, so that nothing of an earlier build gets into it. No network; needs setuptools.
"""

import argparse
import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from man_pages import write_pages

from normstat.runtime.installed_files import find_commit

CHECKOUT: Final = Path(__file__).resolve().parents[2]
# The first instant that a zip file can name.
FIRST_INSTANT: Final = "315532800"
AGENT_FILES: Final = ("normstat-agent", "stats.conf.linux", "stats.conf.sunos", "install/install.sh")
PROGRAMS: Final = frozenset({"normstat-agent", "install.sh"})
# The shell -> its file below `share`. Its last lines: zsh runs the file itself for the first completion.
COMPLETIONS: Final = {
    "bash": ("bash-completion/completions/normstat", ""),
    "zsh": ("zsh/site-functions/_normstat", '[ "$zsh_eval_context[-1]" = loadautofunc ] && _normstat_completion "$@"\n'),
    "fish": ("fish/vendor_completions.d/normstat.fish", ""),
}
LEFT_OUT: Final = shutil.ignore_patterns("__pycache__", "*.py[co]", "bundled")


def main() -> None:
    """Build the wheel into the folder that was named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--page", type=Path, default=CHECKOUT / "frontend/dist", help="folder of the built page")
    options = parser.parse_args()
    if not (options.page / "index.html").is_file():
        sys.exit(f"build_wheel.py: {options.page} has no index.html; build the page first: make page")
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    page = options.page.resolve()
    with tempfile.TemporaryDirectory(prefix="normstat-wheel-") as scratch:
        sources = Path(scratch)
        copy_sources(sources, page)
        sys.stdout.write(f"{build(sources, folder)}\n")


def copy_sources(sources: Path, page: Path) -> None:
    """Copy what the wheel is made of, with modes that do not depend on the builder's umask."""
    shutil.copy(CHECKOUT / "backend/pyproject.toml", sources)
    shutil.copytree(CHECKOUT / "backend/normstat", sources / "normstat", ignore=LEFT_OUT)
    bundled = sources / "normstat/bundled"
    shutil.copytree(page, bundled / "page")
    shutil.copytree(CHECKOUT / "migrations", bundled / "migrations", ignore=LEFT_OUT)
    (bundled / "docs").mkdir()
    for page_of_docs in (CHECKOUT / "docs").glob("*.md"):
        shutil.copy(page_of_docs, bundled / "docs")
    for name in AGENT_FILES:
        (bundled / "agents" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKOUT / "agents" / name, bundled / "agents" / name)
    commit = find_commit()
    if commit is not None:
        (bundled / "commit").write_text(commit + "\n", encoding="ascii")
    write_pages(sources / "share/man/man1")
    write_completions(sources / "share")
    for path in sources.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.name in PROGRAMS else 0o644)


def write_completions(share: Path) -> None:
    """Write what each shell reads to complete commands and options, as `normstat` itself prints it."""
    program = Path(sys.executable).with_name("normstat")
    for shell, (file, last_lines) in COMPLETIONS.items():
        environment = os.environ | {"_NORMSTAT_COMPLETE": f"source_{shell}"}
        done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)  # noqa: S603 (our own)
        (share / file).parent.mkdir(parents=True)
        (share / file).write_text(f"{done.stdout.strip()}\n{last_lines}", encoding="utf-8")


def build(sources: Path, folder: Path) -> Path:
    """Return the wheel made of these sources."""
    # Files that setuptools writes itself.
    os.umask(0o022)
    os.environ.setdefault("SOURCE_DATE_EPOCH", FIRST_INSTANT)
    os.chdir(sources)
    # After chdir: it finds the project in the current folder. It prints each file that it copies.
    from setuptools import build_meta  # noqa: PLC0415

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            name = build_meta.build_wheel(str(folder))
    except Exception:
        sys.stderr.write(said.getvalue())
        raise
    return folder / name


if __name__ == "__main__":
    main()
