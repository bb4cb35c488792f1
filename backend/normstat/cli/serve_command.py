"""`normstat serve`: runs the server in one process or several."""

import importlib
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Annotated, Final, cast

import structlog
import typer

from normstat import __version__
from normstat.auth.audit_forwarding import check_receiver
from normstat.db.schema_version import require_current_schema
from normstat.errors import NormstatError
from normstat.local.running_installation import local_url
from normstat.runtime.logs import configure_logging
from normstat.runtime.memory import collector_paused
from normstat.server.workers import Workers, bind
from normstat.settings import Settings, load_settings

log = structlog.get_logger()
app = typer.Typer(add_completion=False)

# Imported on demand: the parent of several processes stays small.
PROCESS: Final = "normstat.server.server_process"
# A worker has 5 s for running requests, and these for its tasks and connections, before it is killed.
GRACE_S: Final = 15


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8080,
    workers: Annotated[
        int | None, typer.Option(help="number of server processes; default: NORMSTAT_WORKERS, or 1", min=1, max=64)
    ] = None,
    *,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM file of the certificate and its chain: speak HTTPS")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file of its key, if it is not in the same file")] = None,
    tls_client_ca: Annotated[
        Path | None, typer.Option(help="PEM file of authorities that sign agents' certificates: agents must show one")
    ] = None,
    worker_files: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Run the server until it is stopped."""
    settings = load_settings()
    chosen = {"workers": workers, "tls_cert": tls_cert, "tls_key": tls_key, "tls_client_ca": tls_client_ca}
    settings = settings.model_copy(update={name: value for name, value in chosen.items() if value is not None})
    if "public_url" not in settings.model_fields_set:
        settings = settings.model_copy(update={"public_url": local_url(host, port, by_tls=settings.tls_cert is not None)})
    configure_logging(settings.log_level)
    try:
        if worker_files is not None:
            listener, control = (int(number) for number in worker_files.split(","))
            _import_process().run_worker(settings, host, port, listener=listener, control=control)
            return
        if settings.audit_syslog:
            check_receiver(settings.audit_syslog)
        require_current_schema(settings.database_url)
        if settings.workers > 1:
            raise typer.Exit(_run_workers(settings, host, port))
        _import_process().run_alone(settings, host, port)
    except NormstatError as error:
        typer.echo(f"normstat: {error.message}", err=True)
        raise typer.Exit(1) from error


def _import_process() -> ModuleType:
    # FastAPI asks whether each parameter is a model of Pydantic 1, whose modules take 4 MB. What says None cannot be imported.
    sys.modules.setdefault("pydantic.v1", cast("ModuleType", None))
    with collector_paused():
        return importlib.import_module(PROCESS)


def _run_workers(settings: Settings, host: str, port: int) -> int:
    listener = bind(host, port)
    named = {"--tls-cert": settings.tls_cert, "--tls-key": settings.tls_key, "--tls-client-ca": settings.tls_client_ca}
    tls_options = [text for option, path in named.items() if path is not None for text in (option, str(path))]

    def command(listener_file: int, control_file: int) -> list[str]:
        options = ["--host", host, "--port", str(port), "--workers", str(settings.workers), *tls_options]
        return [sys.executable, "-m", "normstat", "serve", *options, "--worker-files", f"{listener_file},{control_file}"]

    log.info("server_started", host=host, port=port, version=__version__, workers=settings.workers)
    with tempfile.TemporaryDirectory(prefix="normstat-metrics-") as folder:
        # The workers inherit it, and keep the figures of /metrics there (normstat/runtime/metrics.py).
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        parent = Workers(
            settings.workers,
            listener,
            command,
            grace_s=GRACE_S,
            metrics_dir=Path(folder),
            notify_socket=settings.notify_socket,
        )
        status = parent.run()
    log.info("server_stopped")
    return status
