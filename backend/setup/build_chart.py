"""Check and package the Helm chart with the real helm: build_chart.py HELM DIR. Rewrites what was rendered of it.

- each file of packaging/helm/cases is linted and rendered into packaging/helm/rendered; the objects are validated against the
  schemas of the oldest and the newest Kubernetes that kubernetes-validate has, without unknown members
- values that make no sense must be refused with a sentence
- the digest of the chart is written beside what was rendered, so that the tests notice a chart that was changed since

Needs the packages normstat and kubernetes-validate.
"""

import gzip
import hashlib
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from normstat import __version__

HELM_FOLDER: Final = Path(__file__).resolve().parents[2] / "packaging/helm"
CHART: Final = HELM_FOLDER / "normstat"
RENDERED: Final = HELM_FOLDER / "rendered"
SCHEMA: Final = CHART / "values.schema.json"
DIGEST: Final = RENDERED / "chart.sha256"
# The oldest that Chart.yaml allows, and one that was new when this was written.
KUBERNETES: Final = ("1.25.0", "1.37.0")
# Of an operator: Kubernetes has no schema for it.
WITHOUT_SCHEMA: Final = frozenset({"ServiceMonitor"})
DATABASE: Final = ("--set", "secret.values.NORMSTAT_DATABASE_URL=postgresql://db/normstat")
# Options, and a part of the answer.
REFUSED: Final = (
    ((), "the server needs a database"),
    ((*DATABASE, "--set", "secret.existing=mine"), "not both"),
    ((*DATABASE, "--set", "settings.NORMSTAT_PUBLIK_URL=https://x"), "NORMSTAT_PUBLIK_URL"),
    ((*DATABASE, "--set", "settings.NORMSTAT_METRICS_TOKEN=secret"), "NORMSTAT_METRICS_TOKEN is a secret"),
    ((*DATABASE, "--set", "ingress.enabled=true"), "ingress.hosts is empty"),
    ((*DATABASE, "--set", "serviceMonitor.enabled=true"), "/metrics answers other machines by token only"),
    ((*DATABASE, "--set", "agent.enabled=true"), "agent.joinTokenSecret is empty"),
    ((*DATABASE, "--set", "agent.capabilities={SYS_ADMIN}"), "capabilities"),
    ((*DATABASE, "--set", "replicaCount=3"), "replicaCount"),
    ((*DATABASE, "--set", "settings.NORMSTAT_WORKERS=2"), "got number, want string"),
)


def main() -> None:
    """Do all of it."""
    helm, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    RENDERED.mkdir(exist_ok=True)
    for old in RENDERED.iterdir():
        old.unlink()
    for case in sorted((HELM_FOLDER / "cases").glob("*.yaml")):
        run(helm, "lint", "--strict", "--quiet", str(CHART), "--values", str(case))
        text = run(helm, "template", "normstat", str(CHART), "--namespace", "monitoring", "--values", str(case)).stdout
        validate(text)
        (RENDERED / case.name).write_text(text)
    for options, answer in REFUSED:
        command = [helm, "template", "normstat", str(CHART), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # the helm that was named
        if done.returncode == 0 or answer not in done.stderr:
            sys.exit(f"helm template {' '.join(options)}: it must be refused with '{answer}', but said:\n{done.stderr}")
    DIGEST.write_text(digest_chart() + "\n")
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"normstat-{__version__}.tgz"
    pack_chart(archive)
    # Read by helm as it would be installed.
    run(helm, "show", "all", str(archive))
    sys.stdout.write(f"{archive}\n")


def pack_chart(archive: Path) -> None:
    """Write the chart as `helm package` does, but with the same bytes for the same chart: it would write the time into them."""
    at = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=at) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        # helm reads Chart.yaml first, wherever it is; without folders, as it writes them.
        for path in sorted(path for path in CHART.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(f"normstat/{path.relative_to(CHART)}")
            member.size, member.mtime = path.stat().st_size, at
            with path.open("rb") as content:
                tar.addfile(member, content)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Return what a command said; end with its message if it failed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # the helm that was named
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done


def digest_chart() -> str:
    """Return the SHA-256 of all that the rendered files are made of."""
    digest = hashlib.sha256()
    for folder in (CHART, HELM_FOLDER / "cases"):
        # Not the schema, which only says no, and changes with each new setting.
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and path != SCHEMA):
            digest.update(f"{path.relative_to(HELM_FOLDER)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def read_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a rendered file."""
    yield from (found for found in yaml.safe_load_all(text) if found is not None)


def validate(text: str) -> None:
    """Hold the objects against the schemas of Kubernetes; end with the first that does not fit."""
    import kubernetes_validate  # noqa: PLC0415  # not installed where only the digest is asked for

    for found in read_objects(text):
        if found["kind"] in WITHOUT_SCHEMA:
            continue
        for version in KUBERNETES:
            try:
                kubernetes_validate.validate(found, re.sub(r"\.0$", "", version), strict=True)
            except kubernetes_validate.ValidationError as error:
                sys.exit(f"{found['kind']} does not fit Kubernetes {version}: {error.message} at {list(error.path)}")


if __name__ == "__main__":
    main()
