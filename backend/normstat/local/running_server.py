"""Find server processes on this machine, and the settings that they were started with, for `normstat doctor`."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from normstat.local.running_installation import local_url

PROC: Final = Path("/proc")
URL_NAMES: Final = ("NORMSTAT_DATABASE_URL", "DATABASE_URL")
# Beside NORMSTAT_*; the second one is a folder of files with settings.
OTHER_NAMES: Final = ("DATABASE_URL", "CREDENTIALS_DIRECTORY")
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = "8080"
# Options of `normstat serve` that are settings, too.
OPTIONS: Final = {
    "--workers": "NORMSTAT_WORKERS",
    "--tls-cert": "NORMSTAT_TLS_CERT",
    "--tls-key": "NORMSTAT_TLS_KEY",
    "--tls-client-ca": "NORMSTAT_TLS_CLIENT_CA",
}


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A process of `normstat serve`: its environment as far as it concerns normstat, and the account that it runs as."""

    pid: int
    owner: int
    environment: Mapping[str, str]

    @property
    def database_url(self) -> str | None:
        """The database that it was given; None where it uses the default."""
        return next((self.environment[name] for name in URL_NAMES if name in self.environment), None)


def find_running_servers(proc: Path = PROC) -> list[RunningServer]:
    """Return the processes of `normstat serve` whose environment this account may read, the oldest pid first."""
    found = []
    for process in sorted(proc.glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            arguments = (process / "cmdline").read_bytes().decode().split("\0")
            words = [Path(word).name for word in arguments[:6]]
            if ("normstat", "serve") not in set(pairwise(words)):
                continue
            owner = process.stat().st_uid
            pairs = (entry.partition("=") for entry in (process / "environ").read_bytes().decode().split("\0"))
            environment = {name: value for name, _, value in pairs if name.startswith("NORMSTAT_") or name in OTHER_NAMES}
        except (OSError, UnicodeDecodeError):
            # It ended, or belongs to another account.
            continue
        options = _options_of(arguments)
        for option in OPTIONS.keys() & options.keys():
            # Paths are from its own folder.
            value = options[option]
            environment[OPTIONS[option]] = value if option == "--workers" else str(process / "cwd" / value)
        port = options.get("--port", DEFAULT_PORT)
        if port.isdigit():
            url = local_url(options.get("--host", DEFAULT_HOST), int(port), by_tls="NORMSTAT_TLS_CERT" in environment)
            environment.setdefault("NORMSTAT_PUBLIC_URL", url)
        found.append(RunningServer(int(process.name), owner, environment))
    return found


def _options_of(arguments: list[str]) -> dict[str, str]:
    """Return the options with a value, `--name value` or `--name=value`."""
    joined = [(word.partition("=")[0], word.partition("=")[2]) for word in arguments if word.startswith("--") and "=" in word]
    return {**dict(pairwise(arguments)), **dict(joined)}
