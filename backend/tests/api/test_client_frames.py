"""The Python client with pandas: its frames, and the notebook whose cells must compile and call what there is."""

import ast
import json
from pathlib import Path

import normstat_client
import pandas as pd
import pytest
from normstat_client.table import Table, read_csv

NOTEBOOK = Path(__file__).parents[2] / "client/example.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]


def test_a_table_becomes_a_frame_by_time_with_units_and_nan() -> None:
    text = (
        "time,epoch,device,io_time_pct[%],write_await_ms[ms],reads[]\r\n"
        "2026-11-28T12:00:00Z,1795867200,sda,98.5,3.25,1\r\n"
        "2026-11-28T12:00:01.5Z,1795867201.5,0,,4,2\r\n"
    )
    frame = read_csv(text).to_pandas()
    assert list(frame.columns) == ["device", "io_time_pct", "write_await_ms", "reads"]
    assert frame.index.tolist() == [pd.Timestamp("2026-11-28T12:00:00Z"), pd.Timestamp("2026-11-28T12:00:01.5Z")]
    assert str(frame.index.tz) == "UTC"
    assert frame.attrs["units"] == {"io_time_pct": "%", "write_await_ms": "ms", "reads": ""}
    assert frame["device"].tolist() == ["sda", "0"]
    assert frame["io_time_pct"].isna().tolist() == [False, True]
    assert frame["io_time_pct"].mean() == 98.5
    assert str(frame["write_await_ms"].dtype) == "float64"


def test_a_table_without_a_time_or_rows_is_a_frame_too() -> None:
    changes = Table({"stat": ["linux_disk"], "change_ratio": [None]}).to_pandas()
    assert changes.loc[0, "stat"] == "linux_disk"
    assert changes["change_ratio"].isna().all()
    empty = read_csv("time,epoch,usr_pct[%]\r\n").to_pandas()
    assert empty.empty
    assert empty.attrs["units"] == {"usr_pct": "%"}


@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_cell_of_the_notebook_compiles_and_calls_what_the_client_has(number: int) -> None:
    cell = CELLS[number]
    assert cell["outputs"] == []
    assert cell["execution_count"] is None
    tree = ast.parse("".join(cell["source"]))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "client":
            assert hasattr(normstat_client.Client, node.attr), f"client.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "normstat_client":
            assert all(hasattr(normstat_client, name.name) for name in node.names)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    for call in calls:
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "client":
            method = getattr(normstat_client.Client, call.func.attr)
            names = method.__code__.co_varnames[: method.__code__.co_argcount + method.__code__.co_kwonlyargcount]
            takes_more = bool(method.__code__.co_flags & 0x08)
            assert takes_more or {keyword.arg for keyword in call.keywords} <= set(names)
