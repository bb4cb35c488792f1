"""The OpenAPI document and docs/api.md say what the application does."""

import inspect
import re
from pathlib import Path

from normstat import errors
from normstat.cli.openapi_command import render_openapi

CHECKOUT = Path(__file__).resolve().parents[3]


def test_checked_in_openapi_is_current() -> None:
    stored = (CHECKOUT / "frontend/openapi.json").read_text()
    assert stored == render_openapi(), "run `normstat openapi > frontend/openapi.json` and then make the page's types"


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
