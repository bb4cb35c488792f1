"""Accounts without privileges, what they own, and what they see."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from normstat.local import os_accounts
from normstat.local.os_accounts import (
    FIRST_NUMBER,
    IO_CAPABILITIES,
    LAST_NUMBER,
    OsAccount,
    can_reach,
    chown_tree,
    database_account,
    drop_privileges,
    make_view,
    numbered_account,
    reachable,
    service_account,
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives its processes other accounts")
NUMBER = numbered_account("test")


def test_a_number_stays_the_same_and_is_nobodys() -> None:
    first = numbered_account("service /srv/data", is_taken=lambda _: False)
    assert first == numbered_account("service /srv/data", is_taken=lambda _: False)
    assert FIRST_NUMBER <= first.uid <= LAST_NUMBER
    assert first.uid == first.gid
    assert first != numbered_account("database /srv/data", is_taken=lambda _: False)
    assert numbered_account("service /srv/data", is_taken=lambda number: number == first.uid).uid != first.uid
    with pytest.raises(OSError, match="every user number"):
        numbered_account("service /srv/data", is_taken=lambda _: True)


def test_without_root_everything_runs_as_ourselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert service_account(tmp_path) is None
    assert database_account(tmp_path, tmp_path / "postgres") is None


@as_root
def test_nobody_never_owns_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"nobody": OsAccount("nobody", 65534, 65534), "postgres": OsAccount("postgres", 101, 104)}
    monkeypatch.setattr(os_accounts, "find_account", known.get)
    cluster = tmp_path / "postgres"
    assert database_account(tmp_path, cluster) == known["postgres"]
    cluster.mkdir()
    for owner, wanted in ((0, 101), (65534, 101), (61200, 61200)):
        os.chown(cluster, owner, owner)
        account = database_account(tmp_path, cluster)
        assert account is not None
        assert account.uid == wanted
    del known["postgres"]
    os.chown(cluster, 65534, 65534)
    account = database_account(tmp_path, cluster)
    assert account is not None
    assert account.uid not in {0, 65534}
    service = service_account(tmp_path)
    assert service is not None
    assert service.uid not in {0, 65534, account.uid}


@as_root
def test_a_folder_is_handed_over_with_all_that_is_in_it_but_other_peoples_files(tmp_path: Path) -> None:
    folder, outside = tmp_path / "imports", tmp_path / "shadow"
    (folder / "below").mkdir(parents=True)
    (folder / "below/file").write_text("")
    outside.write_text("")
    (folder / "link").symlink_to(outside)
    (folder / "hard").hardlink_to(outside)
    chown_tree(folder, NUMBER)
    owners = {path.name: path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {"imports": NUMBER.uid, "below": NUMBER.uid, "file": NUMBER.uid, "link": NUMBER.uid, "hard": 0}
    assert outside.stat().st_uid == 0
    # Its own by now: what the account puts there is not touched again.
    (folder / "below/root").write_text("")
    chown_tree(folder, NUMBER)
    assert (folder / "below/root").stat().st_uid == 0


@as_root
def test_a_child_has_no_privileges_left() -> None:
    done = subprocess.run(
        ["/usr/bin/env", "cat", "/proc/self/status"],
        capture_output=True,
        text=True,
        preexec_fn=drop_privileges(NUMBER, is_final=True),
        check=True,
    )
    status = dict(line.split(":", 1) for line in done.stdout.splitlines())
    assert status["Uid"].split() == [str(NUMBER.uid)] * 4
    assert status["Gid"].split() == [str(NUMBER.gid)] * 4
    assert status["Groups"].split() == []
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"


@as_root
@pytest.mark.parametrize("lacking", [None, "sys_ptrace"])
def test_a_child_hands_on_the_capabilities_it_is_to_keep_or_none(lacking: str | None) -> None:
    code = (
        "import subprocess; from normstat.local.os_accounts import IO_CAPABILITIES, OsAccount, drop_privileges;"
        f" change = drop_privileges({NUMBER}, is_final=True, kept=IO_CAPABILITIES);"
        " subprocess.run(['cat', '/proc/self/status'], preexec_fn=change, check=True)"
    )
    limits = [] if lacking is None else ["setpriv", f"--bounding-set=-{lacking}"]
    done = subprocess.run([*limits, sys.executable, "-c", code], capture_output=True, text=True, check=True)
    status = dict(line.split(":", 1) for line in done.stdout.splitlines())
    both = sum(1 << number for number in IO_CAPABILITIES)
    assert status["Uid"].split() == [str(NUMBER.uid)] * 4
    assert {int(status[f"Cap{kind}"], 16) for kind in ("Eff", "Prm", "Amb")} == {both if lacking is None else 0}
    assert int(status["CapBnd"], 16) & ~both == 0
    assert status["NoNewPrivs"].strip() == "1"


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder that is closed to other accounts, as /root is, below one that is open."""
    base = Path(tempfile.mkdtemp(prefix="normstat-accounts-"))
    base.chmod(0o711)
    (base / "home").mkdir(mode=0o700)
    yield base / "home"
    shutil.rmtree(base)


def view_is_possible() -> bool:
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


@as_root
@pytest.mark.skipif(os.geteuid() == 0 and not view_is_possible(), reason="no mount namespaces here")
def test_a_view_shows_what_is_needed_of_a_closed_folder_and_no_more(closed: Path) -> None:
    if not can_reach(NUMBER, "-x", closed.parent):
        pytest.skip("the folder for temporary files is closed itself")
    (closed / "project/sub").mkdir(parents=True)
    (closed / "project/sub/file").write_text("needed")
    (closed / "versions/1.2").mkdir(parents=True)
    (closed / "versions/1").symlink_to("1.2")
    (closed / "secret").write_text("secret")
    (closed / "secret").chmod(0o644)
    assert not can_reach(NUMBER, "-r", closed / "project/sub/file")
    view = make_view(NUMBER, [closed / "project", closed / "project/sub", closed / "versions/1", Path("/usr")])
    assert set(view.kept) == {closed}
    paths = [closed / "project/sub/file", closed / "versions/1", closed / "secret", closed / "project/sub/new"]
    assert reachable(NUMBER, "-e", paths, view) == set(paths[:2])
    # Here, everything is as it was.
    assert (closed / "secret").read_text() == "secret"
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    done = subprocess.run(
        ["/usr/bin/env", "sh", "-c", f"cat '{closed}/project/sub/file'; ls -a '{closed}' 2>&1; umask 022; touch '{closed}/x' 2>&1"],
        capture_output=True,
        text=True,
        preexec_fn=drop_privileges(NUMBER, view=view),
        check=False,
    )
    assert done.stdout.startswith("needed")
    assert "secret" not in done.stdout
    assert not (closed / "x").exists()


@as_root
def test_no_view_is_needed_where_everything_is_open() -> None:
    assert make_view(NUMBER, [Path("/usr/bin"), Path(sys.executable).parent.parent / "nothing"]).kept.keys() <= {Path("/root")}
    assert make_view(NUMBER, [Path("/usr/bin")]).kept == {}
