"""Every stat of the catalogue can have a table: otherwise the first sample of it would end the request that brings it."""

import pytest

from normstat.stats.catalogue import load_catalogue
from normstat.store.stat_tables import LONGEST_NAME, RESERVED_KEYS


@pytest.mark.parametrize("name", load_catalogue().stats)
def test_names_can_be_those_of_a_table_and_its_columns(name: str) -> None:
    _, stat = load_catalogue().stats[name]
    assert len(name) <= LONGEST_NAME
    reserved = {field.key for field in stat.fields} & RESERVED_KEYS
    assert not reserved, f"every table has these columns already, choose other keys: {reserved}"
