"""Saved views: who sees and changes them, what they may hold, and those that come with normstat."""

from typing import Any

import httpx

from normstat.auth.roles import Role
from tests.api.people import People, body_of
from tests.api.test_access import assert_envelope

VIEWS = "/api/v1/views"
DISKS = {"stat": "iostat_linux", "panel": "util", "fields": [], "instances": "top:5"}
BUSY = {"title": "Busy", "width": "full", "height": 420, "sources": [DISKS]}
QUEUES = {"stat": "iostat_linux", "panel": None, "fields": ["aqu_sz"], "instances": ""}
QUEUE = {"title": "", "width": "half", "height": None, "sources": [QUEUES]}


async def save(browser: httpx.AsyncClient, name: str, **more: object) -> dict[str, Any]:
    return body_of(await browser.post(VIEWS, json={"name": name, "panels": [BUSY, QUEUE], **more}), 201)


async def keys_of(browser: httpx.AsyncClient) -> list[str]:
    return [view["key"] for view in (await browser.get(VIEWS)).json()["views"] if not view["is_ready_made"]]


async def test_a_view_is_saved_changed_and_deleted(anna: httpx.AsyncClient) -> None:
    made = await save(anna, "Database disks", description="how busy they are")
    assert made["key"] == "database-disks"
    assert made["panels"] == [BUSY, QUEUE]
    assert (made["is_shared"], made["may_change"], made["created_by"]) == (False, True, "anna")

    changed = await anna.patch(f"{VIEWS}/database-disks", json={"name": "Disks of db1", "panels": [QUEUE], "is_shared": True})
    assert changed.status_code == 200
    body = changed.json()
    # Links go on working.
    assert (body["key"], body["name"], body["panels"], body["is_shared"]) == ("database-disks", "Disks of db1", [QUEUE], True)
    assert body["description"] == "how busy they are"
    assert body["updated_at"] >= made["updated_at"]
    assert (await anna.get(f"{VIEWS}/database-disks")).json() == body

    assert (await anna.delete(f"{VIEWS}/database-disks")).status_code == 200
    assert_envelope(await anna.get(f"{VIEWS}/database-disks"), 404, "not_found")


async def test_keys_and_names(people: People, anna: httpx.AsyncClient) -> None:
    bert = await people.enter(Role.OPERATOR, "bert")
    assert (await save(anna, "Disks!"))["key"] == "disks-2", "the view Disks comes with normstat"
    assert (await save(bert, "Disks!"))["key"] == "disks-3"
    assert (await save(bert, "磁盘"))["key"] == "view"
    again = await anna.post(VIEWS, json={"name": "Disks!", "panels": []})
    assert_envelope(again, 409, "conflict")
    assert "already have a view named Disks!" in again.json()["error"]["message"]
    assert again.json()["error"]["details"] == {"name": "Disks!"}
    other = await save(anna, "Other")
    assert_envelope(await anna.patch(f"{VIEWS}/{other['key']}", json={"name": "Disks!"}), 409, "conflict")


async def test_a_private_view_is_its_authors(people: People) -> None:
    vera = await people.enter(Role.VIEWER, "vera")
    root = await people.enter(Role.ADMINISTRATOR, "root")
    mine = await save(vera, "Mine")
    assert await keys_of(vera) == ["mine"]
    assert await keys_of(root) == []
    for answer in (
        await root.get(f"{VIEWS}/mine"),
        await root.patch(f"{VIEWS}/mine", json={"name": "Yours"}),
        await root.delete(f"{VIEWS}/mine"),
        await root.put(f"{VIEWS}/mine/star", json={"is_starred": True}),
    ):
        assert_envelope(answer, 404, "not_found")
    assert (await vera.get(f"{VIEWS}/mine")).json() == mine


