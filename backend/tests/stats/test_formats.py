"""The canonical form: what comes back from a value alone, and what needs its text."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normstat.stats.catalogue import require_spec
from normstat.stats.engine.number_formats import EXACT_LIMIT, format_values, read_number
from normstat.stats.spec import Field, Storage

SPEC = require_spec("iostat_linux")
DEC4 = next(field for field in SPEC.stats[0].fields if field.key == "util_pct")
FLOAT4 = replace(DEC4, storage=Storage.FLOAT4)
FLOAT8 = next(field for field in SPEC.stats[0].fields if field.key == "rkb_per_s")
INT8 = next(field for field in SPEC.stats[0].fields if field.key == "kb_read")


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("0", INT8, (0, True)),
        ("-5", INT8, (-5, True)),
        ("9223372036854775807", INT8, (2**63 - 1, True)),
        ("18446744073709551615", INT8, (2**64 - 1, True)),
        ("018446744073709551615", INT8, (2**64 - 1, False)),
        ("18446744073709551616", INT8, None),
        ("-9223372036854775809", INT8, None),
        ("-0", INT8, (0, False)),
        ("007", INT8, (7, False)),
        ("+7", INT8, (7, False)),
        ("7.0", INT8, None),
        ("", INT8, None),
        ("٣", INT8, None),
        ("1.50", FLOAT8, (1.5, True)),
        ("-1.00", FLOAT8, (-1.0, True)),
        ("1.5", FLOAT8, (1.5, False)),
        ("01.50", FLOAT8, (1.5, False)),
        ("1,50", FLOAT8, (1.5, False)),
        ("-0.00", FLOAT8, (0.0, False)),
        (".50", FLOAT8, (0.5, False)),
        ("1e5", FLOAT8, None),
        ("nan", FLOAT8, None),
        ("1_0.00", FLOAT8, None),
        ("12.50%", FLOAT4, (12.5, False)),
        ("12.50%", FLOAT8, None),
        ("4.2G", FLOAT8, None),
        ("41943.03", FLOAT4, (41943.03, True)),
        ("41943.04", FLOAT4, (41943.04, False)),
        ("21474836.47", DEC4, (21474836.47, True)),
        ("21474836.48", DEC4, (21474836.48, False)),
        ("9" * 400, FLOAT8, None),
    ],
)
def test_words(text: str, field: Field, expected: tuple[float, bool] | None) -> None:
    assert read_number(text, field) == expected


@given(digits=st.integers(-(EXACT_LIMIT[Storage.FLOAT4] - 1), EXACT_LIMIT[Storage.FLOAT4] - 1), decimals=st.integers(0, 4))
def test_float4_brings_back_every_canonical_text(digits: int, decimals: int) -> None:
    field = replace(FLOAT4, decimals=decimals)
    text = f"{digits / 10**decimals:.{decimals}f}"
    found = read_number(text, field)
    assert found is not None
    if found[1]:
        assert format_values(field, np.array([found[0]], dtype=np.float32).astype(np.float64)) == [text]
    else:
        assert text.startswith("-0")
        assert found[0] == 0


@given(digits=st.integers(-(EXACT_LIMIT[Storage.DEC4] - 1), EXACT_LIMIT[Storage.DEC4] - 1), decimals=st.integers(1, 4))
def test_dec4_brings_back_every_canonical_text(digits: int, decimals: int) -> None:
    field = replace(DEC4, decimals=decimals)
    text = f"{digits / 10**decimals:.{decimals}f}"
    assert read_number(text, field) == (digits / 10**decimals, True)
    stored = np.rint(np.array([digits / 10**decimals]) * 10.0**decimals).astype(np.int32)
    assert stored.tolist() == [digits]
    assert format_values(field, stored / 10.0**decimals) == [text]


@given(digits=st.integers(-(EXACT_LIMIT[Storage.FLOAT8] - 1), EXACT_LIMIT[Storage.FLOAT8] - 1), decimals=st.integers(0, 9))
def test_float8_brings_back_every_canonical_text(digits: int, decimals: int) -> None:
    field = replace(FLOAT8, decimals=decimals)
    sign = "-" if digits < 0 else ""
    whole, tail = divmod(abs(digits), 10**decimals)
    text = f"{sign}{whole}" + (f".{tail:0{decimals}d}" if decimals else "")
    found = read_number(text, field)
    assert found == (digits / 10**decimals, True)
    assert format_values(field, np.array([found[0]])) == [text]


def test_integers_and_missing_numbers() -> None:
    assert format_values(INT8, np.array([0, -7, 2**62], dtype=np.int64)) == ["0", "-7", str(2**62)]
    assert format_values(FLOAT8, np.array([1.0, np.nan])) == ["1.00", ""]
    assert format_values(FLOAT8, np.empty(0)) == []
