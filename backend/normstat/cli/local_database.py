"""Choose the database of a command: the one that the environment names, else the one of a `make run` nearby; and its public URL."""

import re
import sys
from pathlib import Path

from normstat.local.running_installation import RunningInstallation, find_installation, find_installations
from normstat.local.running_server import find_running_servers
from normstat.runtime.installed_files import CHECKOUT
from normstat.settings import adopt_installation, load_settings, name_of_database_url

# Folders in which no database runs, for the message when the usual one is unavailable too.
_searched: list[Path] = []
# The `normstat up` whose database was chosen.
_chosen: list[RunningInstallation] = []
# Folders in which databases run that were not chosen, because there are several.
_several: list[Path] = []


def use_running_database() -> None:
    """Use the database below NORMSTAT_DATA, or below `data` in the current folder or the checkout, unless a URL is set.

    Where none runs there, the only one that runs on this machine is used, and standard error names it. Its public URL is that of
    the command, too, unless the environment names one.
    """
    _chosen.clear()
    settings = load_settings()
    if "database_url" in settings.model_fields_set:
        return
    named = [] if settings.data is None else [settings.data]
    folders = named or [Path("data"), Path(), *([CHECKOUT / "data"] if (CHECKOUT / "Makefile").exists() else [])]
    resolved = list(dict.fromkeys(folder.resolve() for folder in folders))
    for folder in resolved:
        if _choose(find_installation(folder)):
            return
    running = [] if named else [found for found in find_installations() if found.database_url is not None]
    if len(running) == 1 and _choose(running[0]):
        sys.stderr.write(f"normstat: using the database of the normstat that runs in {running[0].data_dir}\n")
        return
    _several[:] = [found.data_dir for found in running]
    _searched[:] = resolved if named else [folder for folder in resolved if folder.name == "data"]
    if settings.data is not None:
        # Not the usual one: the user named another.
        adopt_installation(f"postgresql://normstat@/normstat?host={settings.data.resolve() / 'run'}", settings.public_url)


def _choose(found: RunningInstallation | None) -> bool:
    if found is None or found.database_url is None:
        return False
    _chosen[:] = [found]
    settings = load_settings()
    adopt_installation(found.database_url, settings.public_url if "public_url" in settings.model_fields_set else found.public_url)
    return True


def chosen_installation() -> RunningInstallation | None:
    """Return the `normstat up` whose database was chosen; None where a URL names the database."""
    return _chosen[0] if _chosen else None


def find_public_url() -> str:
    """Return the URL for links: that of the settings, else of the server that runs here on the same database, else the default."""
    settings = load_settings()
    if "public_url" in settings.model_fields_set:
        return settings.public_url
    urls = [
        server.environment["NORMSTAT_PUBLIC_URL"]
        for server in find_running_servers()
        if server.database_url == settings.database_url and "NORMSTAT_PUBLIC_URL" in server.environment
    ]
    return urls[0] if urls else settings.public_url


def describe_origin() -> str:
    """Return which database was chosen, without its password."""
    if _chosen:
        return f"the private database of the normstat that runs in {_chosen[0].data_dir}"
    return f"{hide_password(load_settings().database_url)} ({name_of_database_url() or 'the default'})"


def hide_password(url: str) -> str:
    """Return the database's URL, or libpq's parameters, without the password."""
    return re.sub(r"(?<=://)([^:/@]*):[^@]*@", r"\1@", re.sub(r"(password=)('[^']*'|[^ &]*)", r"\1...", url))


def describe_search() -> str:
    """Return where a database was looked for in vain; empty where a URL was set."""
    if not _searched:
        return ""
    if _several:
        choices = ", ".join(map(str, _several))
        return f". Several normstat run on this machine; set NORMSTAT_DATA to one of {choices}"
    folders = ", ".join(str(folder) for folder in _searched)
    return f". DATABASE_URL is not set, and no database of `make run` is running in {folders}; start it, or set NORMSTAT_DATA"
