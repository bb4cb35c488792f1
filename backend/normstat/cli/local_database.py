"""Choose the database of a command: the one that the environment names, else the one of a `make run` nearby."""

import re
import sys
from pathlib import Path

from normstat.installed_files import CHECKOUT
from normstat.local.running_database import find_running_folders, find_running_url
from normstat.settings import adopt_database, load_settings, name_of_database_url

# Folders in which no database runs, for the message when the usual one is unavailable too.
_searched: list[Path] = []
# The folder whose database was chosen.
_chosen: list[Path] = []
# Folders in which databases run that were not chosen, because there are several.
_several: list[Path] = []


def use_running_database() -> None:
    """Use the database below NORMSTAT_DATA, or below `data` in the current folder or the checkout, unless a URL is set.

    Where none runs there, the only one that runs on this machine is used, and standard error names it.
    """
    _chosen.clear()
    settings = load_settings()
    if "database_url" in settings.model_fields_set:
        return
    named = [] if settings.data is None else [settings.data]
    folders = named or [Path("data"), Path(), *([CHECKOUT / "data"] if (CHECKOUT / "Makefile").exists() else [])]
    resolved = list(dict.fromkeys(folder.resolve() for folder in folders))
    for folder in resolved:
        url = find_running_url(folder)
        if url is not None:
            _chosen[:] = [folder]
            adopt_database(url)
            return
    running = [] if named else [(folder, url) for folder in find_running_folders() if (url := find_running_url(folder)) is not None]
    if len(running) == 1:
        sys.stderr.write(f"normstat: using the database of the normstat that runs in {running[0][0]}\n")
        _chosen[:] = [running[0][0]]
        adopt_database(running[0][1])
        return
    _several[:] = [folder for folder, _ in running]
    _searched[:] = resolved if named else [folder for folder in resolved if folder.name == "data"]
    if settings.data is not None:
        # Not the usual one: the user named another.
        adopt_database(f"postgresql://normstat@/normstat?host={settings.data.resolve() / 'run'}")


def chosen_folder() -> Path | None:
    """Return the data folder of the `normstat up` whose database was chosen; None where a URL names the database."""
    return _chosen[0] if _chosen else None


def describe_origin() -> str:
    """Return which database was chosen, without its password."""
    if _chosen:
        return f"the private database of the normstat that runs in {_chosen[0]}"
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
