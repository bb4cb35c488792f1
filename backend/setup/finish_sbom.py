"""Finish a software bill of materials (CycloneDX, JSON): finish_sbom.py NAME VERSION FROM TO. Two builds write the same bytes.

The tools that list the packages take the name from the folder, or know no version, and npm adds a random number and the time. npm
also lists what only development needs; with `--omit dev` it leaves out react, which a tool of development asks for as well.
"""

import datetime as dt
import json
import os
import sys
from pathlib import Path

OF_DEVELOPMENT = {"name": "cdx:npm:package:development", "value": "true"}


def main() -> None:
    """Write the list with our name and version, dated by SOURCE_DATE_EPOCH."""
    name, version, source, target = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    bom = json.loads(source.read_text(encoding="utf-8"))
    bom.pop("serialNumber", None)
    about = bom["metadata"]
    about["timestamp"] = dt.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about["component"] |= {"name": name, "version": version}
    bom["components"] = [each for each in bom["components"] if OF_DEVELOPMENT not in each.get("properties", ())]
    listed = {about["component"]["bom-ref"], *(each["bom-ref"] for each in bom["components"])}
    bom["dependencies"] = [
        {key: [ref for ref in value if ref in listed] if key == "dependsOn" else value for key, value in each.items()}
        for each in bom["dependencies"]
        if each["ref"] in listed
    ]
    target.write_text(json.dumps(bom, indent=2, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
