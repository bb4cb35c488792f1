"""The files of the server's certificate, as the settings name them. Without the libraries that read them, which few servers use."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from normstat.errors import NormstatError
from normstat.settings import Settings


class UnusableCertificate(NormstatError):
    """The files of the certificate cannot be used; the message says which and why."""

    code: ClassVar[str] = "certificate"


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """PEM files: the certificate with its chain, its unencrypted key, and the authorities that sign agents' certificates.

    `key` may be the same file as `certificate`. Missing: `client_authority` is None when clients need no certificate.
    """

    certificate: Path
    key: Path
    client_authority: Path | None = None

    def identify(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Return what changes when one of the files is written or replaced. Missing: None for a file that cannot be found."""
        paths = (self.certificate, self.key, self.client_authority)
        return tuple(_identify(path) for path in paths if path is not None)


def _identify(path: Path) -> tuple[int, int, int] | None:
    try:
        # Follows links: certbot replaces a link, others the file.
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def find_certificate_files(settings: Settings) -> CertificateFiles | None:
    """Return the files that the settings name. Missing: None when the server does not use TLS.

    Raises: UnusableCertificate when the settings contradict each other
    """
    if settings.tls_cert is None:
        for name, value in (("NORMSTAT_TLS_KEY", settings.tls_key), ("NORMSTAT_TLS_CLIENT_CA", settings.tls_client_ca)):
            if value is not None:
                raise UnusableCertificate(f"{name} is set without NORMSTAT_TLS_CERT (--tls-cert), the certificate")
        return None
    return CertificateFiles(settings.tls_cert, settings.tls_key or settings.tls_cert, settings.tls_client_ca)
