"""What is normal for a key series, from the samples of a short baseline."""

import numpy as np

from normstat.fleet.key_metrics import find_key_fields
from normstat.fleet.normals import normals_of_samples
from normstat.query.minute_means import SpanSamples
from tests.fleet.test_key_metrics import ref

KEYS = find_key_fields(ref("vmstat_linux"))


def test_a_baseline_without_samples_has_no_normal() -> None:
    empty = SpanSamples(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, len(KEYS)), np.float32))
    assert normals_of_samples("vmstat_linux", KEYS, empty, {}) == {}


def test_each_host_has_its_own_normal_and_missing_fields_have_none() -> None:
    values = np.full((4, len(KEYS)), np.nan, np.float32)
    at = next(place for place, key in enumerate(KEYS) if key.field.key == "cpu_id")
    values[:, at] = [90, 10, 94, 12]
    samples = SpanSamples(np.array([7, 8, 7, 8]), np.array([0, 0, 1, 1]), values)
    found = normals_of_samples("vmstat_linux", KEYS, samples, {7: (1, ""), 8: (2, "")})
    assert {host: [(name.field, normal.middle) for name, normal in normals.items()] for host, normals in found.items()} == {
        1: [("cpu_id", 92.0)],
        2: [("cpu_id", 11.0)],
    }
