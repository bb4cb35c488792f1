"""The shells, and a way to run one story under all of them at once: agents mostly sleep, so six take as long as one."""

import os
import shutil
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest

from tests.agent.host import Host, Shell

# name -> program, and the name of the link through which it behaves as wanted (bash as sh is POSIX bash).
SHELLS: Final = {
    "dash": ("dash", "dash"),
    "bash-posix": ("bash", "sh"),
    "ksh93": ("ksh93", "ksh93"),
    "mksh": ("mksh", "mksh"),
    "busybox": ("busybox", "ash"),
    "yash": ("yash", "yash"),
}

# Stories told at once, each under all shells: they wait far more than they work.
N_AT_ONCE: Final = 3

Story = Callable[[Host], None]


def require_program(name: str) -> str:
    """The path of a program; without it the test is skipped, or fails where NORMSTAT_REQUIRE_ALL=1."""
    path = shutil.which(name)
    if path is None:
        message = f"{name} is not installed: the agent is not tried with it"
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            pytest.fail(f"{message} (and NORMSTAT_REQUIRE_ALL=1 forbids skipping)", pytrace=False)
        pytest.skip(message)
    return path


def make_shell(name: str, folder: Path) -> Shell | None:
    program, link = SHELLS[name]
    path = shutil.which(program)
    if path is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(path)
    return Shell(name, folder / link)


def under_every_shell(story: Story) -> pytest.MarkDecorator:
    """Makes the test take the story as a parameter, so that it is known ahead which stories a session tells."""
    return pytest.mark.parametrize("story", [story], ids=[story.__name__])


class Everywhere:
    """Tells a story under all shells when the first of them asks, with the next ones already begun; each shell gets its verdict."""

    def __init__(self, stories: list[Story], folder: Path, pool: ThreadPoolExecutor) -> None:
        self._stories = stories
        self._folder = folder
        self._pool = pool
        self._runs: dict[Story, dict[str, Future[str]]] = {}
        self._shells = {name: make_shell(name, folder / "shells" / name) for name in SHELLS}

    def __call__(self, shell: str, story: Story) -> None:
        require_program(SHELLS[shell][0])
        at = self._stories.index(story)
        for begun in self._stories[at : at + N_AT_ONCE]:
            self._begin(begun)
        problem = self._runs[story][shell].result()
        if problem:
            pytest.fail(f"under {shell}: {problem}", pytrace=False)

    def _begin(self, story: Story) -> None:
        if story not in self._runs:
            present = [shell for shell in self._shells.values() if shell]
            self._runs[story] = {shell.name: self._pool.submit(self._tell, story, shell) for shell in present}

    def _tell(self, story: Story, shell: Shell) -> str:
        host = Host(shell, self._folder / story.__name__ / shell.name)
        try:
            story(host)
        except Exception:  # noqa: BLE001  # shown by the test of this shell
            return f"{traceback.format_exc()}\nthe agent's log:\n{host.log[-2000:]}"
        finally:
            host.close()
        return ""


@pytest.fixture(scope="session")
def everywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Everywhere]:
    parameters = [
        item.callspec.params for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]
    stories = list(dict.fromkeys(found["story"] for found in parameters if "story" in found))
    with ThreadPoolExecutor(len(SHELLS) * N_AT_ONCE) as pool:
        yield Everywhere(stories, tmp_path_factory.mktemp("agents"), pool)


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.shells) for name in SHELLS])
def shell(request: pytest.FixtureRequest) -> str:
    """The name of one shell."""
    name: str = request.param
    return name


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """One host under dash, for what does not depend on the shell."""
    require_program("dash")
    shell = make_shell("dash", tmp_path / "shells")
    assert shell is not None
    host = Host(shell, tmp_path / "host")
    try:
        yield host
    finally:
        host.close()
