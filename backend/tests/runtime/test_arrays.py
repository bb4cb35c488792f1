"""Distinct values, as numpy finds them, without the modules that numpy imports for them."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import normstat
from normstat.runtime.arrays import distinct_values

PLAIN_UNIQUE = re.compile(r"np\.unique\((?!.*(return_|axis))")


@given(
    arrays.arrays(
        st.sampled_from([np.int64, np.int32, np.uint8, np.bool_]), arrays.array_shapes(min_dims=1, max_dims=2, min_side=0)
    )
)
def test_they_are_those_of_numpy(values: npt.NDArray[np.int64]) -> None:
    found, wanted = distinct_values(values), np.unique(values)
    assert found.tolist() == wanted.tolist()
    assert found.dtype == wanted.dtype


def test_masked_arrays_are_not_imported() -> None:
    code = "import sys, numpy as np; from normstat.runtime.arrays import distinct_values; distinct_values(np.arange(3))"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'numpy.ma' not in sys.modules"], check=True)
    places = [
        f"{path.name}:{number}"
        for path in Path(normstat.__file__).parent.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if PLAIN_UNIQUE.search(line) and "`np.unique`" not in line
    ]
    assert places == [], "normstat.runtime.arrays.distinct_values saves 10 MB"
