"""The wheel as somebody installs it: in a fresh environment, without a checkout, without Node."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import httpx
import pytest

from normstat import __version__
from normstat.cli import COMMANDS
from normstat.runtime.installed_files import find_commit
from tests.databases import ServerPool
from tests.e2e.product import CHECKOUT, free_port, health_status, wait_until

BUILT_PAGE = CHECKOUT / "frontend/dist"


@pytest.fixture(scope="module")
def page_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as it was built; a small one where it was not."""
    if (BUILT_PAGE / "index.html").is_file():
        return BUILT_PAGE
    folder = tmp_path_factory.mktemp("page")
    (folder / "assets").mkdir()
    (folder / "assets/App-0.js").write_text("export {};\n")
    (folder / "index.html").write_text('<!doctype html><title>normstat</title><script src="/assets/App-0.js"></script>\n')
    return folder


def build_wheel(folder: Path, page_dir: Path, umask: int, zone: str) -> Path:
    command = [sys.executable, str(CHECKOUT / "backend/setup/build_wheel.py"), str(folder), "--page", str(page_dir)]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"} | {"TZ": zone}
    done = subprocess.run(command, env=environment, umask=umask, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, page_dir: Path) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"), page_dir, 0o022, "UTC")


@pytest.mark.matrix
def test_two_builds_give_the_same_bytes(wheel: Path, page_dir: Path, tmp_path: Path) -> None:
    again = build_wheel(tmp_path, page_dir, 0o077, "Pacific/Chatham")
    assert again.name == wheel.name == f"normstat-{__version__}-py3-none-any.whl"
    assert again.read_bytes() == wheel.read_bytes()


@pytest.mark.slow
def test_the_wheel_has_all_that_the_checkout_has(wheel: Path, page_dir: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    package = CHECKOUT / "backend/normstat"
    # Specs, SQL, fonts, styles: a pattern that is missing in package-data would be noticed at some customer's first report.
    ours = {
        f"normstat/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc" and path.name != "README.md"
    }
    # Captures, which only tests read.
    ours = {name for name in ours if not {"recorded", "synthetic"} & set(Path(name).parts)}
    assert ours - names.keys() == set()
    for top, folder in (("migrations", CHECKOUT / "migrations"), ("page", page_dir)):
        wanted = {f"normstat/bundled/{top}/{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()}
        assert {name for name in wanted if "__pycache__" not in name} - names.keys() == set()
    pages = {f"normstat/bundled/docs/{path.name}" for path in (CHECKOUT / "docs").glob("*.md")}
    assert pages - names.keys() == set()
    assert names["normstat/bundled/agents/normstat-agent"] == 0o755
    shared = f"normstat-{__version__}.data/data/share"
    manuals = {f"{shared}/man/man1/normstat{name}.1" for name in ("", *(f"-{command}" for command in COMMANDS))}
    completions = {
        f"{shared}/bash-completion/completions/normstat",
        f"{shared}/zsh/site-functions/_normstat",
        f"{shared}/fish/vendor_completions.d/normstat.fish",
    }
    assert (manuals | completions) - names.keys() == set()
    assert not [name for name in names if name.startswith(("tests/", "bench/")) or name.endswith(".pyc")]


@pytest.mark.matrix
def test_an_installed_wheel_migrates_and_serves_page_and_agent(
    wheel: Path, page_dir: Path, servers: ServerPool, tmp_path: Path
) -> None:
    """Its dependencies are those of the tests: nothing is downloaded."""
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin/python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    without_checkout = {name: value for name, value in os.environ.items() if not name.startswith(("NORMSTAT_", "PYTHON"))}
    subprocess.run(install, env=without_checkout, check=True, stdout=subprocess.DEVNULL)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    normstat = environment / "bin/normstat"
    port = free_port()
    with servers.require("postgresql").fresh_database(is_migrated=False) as url:
        settings = without_checkout | {"NORMSTAT_DATABASE_URL": url}

        def run(*arguments: str) -> str:
            done = subprocess.run([normstat, *arguments], env=settings, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        assert run("--version") == f"normstat {__version__} (commit {find_commit()})\n"
        assert (environment / "share/man/man1/normstat-parse.1").is_file()
        words = {"_NORMSTAT_COMPLETE": "complete_bash", "COMP_WORDS": "normstat jobs re", "COMP_CWORD": "2"}
        completed = subprocess.run([normstat], env=settings | words, capture_output=True, text=True, check=False)
        assert completed.stdout.split() == ["retry"]
        ask = [str(python), "-c", "import normstat; print(normstat.__file__)"]
        answer = subprocess.run(ask, env=settings, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert Path(answer.stdout.strip()) == packages / "normstat/__init__.py", "it tests what was installed, not the checkout"
        run("migrate")
        with (tmp_path / "server.log").open("wb") as log:
            server = subprocess.Popen([normstat, "serve", "--port", str(port)], env=settings, cwd=tmp_path, stdout=log, stderr=log)
        try:
            wait_until(lambda: server.poll() is not None or health_status(port) == 200, "healthy server")
            assert server.poll() is None, (tmp_path / "server.log").read_text()[-2000:]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
                assert client.get("/").content == (page_dir / "index.html").read_bytes()
                script = next((page_dir / "assets").glob("*.js"))
                assert client.get(f"/assets/{script.name}").content == script.read_bytes()
                for name, source in (
                    ("normstat-agent", "normstat-agent"),
                    ("install.sh", "install/install.sh"),
                    ("stats.conf.linux", "stats.conf.linux"),
                    ("stats.conf.sunos", "stats.conf.sunos"),
                ):
                    assert client.get(f"/api/v1/agent/{name}").content == (CHECKOUT / "agents" / source).read_bytes()
        finally:
            server.terminate()
            server.wait(60)
