"""What is stored of profiles has a number: another one makes every profile stale."""

from normstat.profiles.profile_codec import METHOD


def test_stored_rows_have_the_number_of_the_method() -> None:
    # Another number has every profile built again. Renames of classes and fields do not change it.
    assert METHOD == 8485
