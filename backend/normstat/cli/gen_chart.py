"""Generates the settings in the schema of the Helm chart's values, so that helm refuses a setting that is misspelled."""

import json
from pathlib import Path
from typing import Final

import normstat
from normstat.settings import Settings, setting_variable

VALUES_SCHEMA: Final = Path(normstat.__file__).parents[2] / "packaging/helm/normstat/values.schema.json"


def list_settings() -> dict[str, str]:
    """Return the variables of the server's settings with their descriptions."""
    named = {setting_variable(name): field.description or "" for name, field in Settings.model_fields.items()}
    return {variable: text for variable, text in named.items() if variable.startswith("NORMSTAT_")}


def render_values_schema() -> str:
    """Return the schema with the settings as they are."""
    schema = json.loads(VALUES_SCHEMA.read_text(encoding="utf-8"))
    schema["$defs"]["settings"]["properties"] = {
        name: {"type": "string", "description": text} for name, text in sorted(list_settings().items())
    }
    return json.dumps(schema, indent=2) + "\n"
