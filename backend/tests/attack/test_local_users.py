"""Another user of the host: may prepare folders, links and files, and gets nothing written, deleted, killed or run for it."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.agent.conftest import host, shell, under_every_shell
from tests.agent.fake_server import TOKEN
from tests.agent.host import AGENT, PATIENCE_S, Host
from tests.agent.test_install import offer_files, pipe_install
from tests.vanishing import files_below

# The fixtures, which pytest finds by their names here.
__all__ = ["host", "shell"]

# nobody's neighbours: uids that own nothing.
OTHER: Final = 65_533
OTHER_GROUP: Final = 65_532


@pytest.fixture(autouse=True)
def _root() -> None:
    """Only root can make folders of another user."""
    if os.getuid() != 0:
        message = "needs root: another user's files cannot be made"
        if os.environ.get("NORMSTAT_REQUIRE_ALL") == "1":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)


def give(path: Path, uid: int = OTHER, gid: int = OTHER_GROUP) -> None:
    os.chown(path, uid, gid, follow_symlinks=False)


def make_spool(host: Host, mode: int = 0o700) -> None:
    host.spool.mkdir()
    host.spool.chmod(mode)


def make_shared(host: Host) -> Path:
    """Makes a folder like /tmp."""
    shared = host.root / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    return shared


def assert_refused(host: Host, *words: str, options: tuple[str, ...] = ()) -> None:
    """Every command that enters the spool says why it does not."""
    for command in ("run", "start", "stop", "status"):
        done = host.command(command, *options)
        assert done.returncode == 1, (command, done)
        for word in words:
            assert word in done.stderr, (command, done)
    host.assert_nothing_left_behind()
    assert not host.server.requests


# --- the spool and the way to it -----------------------------------------------------------------------------------------


@under_every_shell
def test_a_spool_that_another_user_made_is_not_entered(host: Host) -> None:
    target = host.root / "target"
    target.write_text("mine\n")
    make_spool(host, 0o777)
    for name in ("agent.state.new", "agent.state", "agent.log", "agent.log.1"):
        (host.spool / name).symlink_to(target)
    give(host.spool)
    assert_refused(host, str(host.spool))
    host.spool.chmod(0o700)
    assert_refused(host, f"{host.spool} belongs to uid {OTHER}", "run as that user, or use another")
    assert target.read_text() == "mine\n"
    # As that user, who may have it.
    assert sorted(path.name for path in host.spool.iterdir()) == ["agent.log", "agent.log.1", "agent.state", "agent.state.new"]


@under_every_shell
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_spool_that_others_can_write_to_is_not_entered(host: Host, mode: int) -> None:
    make_spool(host)
    give(host.spool, 0)
    host.spool.chmod(mode)
    assert_refused(host, "can write to", str(host.spool), "chmod")
    assert not list(host.spool.iterdir())


@pytest.mark.parametrize(
    ("mode", "uid", "words"),
    [
        (0o777, 0, "everybody can write to"),
        (0o775, 0, f"the group {OTHER_GROUP} can write to"),
        (0o755, OTHER, f"belongs to uid {OTHER} but this is root"),
        (0o1777, OTHER, f"belongs to uid {OTHER} but this is root"),
    ],
)
def test_root_does_not_go_where_others_can_replace_a_folder_on_the_way(host: Host, mode: int, uid: int, words: str) -> None:
    parent = host.root / "parent"
    host.spool = parent / "between" / "spool"
    host.spool.mkdir(parents=True, mode=0o700)
    give(parent, uid)
    parent.chmod(mode)
    assert_refused(host, words, str(parent))
    assert not list(host.spool.iterdir())


@under_every_shell
def test_in_a_folder_like_tmp_only_ones_own_entries_are_trusted(host: Host) -> None:
    shared = make_shared(host)
    precious = host.root / "precious"
    (precious / "tool").mkdir(parents=True)
    (precious / "tool" / "kept").write_text("kept\n")
    host.spool = shared / "spool"
    host.spool.symlink_to(precious)
    give(host.spool)
    assert_refused(host, f"symbolic link of uid {OTHER}")
    assert (precious / "tool" / "kept").exists()
    assert len(list(precious.iterdir())) == 1
    # A link that root made leads on, relative or not, and so do ours in a place like /tmp.
    host.spool.unlink()
    real = host.root / "real"
    real.mkdir(mode=0o700)
    (shared / "step").symlink_to("../real/../real")
    host.spool.symlink_to(shared / "step")
    host.run()
    host.wait_for_bytes("emit_linux", 2_000)
    status = host.command("status")
    assert f"spool    {real}, " in status.stdout
    host.end_exactly()


@under_every_shell
def test_a_link_in_a_chain_that_another_user_made_is_not_followed(host: Host) -> None:
    shared = make_shared(host)
    (host.root / "real").mkdir(mode=0o700)
    (shared / "theirs").symlink_to(host.root / "real")
    give(shared / "theirs")
    host.spool.symlink_to(shared / "theirs")
    assert_refused(host, "symbolic link", str(shared / "theirs"))
    # Links in a circle end too.
    (host.root / "a").symlink_to(host.root / "b")
    (host.root / "b").symlink_to(host.root / "a")
    host.spool = host.root / "a" / "spool"
    assert_refused(host, "too many symbolic links")


@under_every_shell
def test_what_was_put_into_a_spool_before_it_was_ours_is_not_used(host: Host) -> None:
    make_spool(host)
    target = host.root / "target"
    target.write_text("mine\n")
    planted = [host.spool / "agent.state", host.spool / "emit_linux.1.1-1.raw", host.spool / "tool" / "emit_linux"]
    (host.spool / "tool").mkdir()
    for path in planted:
        path.symlink_to(target)
        assert_refused(host, "something that is not a regular file")
        path.unlink()
        path.write_text("x\n")
        give(path)
        assert_refused(host, f"belongs to uid {OTHER}")
        path.unlink()
    os.mkfifo(host.spool / "agent.log")
    assert_refused(host, "something that is not a regular file")
    assert target.read_text() == "mine\n"


@under_every_shell
def test_numbers_in_old_files_are_not_calculated_with_unseen(host: Host) -> None:
    """In $((...)), and in some shells in [ -gt ] too, a variable that holds a[$(command)] runs the command."""
    make_spool(host)
    trap = f"a[$(touch${{IFS}}{host.root}/pwned)]"
    (host.spool / "agent.state").write_text(
        "".join(f"{name}={trap}\n" for name in ("last_ok", "dropped_bytes", "refused_bytes", "refused_chunks", "bad_lines"))
    )
    key = "emit_linux.1.1-1"
    (host.spool / f"{key}.raw").write_text("a line\n" * 3)
    (host.spool / f"{key}.cmd").write_text("emit 0.2 10\n")
    (host.spool / f"{key}.gap").write_text(f"{trap} reason\n")
    (host.spool / f"{key}.ack").write_text(f"{trap} {trap}\n")
    (host.spool / "tool").mkdir()
    (host.spool / "tool" / "emit_linux").write_text(f"running {trap} {key} {trap} {trap} {trap} \n")
    (host.spool / "tool" / "torn").write_text("")
    assert host.command("status").returncode == 3
    host.run()
    host.wait_for_bytes("emit_linux", 2_000)
    host.wait_for(lambda: not (host.spool / f"{key}.raw").exists(), "the end of the old file")
    assert host.stop() == 0
    assert bytes(host.server.streams.pop(key).data) == b"a line\n" * 3
    host.assert_exact()
    assert not (host.root / "pwned").exists()


def test_what_decides_about_commands_must_be_roots(host: Host) -> None:
    """A list of commands or a configuration that others can write to would run their commands as root."""
    config = host.root / "agent.conf"
    config.write_text("# nothing\n")
    for path in (host.root / "stats.conf", config):
        for mode, uid, words in (
            (0o666, 0, "everybody can write to"),
            (0o664, 0, f"the group {OTHER_GROUP} can write to"),
            (0o600, OTHER, f"belongs to uid {OTHER}"),
        ):
            give(path, uid)
            path.chmod(mode)
            # Named by a relative path too: the command runs in that folder.
            done = host.command("run", "--config", config.name)
            assert done.returncode == 1
            assert words in done.stderr
            assert path.name in done.stderr
        give(path, 0, 0)
        path.chmod(0o600)
    assert not host.processes()


@pytest.fixture
def commons() -> Iterator[Path]:
    """A folder that every user can enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="normstat-test."))
    folder.chmod(0o755)
    (folder / "normstat-agent").write_bytes(AGENT.read_bytes())
    (folder / "stats.conf").write_text("sleep_linux\tsleep 60\n")
    yield folder
    shutil.rmtree(folder)


