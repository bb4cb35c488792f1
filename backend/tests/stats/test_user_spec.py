"""Specs of users: as strict as built-in ones, in the catalogue beside them, and never in their way."""

import pytest

from normstat.errors import NotFound, SpecError
from normstat.stats.catalogue import UserSpecText, built_in_catalogue, install_user_specs, load_catalogue, require_spec
from normstat.stats.user_spec import require_user_spec
from tests.stats.test_catalogue import SHORT

ONE_STAT = SHORT.partition('\n[[stats]]\nname = "short_json"')[0]
TEXT = ONE_STAT.replace("version = 1\n", "")


def test_a_user_spec_stands_beside_the_built_in_ones_with_the_version_of_the_store() -> None:
    n_specs = len(load_catalogue().specs)
    assert install_user_specs([UserSpecText("short", TEXT, 3)], "r1") == {}
    assert load_catalogue().user_specs == {"short"}
    assert load_catalogue().revision == "r1"
    assert len(load_catalogue().specs) == n_specs + 1
    assert require_spec("short").version == 3
    assert load_catalogue().stats["short"][0].name == "short"
    install_user_specs([], "")
    assert load_catalogue() is built_in_catalogue()
    with pytest.raises(NotFound):
        require_spec("short")


def test_one_that_cannot_be_read_is_left_out_and_named() -> None:
    taken = TEXT.replace("short", "vmstat_linux")
    troubles = install_user_specs(
        [UserSpecText("vmstat_linux", taken, 1), UserSpecText("short", TEXT, 1), UserSpecText("odd", "name = 1", 1)], "r"
    )
    assert set(troubles) == {"vmstat_linux", "odd"}
    assert load_catalogue().user_specs == {"short"}
    assert load_catalogue().specs["vmstat_linux"] is built_in_catalogue().specs["vmstat_linux"]


def test_the_version_in_the_text_does_not_count() -> None:
    assert require_user_spec(UserSpecText("short", ONE_STAT, 7), built_in_catalogue()).version == 7


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("Short", "", "", "name: 'Short' is not 1 to 40"),
        ("vmstat_linux", "short", "vmstat_linux", "is a built-in spec"),
        ("short", '"short"\ntitle', '"vmstat_linux"\ntitle', "is a stat of the spec vmstat_linux"),
        ("short", '"short"\ntitle', '"' + "g" * 41 + '"\ntitle', "1 to 40"),
        ("short", 'since_boot = "first"', 'since_boot = "first"\nbanner = "(?!a)b"', "cannot be matched in linear time"),
        ("short", 'os = "linux"', 'os = "linux"\nmarks = ["(x)\\\\1"]', "cannot be matched in linear time"),
        ("short", 'tool = "tool"', 'tool = "tool"\nversion = "x"', "version: must be a whole number"),
        ("short", 'help = "What it is."', 'help = "What it is.", scale = 7', "must be 1000 or 1024"),
    ],
)
def test_what_a_user_spec_may_not_be(name: str, old: str, new: str, message: str) -> None:
    text = TEXT.replace(old, new) if old else TEXT
    if 'stat = "short"' in text and '"short"\ntitle' in old:
        text = text.replace('stat = "short"', 'stat = "' + new.split('"')[1] + '"')
    with pytest.raises(SpecError, match=message):
        require_user_spec(UserSpecText(name, text, 1), built_in_catalogue())


def test_keys_must_fit_into_names_of_columns() -> None:
    long_key = "a" * 51
    with pytest.raises(SpecError, match="longer than 50"):
        require_user_spec(UserSpecText("short", TEXT.replace('"aa"', f'"{long_key}"'), 1), built_in_catalogue())
