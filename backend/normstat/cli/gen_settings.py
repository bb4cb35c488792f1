"""Generates from the settings their table in docs/configure.md, and their names in the schema of the Helm chart's values.

With the schema, helm refuses a setting that is misspelled.
"""

import json
from pathlib import Path
from typing import Final

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

import normstat
from normstat.cli.config_command import write_value
from normstat.settings import MIB, Settings, setting_variable

SETTINGS_PAGE: Final = Path(normstat.__file__).parents[2] / "docs/configure.md"
BEGIN: Final = "<!-- settings: written by make gen -->\n"
END: Final = "<!-- end of settings -->\n"


def render_settings_page() -> str:
    """Return the page with the table as the settings are; the text around it is written by hand."""
    before, _, rest = SETTINGS_PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        text = (field.description or "").replace("|", "\\|")
        lines.append(f"| `{setting_variable(name)}` | {_say_default(field.default)} | {text} |")
    return before + BEGIN + "\n".join(lines) + "\n" + END + after


def _say_default(value: object) -> str:
    """Return a default as it would be set, and large sizes in MiB too."""
    text = "" if value is PydanticUndefined or isinstance(value, SecretStr) else write_value(value)
    size = f" ({value // MIB} MiB)" if isinstance(value, int) and value >= MIB and value % MIB == 0 else ""
    return f"`{text}`{size}" if text else ""


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
