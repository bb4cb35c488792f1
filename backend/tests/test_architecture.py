"""The rules of the tree that no linter holds. Each failure says what to do instead."""

import ast
import functools
import os
import re
from datetime import date
from pathlib import Path

import pytest

from normstat import __version__
from normstat.db.schema.all_models import Base

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = CHECKOUT / "backend/normstat"
# A module holds one idea; two that only exist because of a limit are worse than a long one.
MAX_FILE_LINES = 600
MAX_README_LINES = 10
MAX_FILES_WITHOUT_README = 5
MAX_MODULES_WITHOUT_GUIDE = 5
SOURCE_SUFFIXES = {".py", ".ts", ".tsx", ".sh", ".toml", ".sql", ".css", ".yml", ".md", ".lock", ".json"}
# The only places that may commit: the session dependency's module and intake.
MAY_COMMIT = {"api/http/deps.py", "db/session.py", "ingest/batching.py"}
# One list of bodies, in the order of the document that is generated from it; the schema of the first release.
MAY_BE_LONG = {
    "agents/tests/functions.sh",
    "backend/normstat/api/routes/schemas.py",
    "migrations/versions/0043_first_release.py",
}
# The settings, and the two that start other processes with an environment of their own.
# prometheus-client takes the folder that worker processes share from the environment only.
MAY_READ_ENVIRONMENT = {"settings.py", "server/embedded.py", "cli/up_command.py", "cli/serve_command.py", "runtime/metrics.py"}

# Each feature keeps the statements of its own rows beside it: in modules of these names, and in a few that are more than rows.
ROW_MODULES = (
    "_rows.py", "_lists.py", "alerts/alert_outbox.py", "baselines/baseline_records.py", "baselines/baseline_versions.py",
    "doctor/database_facts.py", "profiles/profile_jobs.py", "watch/own_figures.py", "watch/watchable_hosts.py",
)  # fmt: skip

# What makes more of some bytes than they are, and where it is used.
DECODERS = {
    # As a whole with a limit, and piece by piece where it can stop.
    r"ZstdDecompressor\(|zstandard\.decompress\(": {
        "runtime/bounded_decoding.py", "bundles/bundle_reader.py", "ingest/imports/unpacking.py", "backup/backup_files.py",
    },
    # `stats/engine/proc/counters.py`: a reader's state from our own database.
    r"zlib\.decompress(obj)?\(|gzip\.(open|decompress)|GzipFile|bz2\.|lzma\.|isal_zlib\.decompress": {
        "ingest/imports/unpacking.py", "ingest/protocol.py", "stats/engine/proc/counters.py",
    },
    r"ZipFile\(|tarfile\.open\(": {"bundles/bundle_reader.py", "bundles/bundle_writer.py", "ingest/imports/archives.py"},
    r"snappy\.|pa\.Codec\(": {"ingest/receivers/remote_write.py"},
    # Numbers of our own database.
    r"simple_decompress\(": {"codecs/packed_numbers.py"},
    r"Image\.open\(": {"report/uploads.py"},
    r"json\.loads?\(": {
        "runtime/bounded_decoding.py",
        # Lines and strings whose length the reader bounds.
        "stats/engine/json_stream.py", "stats/engine/series/recorded_series.py", "stats/engine/trace/bpftrace_json.py",
        # A cookie and answers of some kilobytes.
        "api/routes/oidc.py", "doctor/address_probe.py", "alerts/senders/http_post.py",
        # What this server, or a process of it, wrote a moment ago or keeps in its database and its folders.
        "alerts/alert_router.py", "alerts/channel_settings.py", "alerts/senders/channel_sender.py", "api/http/fleet_answers.py",
        "artefacts/log_codec.py", "artefacts/packed_reading.py", "artefacts/part_codec.py", "server/embedded.py",
        "ingest/preview_process.py", "local/running_installation.py", "codecs/array_codec.py", "stats/engine/proc/counters.py",
        "backup/journal.py", "backup/manifest.py", "samples/lookup.py", "codecs/sealed_codec.py",
        "samples/stream_cache.py", "watch/watch_process.py",
        # Templates of an administrator, some kilobytes.
        "alerts/webhook_template.py",
        # Commands: files and answers of their own user.
        "cli/alerts_command.py", "cli/experiment_command.py", "cli/gen_command.py", "cli/run_target.py",
    },
}  # fmt: skip


