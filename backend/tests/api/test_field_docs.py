"""Strings under fields are descriptions in OpenAPI; the server does not read its sources to start."""

import json
import subprocess
import sys
from dataclasses import dataclass

from pydantic import TypeAdapter

from normstat.app import create_app
from normstat.field_docs import Documented
from normstat.settings import Settings


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
    schemas = create_app(Settings()).openapi()["components"]["schemas"]
    assert "quantile" in schemas["SideValues"]["properties"]["p99"]["description"]
    assert "additionalProperties" not in schemas["SideValues"]


def test_the_server_starts_without_reading_its_sources() -> None:
    code = "\n".join(
        [
            "import inspect, json",
            "inspect.findsource = None",
            "from normstat.app import create_app",
            "from normstat.settings import Settings",
            "print(json.dumps(len(create_app(Settings()).routes)))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) > 0
