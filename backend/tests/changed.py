"""`make test-changed`: run the tests of what differs from a revision, untracked files included: REVISION PYTEST_COMMAND...

A changed module selects the tests of its package (tests/PACKAGE) and the test files that import it; a changed test file selects
itself; the agent selects tests/agent, the migrations tests/db, and the page its linter and its tests without a browser.
"""

import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
BACKEND = TESTS.parent
CHECKOUT = BACKEND.parent
# They need a plugin of their own, and minutes.
SCHEMA_TESTS = "tests/api/test_schema.py"
# What lies beside the packages, and the tests that tell whether it works.
BESIDE_PACKAGES = {
    "agents/": "tests/agent",
    "migrations/": "tests/db",
    "packaging/": "tests/local",
    "docs/": "tests/test_architecture.py",
    "backend/client/": "tests/api/test_client.py",
    "backend/tests/golden/": "tests/stats/test_golden.py",
}


def changed_files(base: str) -> list[str]:
    """Return the paths, relative to the checkout, of files that differ from where this branch left `base`."""

    def git(*words: str) -> list[str]:
        done = subprocess.run(["git", *words], cwd=CHECKOUT, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    [fork] = git("merge-base", base, "HEAD")
    return sorted({*git("diff", "--name-only", fork), *git("ls-files", "--others", "--exclude-standard")})


def tests_of(changed: list[str]) -> set[str]:
    """Return the test files and folders of the backend, relative to backend/, that concern the changed files."""
    found: set[str] = set()
    for path in changed:
        found.update(tests for place, tests in BESIDE_PACKAGES.items() if path.startswith(place))
        parts = Path(path).parts
        if parts[:2] == ("backend", "normstat") and len(parts) > 3 and (TESTS / parts[2]).is_dir():
            found.add(f"tests/{parts[2]}")
        if parts[:2] == ("backend", "normstat") and path.endswith(".py"):
            found.update(importers(".".join(parts[1:]).removesuffix(".py").removesuffix(".__init__")))
        elif parts[:2] == ("backend", "tests") and parts[-1].startswith("test_") and (CHECKOUT / path).exists():
            found.add(path.removeprefix("backend/"))
        elif parts[:2] == ("backend", "tests") and path.endswith(".py"):
            found.update(importers(".".join(parts[1:]).removesuffix(".py")))
    found.discard(SCHEMA_TESTS)
    return {path for path in found if not any(path.startswith(f"{other}/") for other in found)}


def importers(module: str) -> set[str]:
    """Return the test files that import the module, by its full name or from its package."""
    package, _, name = module.rpartition(".")
    full = re.escape(module)
    wanted = re.compile(
        rf"^\s*(?:import {full}\b|from {full} import|from {re.escape(package)} import .*\b{re.escape(name)}\b)", re.MULTILINE
    )
    return {str(path.relative_to(BACKEND)) for path in TESTS.rglob("test_*.py") if wanted.search(path.read_text())}


def main() -> int:
    _, base, *pytest_command = sys.argv
    changed = changed_files(base)
    tests = sorted(tests_of(changed))
    is_page = any(path.startswith("frontend/") for path in changed)
    print(f"{len(changed)} changed files; tests: {' '.join([*tests, *(['page'] if is_page else [])]) or 'none'}")
    status = 0
    if tests:
        status |= subprocess.run([*pytest_command, f"--ignore={SCHEMA_TESTS}", *tests], cwd=BACKEND, check=False).returncode
    if is_page:
        status |= subprocess.run(["make", "check-page", "test-page"], cwd=CHECKOUT, check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