@functools.cache
def package_sources() -> list[tuple[str, str]]:
    return [(str(path.relative_to(PACKAGE)), path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))]


@functools.cache
def tree_files() -> list[Path]:
    """The files of the tree; caches and what was built are not looked into: other tests may be writing there."""
    skipped = {".git", ".venv", ".cache", "node_modules", "dist", "data", "__pycache__", "test-results", "golden"}
    found = [path for path in CHECKOUT.glob("*") if path.is_file()]
    for top in ("backend", "frontend", "agents", "migrations", "packaging", "docs", ".ci"):
        for folder, folders, files in os.walk(CHECKOUT / top):
            folders[:] = [name for name in folders if name not in skipped and not re.fullmatch(r"\..*_cache|.*\.egg-info", name)]
            found += [Path(folder, name) for name in files]
    return sorted(found)


def test_only_rows_and_queries_hold_sql() -> None:
    sql = re.compile(r"\bselect\(|\btext\(\s*[\"']|\.execute\(|\bSELECT\s+\w|\bINSERT INTO\b")
    places = ("db/", "samples/", "backup/", "records/", "compaction/", "retention/", "query/", "jobs/", "ingest/reparse/staging.py")
    found = [
        name
        for name, source in package_sources()
        if not name.startswith(places) and not name.endswith(ROW_MODULES) and sql.search(source)
    ]
    # LISTEN is a connection of its own, not a query; see live/notify.py.
    assert set(found) <= {"live/notify.py"}, f"move the SQL of {found} to a `*_rows` module of its feature, or to query/ (reading)"


def test_only_intake_and_the_session_commit() -> None:
    found = [name for name, source in package_sources() if re.search(r"\.commit\(|\.begin\(", source)]
    assert set(found) <= MAY_COMMIT, (
        f"{set(found) - MAY_COMMIT}: take a WriteSession, its dependency commits once, before the answer"
    )


def test_only_one_module_makes_sessions() -> None:
    """They are limited to the hosts that an account sees (db/host_limits.py)."""
    found = [name for name, source in package_sources() if re.search(r"\bAsyncSession\(|\basync_sessionmaker\(", source)]
    assert found == ["db/session.py"]


@pytest.mark.parametrize("pattern", DECODERS)
def test_what_decodes_is_where_its_limit_is_known(pattern: str) -> None:
    """Foreign bytes become objects in places that bound them (docs/adr/0033-what-others-send-is-bounded.md)."""
    found = {name for name, source in package_sources() if re.search(pattern, source)}
    assert found == DECODERS[pattern], f"{found ^ DECODERS[pattern]}: use what has a limit, or say here why none is needed"


def test_csv_is_written_by_one_function_that_leaves_no_formula() -> None:
    found = [name for name, source in package_sources() if re.search(r"csv\.(writer|DictWriter)\(", source)]
    assert found == ["runtime/csv_cells.py"], f"{found}: give the rows to csv_cells.format_csv"


def test_only_settings_read_the_environment() -> None:
    found = [name for name, source in package_sources() if re.search(r"os\.environ|os\.getenv", source)]
    assert set(found) <= MAY_READ_ENVIRONMENT, f"{set(found) - MAY_READ_ENVIRONMENT}: add a field to settings.Settings"


