"""The image, docker-compose.yml and its proxy, as far as they can be held against something without Docker."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from normstat.cli.gen_command import list_settings
from tests.e2e.product import CHECKOUT, free_port

CONTAINER: Final = CHECKOUT / "packaging/container"
SECRET: Final = re.compile(r"PASSWORD|SECRET|TOKEN|KEY")


def read_stages() -> dict[str, list[tuple[str, str]]]:
    """The instructions of the Dockerfile by stage, the last one last."""
    text = re.sub(r"\\\n", " ", (CHECKOUT / "Dockerfile").read_text())
    stages: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for line in text.splitlines():
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            name = rest.split(" AS ")[1]
        if name and instruction and not instruction.startswith("#"):
            stages.setdefault(name, []).append((instruction, rest.strip()))
    return stages


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((CHECKOUT / "docker-compose.yml").read_text())["services"]
    return found


def test_what_runs_has_packages_only_and_is_not_root() -> None:
    stages = read_stages()
    assert list(stages) == ["build", "agent", "server"], "the last one is what `docker build .` makes"
    for name in ("agent", "server"):
        said = dict(stages[name])
        assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", said["USER"]), "Kubernetes can tell a number from root, not a name"
        assert [rest for instruction, rest in stages[name] if instruction in {"COPY", "ADD"} and "--from" in rest] == []
        run = " ".join(rest for instruction, rest in stages[name] if instruction == "RUN")
        if name == "agent":
            # Alpine: busybox, and what posts its output.
            assert re.findall(r"apk add (.*?) +&&", run) == ["--no-cache curl"]
            assert "--mount=type=bind,from=build,source=/src/build/agent-root," in run
        else:
            assert "--no-install-recommends" in run
            assert "rm -rf /var/lib/apt/lists/*" in run
        assert not re.search(r"\b(node|npm|make|pip|gcc)\b", run)
        assert not SECRET.search(said.get("ENV", ""))
    assert dict(stages["server"])["HEALTHCHECK"].endswith('CMD ["normstat-health"]')
    # What Debian trixie has; the package depends on it.
    assert ("RUN", "make server-deb PYTHON_VERSION=3.13") in stages["build"]
    assert ("RUN", "make agent-root") in stages["build"]
    assert "debian:trixie-slim" in (CHECKOUT / "Dockerfile").read_text()


def test_the_build_gets_neither_secrets_nor_what_was_built_before() -> None:
    left_out = set((CHECKOUT / ".dockerignore").read_text().split())
    assert {".git", ".venv", ".env", "agent-token", "data", "build", "frontend/node_modules", "frontend/dist"} <= left_out


def test_settings_of_compose_are_settings(services: dict[str, dict[str, Any]]) -> None:
    known = list_settings().keys()
    for name in ("setup", "server", "server-2"):
        assert services[name]["environment"].keys() - known == set()
    text = (CHECKOUT / "docker-compose.yml").read_text()
    # What people write into .env.
    own = {"NORMSTAT_DATABASE_PASSWORD", "NORMSTAT_LISTEN", "NORMSTAT_SITE", "NORMSTAT_AGENT_HOST", "NORMSTAT_AGENT_TOKEN_FILE"}
    # For the upgrade from PostgreSQL 17 (docs/install.md).
    own |= {"NORMSTAT_VOLUME_17"}
    assert set(re.findall(r"\$\{(\w+)", text)) - known == own


def test_data_of_another_major_version_is_never_hidden(services: dict[str, dict[str, Any]]) -> None:
    """The image keeps each major version in MAJOR/docker; it makes no new database beside an older one that it finds there."""
    database = services["database"]
    major = re.fullmatch(r"timescale/timescaledb:\d+\.\d+\.\d+-pg(\d+)", database["image"])
    assert major is not None, "a release of TimescaleDB on a major version of PostgreSQL"
    assert f"database-{major[1]}:/var/lib/postgresql" in database["volumes"]
    assert "${NORMSTAT_VOLUME_17:-database}:/var/lib/postgresql/17/docker:ro" in database["volumes"]


def test_containers_of_compose_have_no_rights_of_root(services: dict[str, dict[str, Any]]) -> None:
    for name, service in services.items():
        if name == "database":
            continue
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else []), name
    assert [name for name, service in services.items() if "profiles" not in service] == ["database", "setup", "server"]
    # Longer than the server takes to end (cli/serve_command.py).
    assert services["server"]["stop_grace_period"] == "40s"
    # Each keeps what was uploaded to it, and the port belongs to the first.
    assert services["server"]["volumes"] != services["server-2"]["volumes"]
    assert services["server-2"]["ports"] == []


def test_the_agent_of_compose_sees_the_machine_and_can_only_read_it(services: dict[str, dict[str, Any]]) -> None:
    agent = services["agent"]
    assert (agent["pid"], agent["cgroup"], agent["read_only"]) == ("host", "host", True)
    assert [mount for mount in agent["volumes"] if mount.startswith("/")] == ["/sys/fs/cgroup:/sys/fs/cgroup:ro"]


def test_the_root_of_the_agents_image_records_with_busybox_alone(tmp_path: Path) -> None:
    """What `make agent-root` puts together, with the userland of the image."""
    done = subprocess.run(["make", "-s", "agent-root"], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    root = CHECKOUT / "build/agent-root/opt/normstat"
    assert sorted(path.name for path in root.iterdir()) == ["normstat-agent", "stats.conf"]
    busybox = shutil.which("busybox")
    assert busybox is not None
    userland = tmp_path / "bin"
    userland.mkdir()
    subprocess.run([busybox, "--install", "-s", userland], check=True)
    command = [busybox, "sh", str(root / "normstat-agent"), "collect", str(tmp_path / "out")]
    environment = {"NORMSTAT_PATH": str(userland), "NORMSTAT_SHELL": str(userland / "sh"), "HOME": str(tmp_path)}
    expected = {"proc_linux": "==> /proc/stat <==", "proc_pid_linux": "==> /proc/1/status <=="}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as agent:
        found: dict[str, str] = {}
        # The test's own limit of time ends a vain wait.
        while agent.poll() is None and not all(text in found.get(name, "") for name, text in expected.items()):
            time.sleep(0.2)
            found = {path.name.partition(".")[0]: path.read_text(errors="replace") for path in (tmp_path / "out").rglob("*.raw")}
        assert agent.poll() is None
        agent.terminate()
        agent.wait()


def test_the_agent_of_compose_knows_its_options(services: dict[str, dict[str, Any]]) -> None:
    program, verb, *options = services["agent"]["command"]
    assert (program, verb) == ("/opt/normstat/normstat-agent", "run")
    text = (CHECKOUT / "agents/normstat-agent").read_text()
    unknown = [option for option in options if not re.search(rf"^#   {option.partition('=')[0]} ", text, re.MULTILINE)]
    assert unknown == []


def test_the_proxy_knows_the_servers_and_their_health() -> None:
    text = (CONTAINER / "Caddyfile").read_text()
    assert "reverse_proxy server:8080 server-2:8080" in text
    assert "/api/v1/health" in json.loads((CHECKOUT / "frontend/openapi.json").read_text())["paths"]
    assert "health_uri /api/v1/health" in text
    caddy = shutil.which("caddy")
    if caddy is not None:  # where somebody installed it
        command = [caddy, "validate", "--adapter", "caddyfile", "--config", str(CONTAINER / "Caddyfile")]
        done = subprocess.run(command, env=os.environ | {"NORMSTAT_SITE": "localhost"}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("status", [200, 503, None])
def test_the_health_check_tells_health(status: int | None, tmp_path: Path) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert status is not None
            self.send_response(status if self.path == "/api/v1/health" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    port = free_port()
    script = tmp_path / "health.py"
    text = (CONTAINER / "health.py").read_text()
    assert text.startswith("#!/opt/normstat-server/bin/python3 -I\n"), "the image has no /usr/bin/python3"
    script.write_text(text.replace(":8080/", f":{port}/"))
    server = ThreadingHTTPServer(("127.0.0.1", port), Answer) if status is not None else None
    if server is not None:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = subprocess.run([sys.executable, "-I", script], env={}, capture_output=True, text=True, timeout=60, check=False)
    finally:
        if server is not None:
            server.shutdown()
            server.server_close()
    assert done.returncode == (0 if status == 200 else 1)
    assert done.stdout == ""
    assert done.stderr == "" if status == 200 else done.stderr.startswith("normstat-health: ")
