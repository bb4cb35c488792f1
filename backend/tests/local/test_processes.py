"""Parts that end are started again, later and later, for as long as it takes; the terminal says it once."""

import os
import signal
import sys
from pathlib import Path

import pytest

from normstat.local.processes import MAX_PAUSE_S, STEADY_S, ChildProcess, Supervisor, describe_exit, processes_in


class FakePart:
    name = "server"

    def __init__(self) -> None:
        self.n_launched = 0
        self.status: int | None = None
        self.ready = False
        self.may = True
        self.words = ""

    def launch(self) -> None:
        self.n_launched += 1
        self.status, self.ready = None, False

    def poll(self) -> int | None:
        return self.status

    def is_ready(self) -> bool:
        return self.ready

    def can_launch(self) -> bool:
        return self.may

    def last_message(self) -> str:
        return self.words


class Scene:
    """A keeper with a clock that only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.said: list[str] = []
        self.part = FakePart()
        self.keeper = Supervisor(self.part, self.said.append, clock=lambda: self.now)

    def launched_within(self, seconds: float) -> float | None:
        """Looks ten times a second; after how long it was started, None when it was not."""
        before, start = self.part.n_launched, self.now
        for _ in range(round(seconds * 10) + 1):
            self.keeper.check()
            if self.part.n_launched > before:
                return self.now - start
            self.now += 0.1
        return None


def test_pauses_grow_and_never_end() -> None:
    scene = Scene()
    pauses = []
    # Six deaths within a minute ended the whole once.
    for _ in range(40):
        scene.part.status = 1
        pause = scene.launched_within(60)
        assert pause is not None, "it gives up"
        pauses.append(pause)
    assert pauses[:8] == pytest.approx([0.5, 1, 2, 4, 8, 16, 30, 30], abs=0.15)
    assert max(pauses) <= MAX_PAUSE_S + 0.15
    assert [line.split(" (")[0] for line in scene.said] == ["the server ended", "the server keeps ending; retrying every 30 s"]


def test_what_ran_well_for_a_while_is_started_at_once_again() -> None:
    scene = Scene()
    for _ in range(8):
        scene.part.status = 1
        assert scene.launched_within(60) is not None
    scene.part.ready = True
    scene.keeper.check()
    scene.now += STEADY_S
    scene.part.status = -9
    assert scene.launched_within(60) == pytest.approx(0.5, abs=0.15)


def test_each_change_is_said_once() -> None:
    scene = Scene()
    scene.part.words = "it is too dark"
    scene.part.status = 3
    assert not any("running" in line for line in scene.said)
    assert scene.launched_within(5) is not None
    assert not scene.keeper.is_up
    # It fails twice before it is ready.
    scene.part.status = 3
    assert scene.launched_within(5) is not None
    scene.part.ready = True
    for _ in range(5):
        scene.keeper.check()
    assert scene.keeper.is_up
    scene.part.status = -signal.SIGKILL
    scene.keeper.check()
    assert scene.said[0] == "the server ended (exit status 3: it is too dark); restarting it"
    assert scene.said[1].startswith("the server is running again, after ")
    assert scene.said[2] == "the server ended (killed by SIGKILL); restarting it", "a log's end is no reason of a kill"
    assert len(scene.said) == 3


def test_it_waits_for_what_it_needs_and_hurries_when_told_to() -> None:
    scene = Scene()
    for _ in range(8):
        scene.part.status = 1
        assert scene.launched_within(60) is not None
    scene.part.status = 1
    assert scene.launched_within(5) is None, "the pause is 30 s"
    scene.part.may = False
    scene.keeper.retry_now()
    assert scene.launched_within(5) is None
    scene.part.may = True
    assert scene.launched_within(0) == 0


def test_how_a_process_ended_is_said() -> None:
    assert [describe_exit(status) for status in (0, 3, -9, -15, -250)] == [
        "exit status 0",
        "exit status 3",
        "killed by SIGKILL",
        "killed by SIGTERM",
        "killed by signal 250",
    ]


def test_a_child_that_ignores_the_signals_is_killed(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on', flush=True); time.sleep(600)"
    reader, writer = os.pipe()
    child = ChildProcess([sys.executable, "-c", code], output=writer, environment={})
    os.close(writer)
    assert os.read(reader, 2) == b"on"
    os.close(reader)
    child.stop(timeout_s=0.2)
    assert child.poll() == -signal.SIGKILL


def test_processes_are_found_by_their_working_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    reader, writer = os.pipe()
    code = f"import os, time; os.chdir({str(tmp_path)!r}); print('on', flush=True); time.sleep(600)"
    child = ChildProcess([sys.executable, "-c", code], output=writer, environment={})
    os.close(writer)
    try:
        assert os.read(reader, 2) == b"on"
        assert list(processes_in(tmp_path / "link")) == [child.pid]
    finally:
        child.stop()
        os.close(reader)
    assert list(processes_in(tmp_path)) == []