def test_except_exception_stands_where_others_must_not_suffer() -> None:
    found = [name for name, source in package_sources() if re.search(r"except (Base)?Exception\b", source)]
    # The handler of all requests, and the batch in which one host's request must not keep those of others from the disk.
    allowed = {
        "api/http/handlers.py",
        "ingest/batching.py",
        # A fault of one reader must not keep back all that the host sends.
        "ingest/stream_samples.py",
        # Loops of jobs: one host, import or deletion that fails must stop none of the others.
        "profiles/profile_job.py",
        "ingest/reparse/reparse_worker.py",
        "jobs/periodic.py",
        "db/turns.py",
        "retention/deletion_worker.py",
        # Hosts that are judged together: the one that cannot be must not hold up the others.
        "watch/watcher.py",
        # Raises it again in another process.
        "local/aside.py",
    }
    assert set(found) <= allowed, f"{found}: catch what you can add facts to; the handler does the rest"


def test_files_are_short_enough_to_read() -> None:
    suffixes = {".py", ".ts", ".tsx", ".sh"}
    long = {
        name: n
        for path in tree_files()
        if path.suffix in suffixes
        and ".gen." not in path.name
        and (name := str(path.relative_to(CHECKOUT))) not in MAY_BE_LONG
        and (n := len(path.read_text().splitlines())) > MAX_FILE_LINES
    }
    assert not long, f"split by meaning, not by length: {long}"


def test_packages_say_what_belongs_in_them() -> None:
    """A package's docstring says what it is responsible for, what never belongs there, and where to begin."""
    silent = []
    for package in sorted(PACKAGE.rglob("__init__.py")):
        modules = [path for path in package.parent.glob("*.py") if path.name != "__init__.py"]
        text = " ".join((ast.get_docstring(ast.parse(package.read_text())) or "").split())
        if (
            package.parent != PACKAGE
            and len(modules) > MAX_MODULES_WITHOUT_GUIDE
            and not ("Never:" in text and "Entry point" in text)
        ):
            silent.append(str(package.relative_to(PACKAGE)))
    assert not silent, (
        f"say in the docstring what is there, what never (Never: ...) and where to begin (Entry point: ...): {silent}"
    )


def test_other_folders_say_what_belongs_in_them() -> None:
    missing, long = [], []
    for folder in sorted({path.parent for path in tree_files() if path.suffix in {".py", ".ts", ".tsx"}}):
        n_files = sum(1 for path in folder.iterdir() if path.suffix in {".py", ".ts", ".tsx"} and path.name != "__init__.py")
        readme = folder / "README.md"
        if n_files > MAX_FILES_WITHOUT_README and not readme.exists() and not folder.is_relative_to(PACKAGE):
            missing.append(str(folder.relative_to(CHECKOUT)))
        if readme.exists() and folder != CHECKOUT and len(readme.read_text().splitlines()) > MAX_README_LINES:
            long.append(str(readme.relative_to(CHECKOUT)))
    assert not missing, f"more than {MAX_FILES_WITHOUT_README} files: add a README.md, what belongs here and what not: {missing}"
    assert not long, f"{MAX_README_LINES} lines at most: {long}"


def test_packages_name_modules_that_exist() -> None:
    """In the backquotes of their docstrings: modules and packages, below the package itself or one around it."""
    wrong = []
    for package in sorted(PACKAGE.rglob("__init__.py")):
        folder = package.parent
        around = [folder, *(each for each in folder.parents if each.is_relative_to(PACKAGE))]
        for name in re.findall(r"`([a-z_]\w*(?:\.\w+)*)`", ast.get_docstring(ast.parse(package.read_text())) or ""):
            # The last word may be a name in the module.
            places = [base.joinpath(*words) for words in (name.split("."), name.split(".")[:-1]) if words for base in around]
            found = next((each for place in places for each in (place, place.with_suffix(".py")) if each.exists()), None)
            source = found.read_text() if found is not None and found.is_file() else ""
            if found is None or (found.stem != name.split(".")[-1] and not re.search(rf"\b{name.split('.')[-1]}\b", source)):
                wrong.append(f"{package.relative_to(PACKAGE)}: {name}")
    assert not wrong, f"name what exists: {wrong}"


