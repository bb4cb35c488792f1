"""Authorities and certificates for tests of TLS."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Authority:
    """Signs certificates; `path` is its own."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    path: Path

    def issue(self, path: Path, *, name: str = "127.0.0.1", days: float = 30, password: bytes | None = None) -> Path:
        """Write a certificate and its key into one file, the owner's alone."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _begin(name, self.certificate.subject, key, days).add_extension(_named(name), critical=False)
        encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        path.touch(mode=0o600)
        path.write_bytes(
            certificate.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
            + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
        )
        return path


def make_authority(path: Path, name: str = "test authority") -> Authority:
    """Make an authority of its own, and write its certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = (
        _begin(name, subject, key, 30)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return Authority(key, certificate, path)


def make_self_signed(certificate: Path, key: Path, name: str = "127.0.0.1") -> None:
    """Write a certificate that is its own authority, as small installations have, and its key."""
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signed = _begin(name, subject, private, 30).add_extension(_named(name), critical=False).sign(private, hashes.SHA256())
    certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        private.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


def _named(name: str) -> x509.SubjectAlternativeName:
    return x509.SubjectAlternativeName([x509.IPAddress(ip_address(name)) if name[0].isdigit() else x509.DNSName(name)])


def _begin(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: float) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=days))
    )
