"""The server's certificate for TLS: loaded, checked, and loaded again when its files change."""

import os
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import structlog
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization

from normstat.runtime.metrics import set_certificate_end
from normstat.server.certificate_files import CertificateFiles, UnusableCertificate

log = structlog.get_logger()

# Files are looked at again this often; both must be written within this time, or the first look finds a pair that does not fit.
LOOK_EVERY_S: Final = 5.0
# Public certification authorities issue for 47 to 90 days and expect a renewal long before the end.
WARN_BEFORE: Final = timedelta(days=14)
WARN_EVERY_S: Final = 24 * 3600.0
BEGIN_OF_KEY: Final = b"PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class CertificateNames:
    """The names that a certificate is for. Missing: `host` is None when it names neither a host nor an address."""

    host: str | None
    is_self_signed: bool


def read_names(path: Path) -> CertificateNames:
    """Return the first host or address that the certificate is for; a host before an address, and no wildcard.

    Raises: UnusableCertificate
    """
    certificate = _read_certificate(path)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = x509.SubjectAlternativeName([])
    hosts = [name for name in names.get_values_for_type(x509.DNSName) if "*" not in name]
    addresses = [f"[{each}]" if each.version == 6 else str(each) for each in names.get_values_for_type(x509.IPAddress)]
    return CertificateNames(next(iter(hosts + addresses), None), is_self_signed=certificate.issuer == certificate.subject)


class ServerCertificate:
    """The TLS context of a listening socket. Connections that begin after a change of the files use the new certificate."""

    def __init__(self, files: CertificateFiles) -> None:
        """Load the files.

        Raises: UnusableCertificate
        """
        self._files = files
        self._seen = files.identify()
        # Every handshake begins in this context, and goes on in the current one. Loading a renewed certificate into one in use
        # could leave it with half of a pair.
        self.context, self._end = _load(files)
        self._current = self.context
        self._next_look_s = 0.0
        self._next_warning_s = 0.0
        self.context.sni_callback = self._choose_context
        set_certificate_end(self._end)

    def _choose_context(self, connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, context: ssl.SSLContext) -> None:
        del name, context
        connection.context = self._current

    def tick(self, now_s: float) -> None:
        """Look whether the files have changed, at most every few seconds; a pair that is unusable is logged, and the old one kept.

        `now_s` is a time that only grows.
        """
        if now_s < self._next_look_s:
            return
        self._next_look_s = now_s + LOOK_EVERY_S
        found = self._files.identify()
        if found != self._seen:
            self._seen = found
            self._load_again()
            self._next_warning_s = now_s
        if now_s >= self._next_warning_s and self._end - datetime.now(UTC) < WARN_BEFORE:
            self._next_warning_s = now_s + WARN_EVERY_S
            log.warning("certificate_ends_soon", file=str(self._files.certificate), ends=self._end.isoformat())

    def _load_again(self) -> None:
        try:
            self._current, self._end = _load(self._files)
        except UnusableCertificate as error:
            log.error("certificate_not_loaded", reason=error.message, kept_until=self._end.isoformat())  # noqa: TRY400
            return
        set_certificate_end(self._end)
        log.info("certificate_loaded", file=str(self._files.certificate), ends=self._end.isoformat())


def _load(files: CertificateFiles) -> tuple[ssl.SSLContext, datetime]:
    """Return a context, and when its certificate ends."""
    certificate = _read_certificate(files.certificate)
    _check_key(files.key, certificate, files.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.certificate, files.key, password=_refuse_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise UnusableCertificate(f"cannot use the certificate {files.certificate} with the key {files.key}: {error}") from error
    if files.client_authority is not None:
        _trust_clients_of(context, files.client_authority)
    return context, certificate.not_valid_after_utc


def _refuse_password() -> bytes:
    # Without this, OpenSSL would ask at the terminal.
    raise ValueError("the key is encrypted")


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        account = f" (this process runs as user {os.geteuid()})" if isinstance(error, PermissionError) else ""
        raise UnusableCertificate(f"cannot read {what} {path}: {error.strerror}{account}") from error


def _read_certificate(path: Path) -> x509.Certificate:
    content = _read(path, "the certificate")
    try:
        # The server's own comes first, its issuers after it.
        return x509.load_pem_x509_certificates(content)[0]
    except ValueError as error:
        raise UnusableCertificate(f"{path} is not a certificate in PEM form: -----BEGIN CERTIFICATE----- and so on") from error


def _check_key(path: Path, certificate: x509.Certificate, certificate_path: Path) -> None:
    content = _read(path, "the key of the certificate")
    if BEGIN_OF_KEY not in content:
        raise UnusableCertificate(f"no private key in {path}; name its file by --tls-key (NORMSTAT_TLS_KEY)")
    begin = content.rindex(b"-----BEGIN", 0, content.index(BEGIN_OF_KEY))
    try:
        key = serialization.load_pem_private_key(content[begin:], password=None)
    except TypeError as error:
        raise UnusableCertificate(
            f"the key {path} is encrypted; write it without a password, readable by the server only:"
            f" openssl pkey -in {path} -out NEW.key"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UnusableCertificate(f"{path} is not a private key in PEM form: {error}") from error
    form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    if key.public_key().public_bytes(*form) != certificate.public_key().public_bytes(*form):
        raise UnusableCertificate(f"the key {path} does not belong to the certificate {certificate_path}")


def _trust_clients_of(context: ssl.SSLContext, authority: Path) -> None:
    content = _read(authority, "the certificates of the clients' authority")
    try:
        context.load_verify_locations(cadata=content.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise UnusableCertificate(f"{authority} holds no certificates in PEM form: {error}") from error
    # Optional: browsers have none. What agents send is refused without one (auth/client_certificate.py).
    context.verify_mode = ssl.CERT_OPTIONAL
