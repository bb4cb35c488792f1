"""The checks of the installation, by way of the API."""

from dataclasses import replace

import httpx
from fastapi import FastAPI

from normstat.api.state import AppState
from normstat.doctor.check_result import CheckStatus


async def test_an_administrator_sees_what_is_wrong(app: FastAPI, state: AppState, admin: httpx.AsyncClient) -> None:
    # Nothing listens there.
    settings = state.settings.model_copy(update={"public_url": "http://127.0.0.1:9"})
    app.state.normstat = replace(state, settings=settings)
    response = await admin.get("/api/v1/doctor")
    assert response.status_code == 200, response.text
    report = response.json()
    checks = {check["check"]: check for check in report["checks"]}
    assert checks["database"]["status"] == checks["migrations"]["status"] == "ok"
    assert checks["address"]["status"] == "error"
    assert "refused" in checks["address"]["found"]
    assert checks["address"]["advice"]
    assert checks["page"]["status"] == "error"
    counts = {status: sum(check["status"] == status for check in checks.values()) for status in CheckStatus}
    assert counts == {status: report[f"n_{status}"] for status in counts}
    assert not any(check["expected"] or check["advice"] for check in checks.values() if check["status"] == "ok")
