"""Checks of files and of this machine's clock: who may read secrets, who may write what runs, how large the logs are."""

import ctypes
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from normstat.doctor.check_result import MAX_NAMED, CheckResult, error, not_checked, ok, warning
from normstat.local.disk import MIN_FREE_BYTES, measure_free
from normstat.runtime.readable import format_bytes, name_some
from normstat.settings import Settings

# Where the packages put settings and secrets.
CONFIG_DIR: Final = Path("/etc/normstat")
SECRET_NAMES: Final = ("postgres.password", "postgres.admin.password", "agent/token")
# adjtimex(2) returns this while no time service keeps the clock right.
TIME_ERROR: Final = 5
# struct timex has 208 bytes; modes = 0 only reads.
TIMEX_BYTES: Final = 512
LOGS_OF_UP: Final = 4


def check_files(settings: Settings, data_dir: Path | None, config_dir: Path = CONFIG_DIR) -> Iterator[CheckResult]:
    """Yield the checks of secrets, of folders that matter, and of logs. `data_dir`: that of a running `normstat up`."""
    yield _check_secrets(settings, data_dir, config_dir)
    yield _check_folders(settings, data_dir)
    yield _check_logs(settings, data_dir)


def _check_secrets(settings: Settings, data_dir: Path | None, config_dir: Path) -> CheckResult:
    files = [] if data_dir is None else [data_dir / name for name in SECRET_NAMES]
    if config_dir.is_dir():
        files += sorted(path for path in config_dir.iterdir() if path.is_file())
    if (key := settings.tls_key or settings.tls_cert) is not None:
        files.append(key)
    # Accounts of servers read these by their group.
    for_groups = {path for path in files if path.parent == config_dir} | {key}
    seen = 0
    hidden, readable = [], []
    for path in files:
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            continue
        except OSError:
            hidden.append(str(path))
            continue
        seen += 1
        if mode & (stat.S_IRWXG | stat.S_IRWXO) & ~stat.S_IRGRP or (mode & stat.S_IRGRP and path not in for_groups):
            readable.append(f"{path} (mode {stat.S_IMODE(mode):o})")
    if readable:
        found = f"others may read or change {name_some(readable, MAX_NAMED)}"
        expected = "mode 600 (640 for the key of TLS, and in /etc/normstat)"
        return error("secret_files", found, expected, "chmod 600 these files, and make new secrets")
    if hidden or not seen:
        why = (
            f"{name_some(hidden, MAX_NAMED)} cannot be seen by this account"
            if hidden
            else f"no data folder of normstat up, no {config_dir}"
        )
        return not_checked("secret_files", why, "run it as the account of the server, or as root" if hidden else "")
    return ok("secret_files", f"{seen} files, readable by the server only")


def _check_folders(settings: Settings, data_dir: Path | None) -> CheckResult:
    folders = {
        "the data folder": data_dir,
        "NORMSTAT_IMPORT_DIR": settings.import_dir,
        "NORMSTAT_ALERT_SCRIPTS_DIR": settings.alert_scripts_dir,
    }
    known = {name: path for name, path in folders.items() if path is not None}
    if not known:
        return not_checked(
            "folders", "no data folder of normstat up, NORMSTAT_IMPORT_DIR and NORMSTAT_ALERT_SCRIPTS_DIR are not set"
        )
    open_, missing, hidden = [], [], []
    for name, path in known.items():
        try:
            mode = path.stat().st_mode
        except PermissionError:
            hidden.append(f"{name} ({path})")
            continue
        except OSError:
            mode = 0
        if not stat.S_ISDIR(mode):
            missing.append(f"{name} ({path})")
        # In a folder such as /tmp, accounts cannot replace each other's files, but any account can add a program.
        elif mode & stat.S_IWOTH and (not mode & stat.S_ISVTX or path == settings.alert_scripts_dir):
            open_.append(f"{name} {path} (mode {stat.S_IMODE(mode):o})")
    if missing:
        return error("folders", f"missing: {name_some(missing, MAX_NAMED)}", "they exist", "create them, or correct the setting")
    if open_:
        return error(
            "folders",
            f"every account may write to {name_some(open_, MAX_NAMED)}",
            "the server's account only",
            "chmod o-w these folders",
        )
    if hidden:
        return not_checked("folders", f"this account may not look at {name_some(hidden, MAX_NAMED)}", "run it as root")
    return ok("folders", ", ".join(f"{name} {path}" for name, path in known.items()))


def _check_logs(settings: Settings, data_dir: Path | None) -> CheckResult:
    if data_dir is None:
        return not_checked("logs", "the server's log is standard error: what started it (systemd, Docker) keeps it")
    folder = data_dir / "log"
    n_bytes = 0
    try:
        for path in folder.iterdir():
            n_bytes += path.stat().st_size
    except OSError as failure:
        return not_checked("logs", f"{folder} cannot be read: {failure.strerror}")
    most = settings.log_max_bytes * settings.log_files * LOGS_OF_UP
    found = f"{format_bytes(n_bytes)} in {folder}, at most {format_bytes(most)} by the settings"
    if n_bytes > 2 * most:
        return warning(
            "logs", found, "the limit", "delete what does not belong there; NORMSTAT_LOG_MAX_BYTES and NORMSTAT_LOG_FILES set it"
        )
    return ok("logs", found)


def check_data_disk(data_dir: Path) -> CheckResult:
    """Check the disk of a data folder when the database cannot be asked."""
    try:
        n_free = measure_free(data_dir)
    except OSError as failure:
        return not_checked("disk", f"{data_dir} cannot be looked at: {failure.strerror}")
    found = f"{format_bytes(n_free)} free on the disk of {data_dir}"
    if n_free < MIN_FREE_BYTES:
        return error(
            "disk", f"{found}: it is full", f"at least {format_bytes(MIN_FREE_BYTES)}", "free some space; all resumes by itself"
        )
    return not_checked("disk", f"{found}; how fast it fills is not known while the database does not answer")


def check_clock_service() -> CheckResult:
    """Check that a time service keeps this machine's clock right, as the kernel knows."""
    try:
        call = ctypes.CDLL(None, use_errno=True).adjtimex
    except (AttributeError, OSError):
        return not_checked("clock", "this system cannot say whether its clock is synchronised")
    state = call(ctypes.create_string_buffer(TIMEX_BYTES))
    if state < 0:
        return not_checked(
            "clock", f"the kernel does not say whether its clock is synchronised ({os.strerror(ctypes.get_errno())})"
        )
    if state == TIME_ERROR:
        found = "no NTP service is running"
        return warning("clock", found, "NTP or chrony", "apt-get install chrony, or timedatectl set-ntp true")
    return ok("clock", "kept right by a time service")


def check_account(owner: int | None) -> CheckResult:
    """Check that the server does not run as root. `owner`: the account of its processes, None where it is not on this machine."""
    if owner is None:
        return not_checked("account", "no running server was found on this machine, or it belongs to another account")
    if owner == 0:
        return warning(
            "account",
            "the server runs as root",
            "an account of its own",
            "use the systemd unit, or run normstat up as an ordinary user",
        )
    return ok("account", f"the server runs as account {owner}, not as root")
