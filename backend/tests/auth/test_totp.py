"""Codes of authenticator apps: the vectors of the RFC, drift, replay, and the stored secret."""

import re
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.auth import totp
from normstat.errors import NormstatError

RFC_SECRET = b"12345678901234567890"
NOW_S = 1_700_000_000.0
STEP = int(NOW_S // totp.PERIOD_S)
KEY = "a key of at least thirty-two characters"


@pytest.mark.parametrize(
    ("at_s", "code"),
    [
        (59, "94287082"), (1111111109, "07081804"), (1111111111, "14050471"), (1234567890, "89005924"), (2000000000, "69279037"),
        (20000000000, "65353130"),
    ],
)  # fmt: skip
def test_vectors_of_rfc_6238(at_s: int, code: str) -> None:
    # The RFC prints eight digits.
    assert totp.code_of(RFC_SECRET, at_s // totp.PERIOD_S) == code[2:]


@pytest.mark.parametrize(("drift", "is_accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_one_step_of_drift(drift: int, is_accepted: bool) -> None:
    code = totp.code_of(RFC_SECRET, STEP + drift)
    found = totp.matching_step(RFC_SECRET, code, now_s=NOW_S, last_step=0)
    assert found == (STEP + drift if is_accepted else None)


def test_a_code_counts_once_and_no_earlier_one_after_it() -> None:
    codes = [totp.code_of(RFC_SECRET, STEP + drift) for drift in (-1, 0, 1)]
    found = [totp.matching_step(RFC_SECRET, code, now_s=NOW_S, last_step=STEP) for code in codes]
    assert found == [None, None, STEP + 1]


@given(st.text(max_size=40))
def test_anything_else_is_wrong(typed: str) -> None:
    right = {totp.code_of(RFC_SECRET, STEP + drift) for drift in (-1, 0, 1)}
    if totp.plain_code(typed) not in right:
        assert totp.matching_step(RFC_SECRET, typed, now_s=NOW_S, last_step=0) is None


def test_blanks_do_not_matter() -> None:
    code = totp.code_of(RFC_SECRET, STEP)
    assert totp.matching_step(RFC_SECRET, f" {code[:3]} {code[3:]} ", now_s=NOW_S, last_step=0) == STEP
    first = totp.new_recovery_codes()[0]
    assert totp.hash_recovery_code(first) == totp.hash_recovery_code(first.replace("-", "").upper())


def test_the_stored_secret_opens_with_its_key_for_its_account_only() -> None:
    secret = totp.new_totp_secret()
    stored = totp.seal_secret(secret, KEY, 1)
    assert secret not in stored
    assert totp.open_secret(stored, KEY, 1) == secret
    for key, user_id in ((None, 1), (KEY + "x", 1), (KEY, 2)):
        with pytest.raises(NormstatError, match="NORMSTAT_SECRET_KEY"):
            totp.open_secret(stored, key, user_id)
    # Secrets stored before there was a key stay readable.
    assert totp.open_secret(totp.seal_secret(secret, None, 1), KEY, 1) == secret


def test_recovery_codes_are_many_and_different() -> None:
    codes = totp.new_recovery_codes()
    assert len(set(codes)) == totp.N_RECOVERY_CODES
    assert all(re.fullmatch(r"[a-z2-7]{4}(-[a-z2-7]{4}){3}", code) for code in codes)


@given(st.text(min_size=1, max_size=60))
def test_a_hostile_name_stays_a_name(account: str) -> None:
    account = account.encode("utf-8", "replace").decode()
    uri = totp.provisioning_uri(RFC_SECRET, account=account, server="normstat.example")
    parameters = parse_qs(urlsplit(uri).query, strict_parsing=True)
    assert parameters["secret"] == ["GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"]
    assert set(parameters) == {"secret", "issuer", "algorithm", "digits", "period"}


def test_the_qr_code_is_an_svg_document() -> None:
    drawn = totp.draw_qr_code("otpauth://totp/x?secret=ABC")
    assert ET.fromstring(drawn).tag == "{http://www.w3.org/2000/svg}svg"