async def test_what_others_see_is_changed_by_operators(people: People, anna: httpx.AsyncClient) -> None:
    vera = await people.enter(Role.VIEWER, "vera")
    assert_envelope(await vera.post(VIEWS, json={"name": "Ours", "panels": [], "is_shared": True}), 403, "not_allowed")
    mine = await save(vera, "Mine")
    assert_envelope(await vera.patch(f"{VIEWS}/{mine['key']}", json={"is_shared": True}), 403, "not_allowed")
    ours = await save(anna, "Ours", is_shared=True)
    assert (await vera.get(f"{VIEWS}/ours")).json() == ours | {"may_change": False}
    assert_envelope(await vera.patch(f"{VIEWS}/ours", json={"name": "Theirs"}), 403, "not_allowed")
    assert_envelope(await vera.delete(f"{VIEWS}/ours"), 403, "not_allowed")
    bert = await people.enter(Role.OPERATOR, "bert")
    assert (await bert.patch(f"{VIEWS}/ours", json={"description": "better"})).status_code == 200


async def test_stars_belong_to_an_account(people: People, anna: httpx.AsyncClient) -> None:
    vera = await people.enter(Role.VIEWER, "vera")
    ours = await save(anna, "Ours", is_shared=True)
    for key in (ours["key"], "network"):
        for _ in range(2):
            assert (await vera.put(f"{VIEWS}/{key}/star", json={"is_starred": True})).status_code == 200
    listed = (await vera.get(VIEWS)).json()["views"]
    assert [view["key"] for view in listed[:2]] == ["ours", "network"]
    assert [view["is_starred"] for view in listed[:3]] == [True, True, False]
    assert not any(view["is_starred"] for view in (await anna.get(VIEWS)).json()["views"])
    assert (await vera.put(f"{VIEWS}/network/star", json={"is_starred": False})).status_code == 200
    assert not (await vera.get(f"{VIEWS}/network")).json()["is_starred"]
    # A new view of the same key is not starred by the way.
    assert (await anna.delete(f"{VIEWS}/ours")).status_code == 200
    await save(anna, "Ours", is_shared=True)
    assert not (await vera.get(f"{VIEWS}/ours")).json()["is_starred"]


async def test_a_view_outlives_its_author(people: People, anna: httpx.AsyncClient) -> None:
    root = await people.enter(Role.ADMINISTRATOR, "root")
    await save(anna, "Mine")
    assert (await root.delete("/api/v1/users/anna")).status_code == 200
    left = (await root.get(f"{VIEWS}/mine")).json()
    assert (left["is_shared"], left["may_change"], left["created_by"]) == (True, True, "anna")


async def test_ready_made_views_are_there_and_stay(people: People) -> None:
    root = await people.enter(Role.ADMINISTRATOR, "root")
    listed = (await root.get(VIEWS)).json()["views"]
    assert [view["key"] for view in listed] == [
        "overview",
        "use",
        "linux-classic",
        "solaris-classic",
        "disks",
        "processes",
        "network",
        "gpus",
        "databases",
    ]
    for answer in (await root.patch(f"{VIEWS}/use", json={"name": "x"}), await root.delete(f"{VIEWS}/use")):
        assert_envelope(answer, 403, "not_allowed")
        assert "Save a copy" in answer.json()["error"]["message"]


async def test_bad_panels_and_names(anna: httpx.AsyncClient) -> None:
    for changed in (
        {"panel": None},
        {"fields": ["util_pct"]},
        {"stat": "a; DROP"},
        {"instances": "top:0"},
        {"instances": "only:\0"},
    ):
        panel = BUSY | {"sources": [DISKS | changed]}
        assert_envelope(await anna.post(VIEWS, json={"name": "Bad", "panels": [panel]}), 422, "invalid_request")
    for name in ("", "  ", "x" * 201, "a\x00b"):
        assert_envelope(await anna.post(VIEWS, json={"name": name, "panels": []}), 422, "invalid_request")
    assert_envelope(await anna.get(f"{VIEWS}/no-such-view"), 404, "not_found")
    hostile = await save(anna, "<script>alert(1)</script>")
    assert hostile["name"] == "<script>alert(1)</script>"
    assert hostile["key"] == "script-alert-1-script"
