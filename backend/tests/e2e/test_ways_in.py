"""The ways in that README promises, two commands each, in a bare Debian: no Python, no Node, no compiler, no checkout.

The commands are those of README's table, run as they stand there; only names that a reader would fill in are filled in, and ports
are free ones. Docker and Kubernetes are held against what can be had without them: tests/local/test_container.py and test_chart.py.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from normstat import __version__
from tests.databases import ServerPool
from tests.debian_root import COPY_OF_ROOT, DatabaseUnavailable, bare_root
from tests.e2e.product import CHECKOUT, Server, free_port, log_in, wait_until
from tests.unavailable import require_plain, skip_without

pytestmark = [pytest.mark.matrix, pytest.mark.timeout(1800)]  # packages are downloaded, and a page is built
RELEASES: Final = {"bookworm": "3.11", "trixie": "3.13"}
# Where this machine's package managers are told of mirrors, and by whom these are signed.
SETTINGS: Final = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/npmrc", "/usr/etc/npmrc", "/root/.npmrc",
    "/etc/ssl/certs/ca-certificates.crt",
)  # fmt: skip
PASSED: Final = ("PIP_", "NODE_EXTRA_CA_CERTS")
DOWNLOAD_TIMEOUT_S: Final = 900.0
# Runs in namespaces of its own: what it mounts or starts ends with it, and the cached Debian below is not changed.
ENTER: Final = (
    COPY_OF_ROOT
    + r"""
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mkdir "$root/given"
mount --bind -o ro "$GIVEN" "$root/given"
for file in $SETTINGS; do
    if [ -e "$file" ]; then
        mkdir -p "$root${file%/*}" && touch "$root$file" && mount --bind "$file" "$root$file"
    fi
done
exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive $PASSED \
    sh -euc "$SCRIPT"
"""
)


def read_ways() -> dict[str, tuple[str, tuple[str, ...]]]:
    """README's table: what each way needs, and its commands."""
    readme = (CHECKOUT / "README.md").read_text()
    section = readme[readme.index("## Two commands") : readme.index("## Find something")]
    rows = [re.split(r"(?<!\\)\|", line)[1:4] for line in section.splitlines() if line.startswith("| ")]
    return {
        way.strip(): (
            needs.strip().strip("`"),
            tuple(command.replace(r"\|", "|") for command in re.findall(r"`([^`]+)`", commands)),
        )
        for way, needs, commands in rows[1:]
    }


WAYS: Final = read_ways()


def test_each_way_is_two_commands_of_this_version() -> None:
    assert {len(commands) for _, commands in WAYS.values()} == {2}
    text = " ".join(command for _, commands in WAYS.values() for command in commands)
    assert set(re.findall(r"normstat(?:-server)?[-_](\d+\.\d+\.\d+)", text)) == {__version__}


@contextmanager
def running_in(release: str, script: str, folder: Path) -> Iterator[Path]:
    """Runs a script as root in a bare Debian, with what lies in `folder`/given in /given; gives the file of its output."""
    try:
        base = bare_root(release).require()
    except DatabaseUnavailable as error:
        skip_without(error)
    (folder / "scratch").mkdir()
    output = folder / "output"
    passed = [f"{name}={value}" for name, value in os.environ.items() if name.startswith(PASSED) and " " not in value]
    environment = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "BASE": str(base), "SCRATCH": str(folder / "scratch"),
        "GIVEN": str(folder / "given"),
        "SETTINGS": " ".join(SETTINGS), "PASSED": " ".join(passed), "SCRIPT": script,
    }  # fmt: skip
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER]
    with output.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
    try:
        yield output
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def wait_for(pattern: str, output: Path) -> str:
    """The first match in what a script prints."""
    found: list[str] = []

    def is_there() -> bool:
        text = output.read_text(errors="replace")
        assert "\nFAILED" not in text, text[-3000:]
        found[:] = re.findall(pattern, text)
        return bool(found)

    try:
        wait_until(is_there, pattern, DOWNLOAD_TIMEOUT_S)
    except AssertionError:
        raise AssertionError(output.read_text(errors="replace")[-3000:]) from None
    return found[0]


def write_script(needs: str, *commands: str) -> str:
    """Installs what is needed, and proves that there was nothing before; a command that fails is said."""
    return "\n".join(
        [
            "trap '[ $? = 0 ] || echo && echo FAILED' EXIT",
            "for program in python3 node gcc make; do ! command -v $program; done",
            "apt-get update -qq",
            f"apt-get install -y -qq --no-install-recommends {needs}" if needs else ":",
            "cd /root",
            *commands,
        ]
    )


