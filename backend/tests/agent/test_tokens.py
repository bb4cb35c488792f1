"""Enrolment with a join token, and the change of a token while the agent runs."""

import re
import stat

import pytest

from tests.agent.conftest import require_program, under_every_shell
from tests.agent.host import AGENT, Host
from tests.agent.test_install import offer_files, pipe_install

OLD, NEW = "nsa_old-token-of-this-host", "nsa_new-token-of-this-host"


def write_join_token(host: Host) -> tuple[str, str]:
    path = host.root / "join-token"
    path.write_text(f"{host.server.join_token}\n")
    path.chmod(0o600)
    return "--join-token-file", str(path)


@under_every_shell
def test_a_host_enrols_and_its_token_changes_without_a_gap(host: Host) -> None:
    """It enrols as it starts; an answer is nonsense, one is lost; all bytes arrive."""
    host.stats("emit_linux emit 0.2 4")
    host.token_file.unlink()
    options = write_join_token(host)
    host.run(*options)
    host.wait_for_bytes("emit_linux", 500)
    first = host.server.token
    assert host.server.enrolled == ["web1"]
    assert host.token_file.read_text() == f"{first}\n"
    assert stat.S_IMODE(host.token_file.stat().st_mode) == 0o600
    host.server.token_failures.extend(['{"token":"x; rm -rf /","host":"web1"}', "lose the answer"])
    host.server.wants_rotation = True
    host.wait_for(lambda: "holds no token: is it a normstat server of this version?; the old one" in host.log, "the first attempt")
    # The next one comes a minute later, or after a new start.
    host.stop()
    host.run(*options)
    host.wait_for(lambda: not host.server.token_failures, "the second attempt")
    assert host.token_file.read_text() == f"{first}\n"
    host.stop()
    host.run(*options)
    host.wait_for(lambda: host.server.token != first, "the first use of the new token")
    n_bytes = host.received("emit_linux")
    host.wait_for_bytes("emit_linux", n_bytes + 500)
    assert not any(token in line for line in host.processes().values() for token in (first, host.server.token))
    assert host.stop() == 0
    assert host.token_file.read_text() == f"{host.server.token}\n"
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in host.root.glob("token*")} == {
        "token": 0o600,
        "token.old": 0o600,
    }
    # One enrolment alone: later starts found a token.
    assert host.server.enrolled == ["web1"]
    host.assert_exact()


@pytest.mark.parametrize("transport", ["curl", "wget", "perl"])
def test_every_transport_enrols(host: Host, transport: str) -> None:
    """https by openssl is the same code: it reads head and body as curl does."""
    require_program(transport)
    host.token_file.unlink()
    enrolled = host.command("enrol", "--transport", transport, *write_join_token(host))
    assert enrolled.returncode == 0, enrolled
    assert host.token_file.read_text() == f"{host.server.token}\n"
    # A token that is good is kept, and so is one while the server is away; one that is not good is replaced.
    kept = host.command("enrol", "--transport", transport, *write_join_token(host))
    assert "kept" in kept.stdout
    host.write_token("wrong-token-of-this-host")
    assert "is enrolled" in host.command("enrol", "--transport", transport, *write_join_token(host)).stdout
    host.server.token_failures.append("409")
    host.write_token("wrong-token-of-this-host")
    refused = host.command("enrol", "--transport", transport, *write_join_token(host))
    assert (refused.returncode, "cannot enrol as host web1: the server answered 409" in refused.stderr) == (1, True)
    host.server.stop()
    assert "since the server cannot say" in host.command("enrol", "--transport", transport, *write_join_token(host)).stdout
    assert host.token_file.read_text() == "wrong-token-of-this-host\n"


def test_a_server_restored_from_before_a_rotation_is_served_with_the_token_before(host: Host) -> None:
    host.stats("emit_linux emit 0.2 4")
    (host.root / "token.old").write_text(f"{host.server.token}\n")
    (host.root / "token.old").chmod(0o600)
    host.write_token("nsa_token-after-the-backup")
    host.run()
    host.wait_for_bytes("emit_linux", 500)
    # Said after the token is in its place.
    host.wait_for(lambda: "the server knows only the token before the last rotation" in host.log, "the word about the old token")
    assert host.token_file.read_text() == f"{host.server.token}\n"
    host.end_exactly()


@under_every_shell
def test_a_token_file_is_whole_at_every_moment(host: Host) -> None:
    """A kill before or after any command of the write leaves the old token or the new one, readable by nobody else."""
    script = (
        f"NORMSTAT_SOURCED=1; . {AGENT}; set_defaults; token_file={host.token_file}; token_real=$(find_token_file)\n"
        f'ask_token() {{ new_token={NEW}; }}; log() {{ printf "%s\\n" "$*"; }}; n=0\n'
        # Each program of put_secret counts; the one whose turn it is kills the shell, before or after it did its work.
        'turn() { n=$((n + 1)); [ "$n" != "$turn" ] || kill -9 $$; }; step() { turn; command "$@"; turn; }\n'
        'rm() { step rm "$@"; }; mv() { step mv "$@"; }; rotate_token; echo done\n'
    )
    left = []
    for turn in range(1, 10):
        host.write_token(OLD)
        done = host.execute(host.shell.program, "-c", f"turn={turn}; {script}")
        left.append(host.token_file.read_text().strip())
        assert stat.S_IMODE(host.token_file.stat().st_mode) == 0o600
        assert ("done" in done.stdout) == (turn == 9), done
    assert left == [OLD] * 7 + [NEW] * 2


def test_no_token_is_written_where_others_could_put_a_link(host: Host) -> None:
    others = host.root / "others"
    others.mkdir()
    others.chmod(0o777)
    (others / "token").write_text(f"{OLD}\n")
    script = f"NORMSTAT_SOURCED=1; . {AGENT}; set_defaults; token_file={others}/token; find_token_file && echo safe"
    words = [str(host.shell.program), "-c", script]
    done = host.execute(*words)
    assert ("everybody can write" in done.stderr, done.stdout) == (True, "")


def test_one_line_installs_a_host_with_a_join_token(host: Host) -> None:
    offer_files(host)
    host.extra["NORMSTAT_JOIN_TOKEN"] = host.server.join_token
    done = pipe_install(host, "--host", "web7")
    assert done.returncode == 0, done
    assert b"host web7 is enrolled" in done.stdout
    host.wait_for_bytes("emit_linux", 500)
    here = host.root / "here"
    assert stat.S_IMODE((here / "token").stat().st_mode) == 0o600
    assert not (here / "join-token").exists()
    # The same line again renews the agent and keeps the token.
    again = pipe_install(host, "--host", "web7")
    assert (again.returncode, b"kept" in again.stdout) == (0, True), again
    assert host.server.enrolled == ["web7"]
    assert not any(re.search("join-token_|nsa_new", line) for line in host.processes().values())
    host.execute(here / "normstat-agent", "stop")
    host.assert_nothing_left_behind()
