"""The server's certificate: what is said of files that cannot be used, and what happens when they change."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog

from normstat.server.certificate_files import CertificateFiles, UnusableCertificate, find_certificate_files
from normstat.server.certificates import LOOK_EVERY_S, ServerCertificate, read_names
from normstat.settings import Settings
from tests.certificates import Authority, make_authority


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return make_authority(tmp_path / "authority.pem")


def shown_to_a_client(certificate: ServerCertificate, authority: Authority) -> str:
    """Return the name in the certificate that a new connection is shown, by a handshake in memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusting = ssl.create_default_context(cafile=authority.path)
    trusting.check_hostname = False
    client = trusting.wrap_bio(to_client, to_server)
    server = certificate.context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    found = client.getpeercert()
    assert found
    return str(found["subject"][-1][-1][1])


def test_new_connections_get_the_renewed_certificate(tmp_path: Path, authority: Authority) -> None:
    path = authority.issue(tmp_path / "server.pem", name="old.example.org")
    certificate = ServerCertificate(CertificateFiles(path, path))
    assert shown_to_a_client(certificate, authority) == "old.example.org"
    with structlog.testing.capture_logs() as lines:
        certificate.tick(1.0)
        authority.issue(tmp_path / "new.pem", name="new.example.org").replace(path)
        certificate.tick(1.0 + LOOK_EVERY_S / 2)
        assert shown_to_a_client(certificate, authority) == "old.example.org"
        certificate.tick(1.0 + LOOK_EVERY_S)
        certificate.tick(1.0 + LOOK_EVERY_S * 2)
    assert shown_to_a_client(certificate, authority) == "new.example.org"
    assert [line["event"] for line in lines] == ["certificate_loaded"]


def test_an_unusable_renewal_keeps_the_old_one_until_it_is_mended(tmp_path: Path, authority: Authority) -> None:
    path, key = tmp_path / "server.pem", tmp_path / "server.key"
    whole = authority.issue(tmp_path / "one.pem", name="old.example.org").read_bytes()
    path.write_bytes(whole)
    key.write_bytes(whole)
    certificate = ServerCertificate(CertificateFiles(path, key))
    renewed = authority.issue(tmp_path / "two.pem", name="new.example.org").read_bytes()
    with structlog.testing.capture_logs() as lines:
        # The certificate is there before its key.
        path.write_bytes(renewed)
        certificate.tick(LOOK_EVERY_S)
        certificate.tick(LOOK_EVERY_S * 2)
        assert shown_to_a_client(certificate, authority) == "old.example.org"
        key.unlink()
        certificate.tick(LOOK_EVERY_S * 3)
        key.write_bytes(renewed)
        certificate.tick(LOOK_EVERY_S * 4)
    assert shown_to_a_client(certificate, authority) == "new.example.org"
    assert [line["event"] for line in lines] == ["certificate_not_loaded", "certificate_not_loaded", "certificate_loaded"]
    assert "does not belong to" in lines[0]["reason"]
    assert "No such file" in lines[1]["reason"]


def test_a_certificate_that_ends_soon_is_logged_once_a_day(tmp_path: Path, authority: Authority) -> None:
    path = authority.issue(tmp_path / "server.pem", days=3)
    with structlog.testing.capture_logs() as lines:
        certificate = ServerCertificate(CertificateFiles(path, path))
        for hour in range(25):
            certificate.tick(hour * 3600.0)
    assert [line["event"] for line in lines] == ["certificate_ends_soon"] * 2
    ends = datetime.fromisoformat(lines[0]["ends"])
    assert timedelta(days=2) < ends - datetime.now(UTC) <= timedelta(days=3)


def test_what_is_wrong_is_said(tmp_path: Path, authority: Authority) -> None:
    none, text, broken_key = (tmp_path / name for name in ("none.pem", "text.pem", "key"))
    text.write_text("hello\n")
    broken_key.write_text("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")
    good, other = authority.issue(tmp_path / "a.pem"), authority.issue(tmp_path / "b.pem")
    encrypted = authority.issue(tmp_path / "c.pem", password=b"secret")
    for files, said in (
        (CertificateFiles(none, none), "cannot read the certificate .*none.pem: No such file"),
        (CertificateFiles(text, good), "text.pem is not a certificate in PEM form"),
        (CertificateFiles(authority.path, authority.path), "no private key in .*; name its file by --tls-key"),
        (CertificateFiles(good, other), "the key .*b.pem does not belong to the certificate .*a.pem"),
        (CertificateFiles(encrypted, encrypted), "the key .*c.pem is encrypted; write it without a password"),
        (CertificateFiles(good, broken_key), "key is not a private key in PEM form"),
        (CertificateFiles(good, good, text), "text.pem holds no certificates in PEM form"),
    ):
        with pytest.raises(UnusableCertificate, match=said):
            ServerCertificate(files)


def test_settings_name_the_files(tmp_path: Path) -> None:
    path = tmp_path / "a.pem"
    assert find_certificate_files(Settings()) is None
    assert find_certificate_files(Settings(tls_cert=path)) == CertificateFiles(path, path)
    for alone in (Settings(tls_key=path), Settings(tls_client_ca=path)):
        with pytest.raises(UnusableCertificate, match="is set without NORMSTAT_TLS_CERT"):
            find_certificate_files(alone)


@pytest.mark.parametrize(
    ("name", "host"), [("normstat.example.org", "normstat.example.org"), ("127.0.0.1", "127.0.0.1"), ("*.example.org", None)]
)
def test_the_host_of_a_certificate(tmp_path: Path, authority: Authority, name: str, host: str | None) -> None:
    names = read_names(authority.issue(tmp_path / "a.pem", name=name))
    assert (names.host, names.is_self_signed) == (host, False)
    assert read_names(authority.path).is_self_signed