def assert_it_records(link: str) -> None:
    """A browser can log in, and the agent of this machine delivers."""
    with log_in(link) as client:
        assert "<title>normstat" in client.get(link.partition("/login")[0]).text

        def has_samples() -> bool:
            hosts = client.get("/hosts").json()["hosts"]
            return any(
                stream["n_lines"]["sample"] for host in hosts for stream in client.get(f"/hosts/{host['name']}").json()["streams"]
            )

        wait_until(has_samples, "samples of this machine")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (CHECKOUT / "frontend/dist/index.html").is_file():
        skip_without("the page is not built (run `make page`)")
    command = ["make", "-s", "wheel"]
    subprocess.run(command, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    return CHECKOUT / f"build/normstat-{__version__}-py3-none-any.whl"


@pytest.mark.parametrize("release", RELEASES)
def test_from_a_checkout(release: str, tmp_path: Path) -> None:
    needs, (clone, run) = WAYS["checkout"]
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", CHECKOUT, tmp_path / "given/normstat"], check=True)
    port = free_port()
    script = write_script(
        needs,
        "git config --global --add safe.directory '*'",
        clone.replace("URL", "/given/normstat"),
        f"{run} PORT={port}",
    )
    with running_in(release, script, tmp_path) as output:
        assert_it_records(wait_for(r"http://127\.0\.0\.1:\d+/login#token=\S+", output))


@pytest.mark.parametrize("release", RELEASES)
def test_from_the_wheel(release: str, wheel: Path, tmp_path: Path) -> None:
    needs, (install, up) = WAYS["wheel"]
    (tmp_path / "given").mkdir()
    shutil.copy(wheel, tmp_path / "given")
    script = write_script(needs, "cp /given/*.whl .", install, f"{up} --port {free_port()}")
    with running_in(release, script, tmp_path) as output:
        assert_it_records(wait_for(r"http://127\.0\.0\.1:\d+/login#token=\S+", output))


def build_server_package(kind: str, python: str, wheel: Path, folder: Path) -> Path:
    settings = {"PYTHON_VERSION": python}
    command = ["sh", str(CHECKOUT / "packaging/build.sh"), kind, str(folder), str(wheel)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def start_by_hand(port: int) -> tuple[str, ...]:
    """What `normstat-setup` says where there is no systemd, on a port of the test's."""
    return (
        f"runuser -u normstat -- sh -c 'normstat migrate && exec normstat serve --port {port}' &",
        f"export NORMSTAT_PUBLIC_URL=http://127.0.0.1:{port}",
        "runuser -u normstat -- sh -c 'until normstat login-link; do sleep 1; done'",
        "wait",
    )


@pytest.mark.parametrize("kind", ["deb", "rpm"])
@pytest.mark.parametrize("release", RELEASES)
def test_from_a_package(release: str, kind: str, wheel: Path, tmp_path: Path) -> None:
    """The .rpm without dnf: `rpm` installs it, and Debian's names of what it needs differ."""
    _, (install, setup) = WAYS[f".{kind}"]
    package = build_server_package(kind, RELEASES[release], wheel, tmp_path / "given")
    python = f"python{RELEASES[release]}"
    if kind == "deb":
        needs, install = "", re.sub(r"\./normstat-server_\S+", f"/given/{package.name}", install)
    else:
        needs, install = f"rpm postgresql {python}", f"rpm --nodeps -U /given/{package.name}"
    port = free_port()
    # As systemd would have done.
    start_postgresql = "pg_lsclusters -h | while read version cluster rest; do pg_ctlcluster $version $cluster start || :; done"
    said = (f"{setup} >said", "cat said", "grep -q 'exec normstat serve' said")
    script = write_script(needs, install, start_postgresql, *said, *start_by_hand(port))
    with running_in(release, script, tmp_path) as output:
        link = wait_for(r"http://127\.0\.0\.1:\d+/login#token=\S+", output)
        wait_for("server_started", output)
        with log_in(link) as client:
            checks = {check["check"]: check for check in client.get("/doctor").json()["checks"]}
            assert checks["postgresql"]["status"] == checks["migrations"]["status"] == "ok", checks


@pytest.mark.parametrize("release", RELEASES)
def test_an_agent_alone(release: str, servers: ServerPool, tmp_path: Path) -> None:
    _, (install, status) = WAYS["agent"]
    (tmp_path / "given").mkdir()
    with require_plain(servers).fresh_database() as url, Server(url, tmp_path / "server.log") as server:
        token = server.normstat("join-token", "create", "bare", "--for", "1h", "--uses", "1")
        places: Mapping[str, str] = {"http://SERVER:8080": server.url, "TOKEN ": f"{token} "}
        for name, value in places.items():
            install = install.replace(name, value)
        script = write_script("curl", install, f"{status} && echo IT RUNS; sleep 600")
        with running_in(release, script, tmp_path) as output, server.log_in() as client:
            wait_for("IT RUNS", output)
            wait_until(lambda: [host["state"] for host in client.get("/hosts").json()["hosts"]] == ["live"], "a live host")
