"""The OpenAPI document and docs/api.md say what the application does; strings under fields are descriptions there."""

import inspect
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from normstat import errors
from normstat.cli.openapi_command import render_openapi
from normstat.runtime.field_docs import Documented, read_field_docs
from tests.api.test_access import DOCUMENT

CHECKOUT = Path(__file__).resolve().parents[3]


def test_checked_in_openapi_is_current() -> None:
    stored = (CHECKOUT / "frontend/openapi.json").read_text()
    assert stored == render_openapi(), "run `normstat openapi > frontend/openapi.json` and then make the page's types"


def test_bodies_have_names_of_their_own() -> None:
    """Where two bodies have one name, their schemas get the paths of their modules as names."""
    long = [name for name in json.loads(render_openapi())["components"]["schemas"] if "__" in name]
    assert not long, f"give these bodies different names: {long}"


def test_codes_are_documented_both_ways() -> None:
    raised = {
        (error.code, error.status)
        for _, error in inspect.getmembers(errors, inspect.isclass)
        if issubclass(error, errors.NormstatError)
    }
    documented = {
        (code, int(status))
        for code, status in re.findall(r"^\| `(\w+)` \| (\d{3}) \|", (CHECKOUT / "docs/api.md").read_text(), re.MULTILINE)
    }
    assert raised - documented == set(), "add these to the table of docs/api.md"
    assert documented - raised == set(), "docs/api.md names codes that nothing raises"


@dataclass(frozen=True, slots=True)
class Narrow(Documented):
    """One field."""

    low: int
    """The lowest of them."""


@dataclass(frozen=True, slots=True)
class Wide(Narrow):
    """A second field, without a word."""

    high: int


def test_fields_are_described_and_so_are_inherited_ones() -> None:
    properties = TypeAdapter(Wide).json_schema()["properties"]
    assert properties["low"]["description"] == "The lowest of them."
    assert "description" not in properties["high"]


def test_the_document_describes_the_fields_of_a_comparison() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert "quantile" in schemas["SideValues"]["properties"]["p99"]["description"]
    assert "additionalProperties" not in schemas["SideValues"]


def test_sources_are_read_for_the_document_and_not_for_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_source(_: object) -> None:
        raise AssertionError("a source is read")

    monkeypatch.setattr(inspect, "findsource", find_source)
    read_field_docs.cache_clear()

    @dataclass(frozen=True, slots=True)
    class Late(Narrow):
        high: int

    app = FastAPI()
    app.get("/late", response_model=Late)(lambda: Late(1, 2))
    with pytest.raises(AssertionError, match="a source is read"):
        app.openapi()
