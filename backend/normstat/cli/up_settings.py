"""The settings that `normstat up` itself looks at."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class UpSettings:
    """The settings that `up` itself looks at."""

    has_database_url: bool
    workers: int
    page_dir: Path | None
    agents_dir: Path | None
    migrations_dir: Path | None
    import_dir: Path | None
    log_max_bytes: int
    log_files: int
    tls: "UpTls | None"


@dataclass(frozen=True, slots=True)
class UpTls:
    """How the server is reached by TLS: the URL of the settings, a host of the certificate, and what this host's agent must trust.

    Missing: `url` and `host` are None when settings and certificate name none; `trusted` when the system's authorities are enough.
    """

    files: list[Path]
    environment: dict[str, str]
    url: str | None
    host: str | None
    trusted: Path | None


def read_settings() -> UpSettings:
    """Return the settings that `up` looks at; a bad one ends the process."""
    # The library that reads and checks them takes more memory than all of `up`.
    from normstat.server.certificate_files import find_certificate_files  # noqa: PLC0415
    from normstat.settings import load_settings  # noqa: PLC0415

    settings = load_settings()
    tls = None
    if (files := find_certificate_files(settings)) is not None:
        from normstat.server.certificates import read_names  # noqa: PLC0415

        names = read_names(files.certificate)
        named = {
            "NORMSTAT_TLS_CERT": files.certificate,
            "NORMSTAT_TLS_KEY": files.key,
            "NORMSTAT_TLS_CLIENT_CA": files.client_authority,
        }
        # The server runs in another folder.
        absolute = {name: path.absolute() for name, path in named.items() if path is not None}
        tls = UpTls(
            files=list(absolute.values()),
            environment={name: str(path) for name, path in absolute.items()},
            url=settings.public_url if "public_url" in settings.model_fields_set else None,
            host=names.host,
            trusted=files.certificate.absolute() if names.is_self_signed else None,
        )
    return UpSettings(
        has_database_url="database_url" in settings.model_fields_set,
        workers=settings.workers,
        page_dir=settings.page_dir,
        agents_dir=settings.agents_dir,
        migrations_dir=settings.migrations_dir,
        import_dir=settings.import_dir,
        log_max_bytes=settings.log_max_bytes,
        log_files=settings.log_files,
        tls=tls,
    )
