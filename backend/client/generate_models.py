"""Write normstat_client/models.py: the types of the answers of the operations that the client uses, from the OpenAPI document."""

import json
import keyword
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "frontend" / "openapi.json"
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def type_of(schema: dict[str, Any]) -> str:
    """Return the annotation of a schema."""
    if "$ref" in schema:
        return f'"{schema["$ref"].rpartition("/")[2]}"'
    for key in ("anyOf", "oneOf"):
        if key in schema:
            found = list(dict.fromkeys(type_of(each) for each in schema[key]))
            return found[0] if len(found) == 1 else f"Union[{', '.join(found)}]"
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    if schema.get("type") == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {type_of(values)}]" if isinstance(values, dict) else "dict[str, Any]"
    return PLAIN.get(str(schema.get("type")), "Any")


def names_in(schema: object) -> set[str]:
    """Return the schemas that a schema names."""
    if isinstance(schema, dict):
        own = {schema["$ref"].rpartition("/")[2]} if isinstance(schema.get("$ref"), str) else set()
        return own.union(*map(names_in, schema.values()))
    return set().union(*map(names_in, schema)) if isinstance(schema, list) else set()


def make_models(document: dict[str, Any], operations: set[str]) -> str:
    """Return the module."""
    schemas = document["components"]["schemas"]
    routes = [operation for path in document["paths"].values() for operation in path.values()]
    todo = set()
    for route in routes:
        if route["operationId"] in operations:
            todo |= names_in([answer for status, answer in route["responses"].items() if status.startswith("2")])
    known: set[str] = set()
    while todo:
        known |= todo
        todo = names_in([schemas[name] for name in todo]) - known
    lines = [
        '"""Types of answers. Made by generate_models.py of the OpenAPI document: change nothing here."""',
        "",
        "from typing import Any, Literal, TypedDict, Union",
        "",
        "# fmt: off",
    ]
    for name in sorted(known):
        schema = schemas[name]
        members = schema.get("properties")
        if members is None:
            lines.append(f"{name} = {type_of(schema)}")
        elif any(keyword.iskeyword(key) or not key.isidentifier() for key in members):
            lines.append(f"{name} = dict[str, Any]")
        else:
            own = ", ".join(f"{key!r}: {type_of(value)}" for key, value in members.items())
            lines.append(f"{name} = TypedDict({name!r}, {{{own}}})")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    from normstat_client.client import OPERATIONS

    made = make_models(json.loads(DOCUMENT.read_text()), set(OPERATIONS))
    (HERE / "normstat_client" / "models.py").write_text(made)