def collect_as(uid: int, commons: Path, spool: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", commons / "normstat-agent", "collect", spool, "1", "--host", "web1"],
        user=uid,
        group=uid,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_an_ordinary_user_may_have_a_spool_wherever_nobody_else_can_replace_it(commons: Path) -> None:
    """The way there may belong to others, whom the user trusts by being there; but not to everybody."""
    open_to_all, like_tmp, of_the_group = (commons / name for name in ("open", "tmp", "group"))
    for folder, mode in ((open_to_all, 0o777), (like_tmp, 0o1777), (of_the_group, 0o775)):
        (folder / "spool").mkdir(parents=True)
        folder.chmod(mode)
        give(folder / "spool")
        (folder / "spool").chmod(0o700)
        done = collect_as(OTHER, commons, folder / "spool")
        if folder == open_to_all:
            assert done.returncode == 1
            assert f"everybody can write to {folder}, on the way to {folder}/spool" in done.stderr
        else:
            assert done.returncode == 0, done.stderr
    # Another user's, root's and everybody's are not this user's.
    assert "belongs to uid" in collect_as(OTHER - 2, commons, like_tmp / "spool").stderr
    (commons / "roots").mkdir()
    assert "belongs to uid 0" in collect_as(OTHER, commons, commons / "roots").stderr
    (like_tmp / "spool").chmod(0o770)
    assert "others can write to" in collect_as(OTHER, commons, like_tmp / "spool").stderr
    # What root put there (a command run once as root) is no harm; what another user put there is.
    (like_tmp / "spool").chmod(0o700)
    (like_tmp / "spool" / "agent.state").write_text("server=\n")
    (like_tmp / "spool" / "agent.state").chmod(0o644)
    assert collect_as(OTHER, commons, like_tmp / "spool").returncode == 0
    (like_tmp / "spool" / "x.raw").touch()
    give(like_tmp / "spool" / "x.raw", OTHER - 2)
    assert f"belongs to uid {OTHER - 2}" in collect_as(OTHER, commons, like_tmp / "spool").stderr


# --- the process in the lock ---------------------------------------------------------------------------------------------


@pytest.fixture
def namesake(host: Host) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has the agent's name among its words, and works in another folder: say, an agent of another spool."""
    words = [sys.executable, "-S", "-c", "import time; time.sleep(600)", "/opt/other/normstat-agent", "run"]
    with subprocess.Popen(words, cwd=host.root, env={}) as process:
        yield process
        process.kill()


@under_every_shell
def test_a_stranger_in_the_lock_is_neither_killed_nor_waited_for(host: Host, namesake: subprocess.Popen[bytes]) -> None:
    """The pid of an agent that was killed went to another agent."""
    make_spool(host)
    (host.spool / "lock").mkdir()
    (host.spool / "lock" / "pid").write_text(f"{namesake.pid}\n")
    status = host.command("status")
    assert "does not run" in status.stdout
    assert status.returncode == 3
    stopped = host.command("stop")
    assert "does not run" in stopped.stdout
    assert namesake.poll() is None
    host.run()
    host.wait_for_bytes("emit_linux", 2_000)
    assert namesake.poll() is None
    assert host.agent is not None
    assert (host.spool / "lock" / "pid").read_text() == f"{host.agent.pid}\n"
    assert host.command("run").returncode == 4
    # The true agent is known, and ended, from any folder.
    assert f"runs, pid {host.agent.pid}," in host.command("status").stdout
    assert f"stopped (was pid {host.agent.pid})" in host.command("stop").stdout
    assert host.agent.wait(PATIENCE_S) == 0
    assert namesake.poll() is None
    host.assert_exact()


@under_every_shell
@pytest.mark.parametrize(
    "text", ["", "x", "0", "-{group}", "{pid} {pid}", "0{pid}", "a[$(touch ${{PWNED}})]", "9" * 30, "\x1b[31m"]
)
def test_odd_words_in_the_lock_kill_nobody(host: Host, namesake: subprocess.Popen[bytes], text: str) -> None:
    make_spool(host)
    (host.spool / "lock").mkdir()
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as group:
        try:
            host.extra = {"PWNED": str(host.root / "pwned")}
            (host.spool / "lock" / "pid").write_text(text.format(group=group.pid, pid=namesake.pid) + "\n")
            assert host.command("status").returncode == 3
            assert host.command("stop").returncode == 0
            assert group.poll() is None
            assert namesake.poll() is None
            assert not (host.root / "pwned").exists()
        finally:
            group.kill()


@under_every_shell
def test_a_process_group_in_the_list_of_tools_is_not_killed(host: Host) -> None:
    make_spool(host)
    (host.spool / "tool").mkdir()
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as group:
        try:
            (host.spool / "tool" / "emit_linux").write_text(f"running -{group.pid} emit_linux.1.1-1 0 1 0 \n")
            (host.spool / "emit_linux.1.1-1.cmd").write_text("\n")
            assert host.command("stop").returncode == 0
            assert group.poll() is None
        finally:
            group.kill()


# --- modes and temporary names -------------------------------------------------------------------------------------------


@under_every_shell
def test_everything_is_the_owners_alone_whatever_the_umask(host: Host) -> None:
    host.stats("emit_linux emit 0.2 10", "loop_linux @1 echo x", "odd_linux @1 echo odd")
    host.server.rule = lambda frames, n_plain: 400 if any(frame.spec == "odd_linux" for frame in frames) else None
    before = os.umask(0)
    try:
        assert host.command("start").returncode in {0, 1}
    finally:
        os.umask(before)
    host.wait_for(lambda: list(host.spool.glob("refused/odd_linux.*")), "bytes set aside")
    host.wait_for_bytes("emit_linux", 1_000)
    n_seen = 0
    for path, status in [(host.spool, host.spool.lstat()), *files_below(host.spool)]:
        n_seen += 1
        wanted = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
        assert stat.S_IMODE(status.st_mode) == wanted, (path, oct(status.st_mode))
    assert n_seen > 15
    assert stat.S_IMODE((host.spool / "lock" / "pid").stat().st_mode) == 0o600
    assert host.command("stop").returncode == 0


@under_every_shell
def test_a_scratch_folder_is_always_a_new_one(host: Host) -> None:
    """Whatever stands under the name that it would have: other names are tried, and nothing of others is entered or deleted."""
    scratch = make_shared(host)
    victim = host.root / "victim"
    victim.mkdir()
    (victim / "kept").write_text("kept\n")
    host.extra = {"TMPDIR": str(scratch)}
    # The pid stays when the shell becomes the agent.
    words = " ".join(f"'{word}'" for word in host.arguments("check", ()))
    script = (
        f"for n in '' .0 .1 .2; do link={scratch}/normstat-agent.$$$n; ln -s {victim} $link && chown -h {OTHER} $link; done;"
        f" exec {words}"
    )
    done = host.execute("/bin/sh", "-c", script)
    assert done.returncode == 0, done
    assert [path.name for path in victim.iterdir()] == ["kept"]
    assert len(list(scratch.iterdir())) == 4
    scratch.chmod(0o777)
    done = host.command("status")
    assert done.returncode == 1
    assert "everybody can write to" in done.stderr


# --- the installer -------------------------------------------------------------------------------------------------------


@under_every_shell
@pytest.mark.parametrize("trick", ["theirs", "writable", "parent", "link", "group"])
def test_it_is_not_installed_where_another_user_can_put_something(host: Host, trick: str) -> None:
    offer_files(host)
    shared = host.root / "shared"
    folder = shared / "here"
    folder.mkdir(parents=True)
    shared.chmod(0o1777)
    hostile = folder / "normstat-agent"
    hostile.write_text(f"#!/bin/sh\ntouch {host.root}/pwned\n")
    hostile.chmod(0o755)
    match trick:
        case "theirs":
            give(folder)
        case "writable":
            folder.chmod(0o777)
        case "group":
            give(folder, 0)
            folder.chmod(0o775)
        case "parent":
            shared.chmod(0o777)
        case _:
            folder.rename(host.root / "elsewhere")
            folder.symlink_to(host.root / "elsewhere")
            give(folder)
    done = pipe_install(host, "--token", TOKEN, folder=folder)
    assert done.returncode == 1, done
    assert b"install.sh: " in done.stderr
    assert not (host.root / "pwned").exists()
    # Most kernels do not follow another user's link in a folder like /tmp, not even for root (fs.protected_symlinks).
    real = host.root / "elsewhere" if trick == "link" else folder
    assert [path.name for path in real.iterdir()] == ["normstat-agent"]
    assert not host.processes()


@under_every_shell
def test_the_token_is_written_to_a_new_file_and_handed_to_nobody(host: Host) -> None:
    """Who opened the old file when others could read it sees nothing of the new token."""
    host.stats("emit_linux emit 0.2 10", "loop_linux @1 sleep 0.3")
    offer_files(host)
    folder = host.root / "here"
    folder.mkdir()
    (folder / "token").write_text("old\n")
    (folder / "token").chmod(0o644)
    with (folder / "token").open() as opened:
        done = pipe_install(host, folder=folder, NORMSTAT_TOKEN=TOKEN, token="old", http_proxy="http://127.0.0.1:9")
        assert done.returncode == 0, done
        assert opened.read() == "old\n"
    assert (folder / "token").read_text() == f"{TOKEN}\n"
    for path, status in files_below(folder):
        if path.name in {"normstat-agent", "agent.conf", "token", "stats.conf"}:
            assert stat.S_IMODE(status.st_mode) & 0o077 == 0, path
    host.wait_for_bytes("emit_linux", 1_000)
    n_looked = 0
    for pid in host.processes():
        try:
            text = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        n_looked += 1
        assert TOKEN.encode() not in text
    assert n_looked >= 3
    assert host.execute(folder / "normstat-agent", "stop").returncode == 0
    host.assert_nothing_left_behind()
