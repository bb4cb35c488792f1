"""The audit log as text: a line of CSV or JSON, or a message of syslog."""

import json
from typing import Final

from normstat.db.schema.audit_models import AuditEntryRow
from normstat.runtime.csv_cells import format_csv
from normstat.runtime.readable import to_iso

AUDIT_COLUMNS: Final = ("id", "time", "account", "means", "token_id", "address", "action", "outcome", "target", "request_id")
# RFC 5424: facility 13 is "log audit"; severity 5 notice, 4 warning.
FACILITY: Final = 13
NOTICE: Final = 5
WARNING: Final = 4
APP_NAME: Final = "normstat"
# The size that every receiver of RFC 5424 should take, and UDP carries.
MAX_MESSAGE: Final = 2048


def to_values(row: AuditEntryRow) -> dict[str, object]:
    """Return the members of an entry by `AUDIT_COLUMNS`. Missing: None."""
    return {
        "id": row.id,
        "time": to_iso(row.at, "milliseconds"),
        "account": row.account,
        "means": row.means,
        "token_id": row.token_id,
        "address": row.address,
        "action": row.action,
        "outcome": "refused" if row.is_refused else "done",
        "target": row.target,
        "request_id": row.request_id,
    }


def to_json_line(row: AuditEntryRow) -> str:
    """Return the entry as a JSON object and a line feed."""
    return json.dumps(to_values(row), ensure_ascii=False) + "\n"


def to_csv_line(row: AuditEntryRow) -> str:
    """Return the entry as a line of CSV; `target` is JSON."""
    values = to_values(row)
    values["target"] = json.dumps(row.target, ensure_ascii=False) if row.target else ""
    return format_csv([values.values()])


def to_syslog(row: AuditEntryRow, host_name: str) -> bytes:
    """Return the entry as a message of RFC 5424 whose text is the JSON object.

    A longer one than `MAX_MESSAGE` bytes has no `target`, and says so.
    """
    priority = FACILITY * 8 + (WARNING if row.is_refused else NOTICE)
    values = to_values(row)
    head = f"<{priority}>1 {values['time']} {host_name or '-'} {APP_NAME} - {row.action[:32] or '-'} - "

    def message() -> bytes:
        return (head + json.dumps(values, ensure_ascii=True)).encode()

    if len(message()) > MAX_MESSAGE:
        values["target"] = {"left_out": "too long for syslog; see the audit log"}
    return message()[:MAX_MESSAGE]
