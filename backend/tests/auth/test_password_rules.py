"""Which passwords are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.auth.password_rules import MAX_RATED_LENGTH, MIN_LENGTH, _is_hard_to_guess, require_good_password
from normstat.errors import WeakPassword


async def is_refused(password: str, *, name: str) -> bool:
    try:
        await require_good_password(password, name=name, who="test")
    except WeakPassword:
        return True
    return False


@pytest.mark.parametrize(
    "password",
    [
        "", " " * 8, " " * 40, "\t\n" * 10, "short", "  seven77  ", "password", "password12", "Password2024!", "P@ssw0rd123",
        "1234567890", "qwertyuiop12", "1q2w3e4r5t6y", "aaaaaaaaaaaa", "abcdefghijklm", "letmein12345", "welcome12345",
        "changeme123", "administrator1", "trustno1trustno1", "aliceaalicea", "ALICE in wonderland", "my normstat password",
        "normstat2024", "a" * 1000,
    ],
)  # fmt: skip
async def test_refused(password: str) -> None:
    assert await is_refused(password, name="alice")


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "vier gelbe Strassenbahnen",
        "zq8Kd02mXw",
        "ключ от склада",
        "長い合言葉を決めましょう",
        "x" * 40 + "zq8Kd02mXw7",
    ],
)
async def test_taken(password: str) -> None:
    assert not await is_refused(password, name="alice")


async def test_a_short_name_may_be_in_it_but_not_be_it() -> None:
    assert not await is_refused("a plan for the channel", name="ann")
    assert await is_refused("annannannann", name="ann")


@given(st.text(min_size=MIN_LENGTH, max_size=MAX_RATED_LENGTH), st.text(min_size=1, max_size=20))
def test_any_text_is_rated(password: str, name: str) -> None:
    assert _is_hard_to_guess(password, name) in {True, False}