@functools.cache
def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#{1,6} (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_documents_lead_somewhere() -> None:
    broken = []
    for path in (path for path in tree_files() if path.suffix == ".md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            place, _, anchor = target.partition("#")
            page = path.parent / place if place else path
            if "://" not in place and not (page.exists() and (not anchor or page.suffix != ".md" or anchor in anchors(page))):
                broken.append(f"{path.relative_to(CHECKOUT)}: {target}")
    assert not broken, "\n".join(broken)


def test_pages_that_the_program_names_exist() -> None:
    """In help, errors and comments."""
    named = {
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in tree_files()
        if path.suffix in {".py", ".toml", ".sh", ".env", ".yml", ".yaml", ".service", ".ipynb"}
        or path.name in {"Makefile", "normstat-agent"}
        for name in re.findall(r"(?<![\w/])docs/[\w/-]+\.md(?! of )", path.read_text(errors="replace"))
        if not (CHECKOUT / name).exists()
    }
    assert not named


def test_the_index_of_the_documentation_has_every_page() -> None:
    index = (CHECKOUT / "docs/README.md").read_text()
    missing = [page.name for page in (CHECKOUT / "docs").glob("*.md") if page.name != "README.md" and f"]({page.name}" not in index]
    assert not missing, f"add these to docs/README.md: {missing}"


def test_releases_are_dated() -> None:
    releases = re.findall(r"^## (\d\S*)(?: \((.*)\))?$", (CHECKOUT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert releases[0][0] == __version__, "the top section of CHANGELOG.md is of the version in normstat/__init__.py"
    assert releases[0][1] == "unreleased" or date.fromisoformat(releases[0][1])
    assert all(date.fromisoformat(day) for _, day in releases[1:])


def test_tree_names_no_machine_and_no_registry() -> None:
    # Written in pieces, so that this file does not find itself.
    forbidden = ["registry." + "npmjs", "pypi" + ".org", "python" + "hosted", "deb." + "debian", "/work" + "/", "/root/." + "pyenv"]
    found = [
        f"{path.relative_to(CHECKOUT)}: {word}"
        for path in tree_files()
        if path.suffix in SOURCE_SUFFIXES or path.name in {"Makefile", "Dockerfile", "run"}
        for word in forbidden
        if word in path.read_text(errors="replace")
    ]
    assert not found, f"a fresh clone anywhere must work: {found}"


def test_a_backup_knows_every_module_of_tables() -> None:
    """Whatever else their process imported: a table that a backup does not know is lost with it."""
    modules = {path.stem for path in (PACKAGE / "db/schema").glob("*models.py")} - {"all_models"}
    sources = dict(package_sources())
    missing = {name for name in modules if not re.search(rf"\b{name}\b", sources["db/schema/all_models.py"])}
    assert not missing, f"import {missing} in db/schema/all_models.py"
    assert "from normstat.db.schema.all_models import Base" in sources["backup/backup_plan.py"]


def test_glossary_has_every_table() -> None:
    glossary = (CHECKOUT / "docs/glossary.md").read_text()
    missing = [name for name in Base.metadata.tables if f"`{name}`" not in glossary]
    assert not missing, f"add a term for each table to docs/glossary.md: {missing}"


def test_image_is_built_by_make_targets() -> None:
    """What CI cannot run, because there is no Docker, is the installation of packages only."""
    makefile = (CHECKOUT / "Makefile").read_text()
    dockerfile = re.sub(r"\\\n", "", (CHECKOUT / "Dockerfile").read_text())
    commands = re.findall(r"^RUN (.*)$", dockerfile, re.MULTILINE)
    ours = [command for command in commands if "apt-get" not in command and "apk add" not in command]
    assert ours, "the image must build something"
    for command in ours:
        target = re.match(r"make ([a-z-]+)", command)
        assert target is not None, f"{command!r}: add a make target, so that CI runs the same"
        assert re.search(rf"^[a-z -]*\b{target[1]}\b[a-z -]*:", makefile, re.MULTILINE), f"there is no make target {target[1]}"
