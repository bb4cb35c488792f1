"""The rows of saved views, and of the stars on them."""

import re
import tomllib
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from typing import Final

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from normstat.db.row_records import to_record
from normstat.db.schema.view_models import SavedView, ViewStar
from normstat.errors import Conflict, NotAllowed, NotFound, shorten
from normstat.runtime.body import Body, Name, Note
from normstat.runtime.field_docs import Documented
from normstat.stats.catalogue import built_in_catalogue
from normstat.views.view_panels import PanelSource, PanelWidth, ViewPanel, ViewPanels


@dataclass(frozen=True, slots=True)
class ReadyMadeView:
    """A view that comes with normstat. It can be copied, not changed."""

    key: str
    name: str
    description: str
    panels: tuple[ViewPanel, ...]


@cache
def ready_made_views() -> tuple[ReadyMadeView, ...]:
    """Return the views that come with normstat, in the order of the file."""
    raw = tomllib.loads((resources.files("normstat.views") / "ready_made.toml").read_text(encoding="utf-8"))
    return tuple(
        ReadyMadeView(view["key"], view["name"], view["description"], tuple(_panel(panel) for panel in view["panels"]))
        for view in raw["views"]
    )


def _panel(raw: dict[str, str | list[str]]) -> ViewPanel:
    """Return a panel. Without a title it gets that of its first source, so that a host that has none of them can name it."""
    sources = tuple(_source(text) for text in raw["first_of"])
    title = str(raw.get("title", "")) or _title_of(sources[0])
    return ViewPanel(sources, title, PanelWidth(str(raw.get("width", "half"))))


def _title_of(source: PanelSource) -> str:
    _, stat = built_in_catalogue().stats[source.stat]
    return next(panel.title for panel in stat.panels if panel.key == source.panel)


def _source(text: str) -> PanelSource:
    """Return the source that `stat.panel`, or `stat.panel instances`, names."""
    name, _, instances = text.partition(" ")
    stat, _, panel = name.partition(".")
    return PanelSource(stat, panel, (), instances)


MAX_LISTED: Final = 2_000
MAX_VIEWS: Final = 5_000
MAX_SLUG: Final = 60
PANELS: Final = TypeAdapter(tuple[ViewPanel, ...])


@dataclass(frozen=True, slots=True)
class ViewInfo(Documented):
    """A view: panels that are drawn for any host."""

    key: str
    """Its name in links; it stays when the view is renamed."""

    name: str
    description: str
    panels: tuple[ViewPanel, ...]
    is_shared: bool
    """Whether all accounts see it; otherwise only its author does."""

    is_starred: bool
    """Whether the asking account has starred it."""

    is_ready_made: bool
    """Whether it comes with normstat; such a view can be copied, not changed."""

    may_change: bool
    """Whether the asking account may change and delete it."""

    created_by: str
    """Empty for a view that comes with normstat."""

    updated_at: datetime | None
    """Null for a view that comes with normstat."""


class ViewCreate(Body):
    """A view to save: for oneself, or shared with all accounts (requires the role operator)."""

    name: Name
    description: Note = ""
    panels: ViewPanels
    is_shared: bool = False


class ViewUpdate(Body):
    """What to change of a view."""

    name: Name | None = None
    description: Note | None = None
    panels: ViewPanels | None = None
    is_shared: bool | None = None


@dataclass(frozen=True, slots=True)
class ViewUser:
    """The requesting account. `may_share` is the right to change shared views."""

    user_id: int
    name: str
    may_share: bool


async def list_views(session: AsyncSession, user: ViewUser) -> list[ViewInfo]:
    """Return the views that an account may see: starred ones first, then by name; at most MAX_LISTED saved ones."""
    stars = set(await session.scalars(select(ViewStar.view_key).where(ViewStar.user_id == user.user_id)))
    query = select(SavedView).where(_is_visible(user)).order_by(SavedView.name, SavedView.id).limit(MAX_LISTED)
    views = [_to_info(row, user, stars) for row in await session.scalars(query)]
    views += [_ready_made_info(view, stars) for view in ready_made_views()]
    return sorted(views, key=lambda view: (not view.is_starred, view.is_ready_made))


async def read_view(session: AsyncSession, key: str, user: ViewUser) -> ViewInfo:
    """Return one view.

    Raises: NotFound, also for the private view of another account
    """
    is_starred = await session.get(ViewStar, (user.user_id, key)) is not None
    stars = {key} if is_starred else set()
    ready_made = _find_ready_made(key)
    if ready_made is not None:
        return _ready_made_info(ready_made, stars)
    return _to_info(await _find_saved(session, key, user), user, stars)


async def find_view(session: AsyncSession, name: str) -> tuple[str, tuple[ViewPanel, ...]]:
    """Return the name and the panels of the view with this name, or with this key.

    Raises: NotFound with the names that there are; Conflict where several have the name
    """
    query = select(SavedView).order_by(SavedView.name, SavedView.id).limit(MAX_LISTED)
    known = [(view.key, view.name, PANELS.validate_python(view.panels)) for view in await session.scalars(query)]
    known += [(view.key, view.name, view.panels) for view in ready_made_views()]
    found = [each for each in known if each[0] == name] or [each for each in known if each[1] == name]
    if not found:
        raise NotFound(f"No view {shorten(name)}; there are {', '.join(each[1] for each in known)}", {"view": name})
    if len(found) > 1:
        raise Conflict(f"{len(found)} views have the name {shorten(name)}; give a key: {', '.join(each[0] for each in found)}")
    return found[0][1], found[0][2]


async def create_view(session: AsyncSession, body: ViewCreate, user: ViewUser) -> ViewInfo:
    """Save a view; its key comes from its name.

    Raises: NotAllowed for a shared view without the right to share; Conflict if the account has a view of this name
    """
    if body.is_shared:
        _check_may_share(user)
    n_views = await session.scalar(select(func.count()).select_from(SavedView))
    if n_views is not None and n_views >= MAX_VIEWS:
        raise Conflict(f"There are {n_views} views already. Delete some first", {"views": n_views})
    view = SavedView(
        key=await _free_key(session, body.name),
        name=body.name,
        description=body.description,
        panels=PANELS.dump_python(body.panels, mode="json"),
        is_shared=body.is_shared,
        owner_id=user.user_id,
        created_by=user.name,
    )
    session.add(view)
    await _flush(session, body.name)
    await session.refresh(view)
    return _to_info(view, user, set())


async def update_view(session: AsyncSession, key: str, body: ViewUpdate, user: ViewUser) -> ViewInfo:
    """Change a view.

    Raises: NotFound; NotAllowed for one that comes with normstat, or of others without the right to share; Conflict as for
    create_view
    """
    view = await _find_changeable(session, key, user)
    if body.is_shared is not None and body.is_shared != view.is_shared:
        _check_may_share(user)
        view.is_shared = body.is_shared
    view.name = view.name if body.name is None else body.name
    view.description = view.description if body.description is None else body.description
    if body.panels is not None:
        view.panels = PANELS.dump_python(body.panels, mode="json")
    name = view.name
    view.updated_at = func.now()
    await _flush(session, name)
    await session.refresh(view)
    is_starred = await session.get(ViewStar, (user.user_id, key)) is not None
    return _to_info(view, user, {key} if is_starred else set())


async def delete_view(session: AsyncSession, key: str, user: ViewUser) -> None:
    """Delete a view and all stars on it.

    Raises: as update_view
    """
    view = await _find_changeable(session, key, user)
    await session.execute(delete(ViewStar).where(ViewStar.view_key == key))
    await session.delete(view)


async def star_view(session: AsyncSession, key: str, user: ViewUser, *, is_starred: bool) -> None:
    """Star a view for an account, or take the star away.

    Raises: NotFound
    """
    if _find_ready_made(key) is None:
        await _find_saved(session, key, user)
    if is_starred:
        await session.execute(insert(ViewStar).values(user_id=user.user_id, view_key=key).on_conflict_do_nothing())
    else:
        await session.execute(delete(ViewStar).where(ViewStar.user_id == user.user_id, ViewStar.view_key == key))


def _is_visible(user: ViewUser) -> ColumnElement[bool]:
    return or_(SavedView.is_shared, SavedView.owner_id.is_(None), SavedView.owner_id == user.user_id)


def _find_ready_made(key: str) -> ReadyMadeView | None:
    return next((view for view in ready_made_views() if view.key == key), None)


async def _find_saved(session: AsyncSession, key: str, user: ViewUser) -> SavedView:
    view = await session.scalar(select(SavedView).where(SavedView.key == key, _is_visible(user)))
    if view is None:
        raise NotFound(f"No view {key}", {"view": key})
    return view


async def _find_changeable(session: AsyncSession, key: str, user: ViewUser) -> SavedView:
    if _find_ready_made(key) is not None:
        raise NotAllowed(f"The view {key} comes with normstat and cannot be changed. Save a copy")
    view = await _find_saved(session, key, user)
    if not _may_change(view, user):
        raise NotAllowed(f"The view {view.name} is shared. Changing it requires the role operator")
    return view


def _may_change(view: SavedView, user: ViewUser) -> bool:
    is_private = not view.is_shared and view.owner_id is not None
    return is_private or user.may_share


def _check_may_share(user: ViewUser) -> None:
    if not user.may_share:
        raise NotAllowed("Sharing a view requires the role operator. Save it for yourself")


async def _free_key(session: AsyncSession, name: str) -> str:
    """Return a key that no view has: the name in lower case, with a number if needed."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:MAX_SLUG].strip("-") or "view"
    pattern = f"^{slug}(-[0-9]+)?$"
    taken = {*await session.scalars(select(SavedView.key).where(SavedView.key.regexp_match(pattern)))}
    taken |= {view.key for view in ready_made_views()}
    if slug not in taken:
        return slug
    return next(key for n in range(2, MAX_VIEWS + 10) if (key := f"{slug}-{n}") not in taken)


async def _flush(session: AsyncSession, name: str) -> None:
    try:
        await session.flush()
    except IntegrityError:
        raise Conflict(f"You already have a view named {name}", {"name": name}) from None


def _to_info(view: SavedView, user: ViewUser, stars: set[str]) -> ViewInfo:
    return to_record(
        ViewInfo,
        view,
        panels=PANELS.validate_python(view.panels),
        is_shared=view.is_shared or view.owner_id is None,
        is_starred=view.key in stars,
        is_ready_made=False,
        may_change=_may_change(view, user),
    )


def _ready_made_info(view: ReadyMadeView, stars: set[str]) -> ViewInfo:
    return to_record(
        ViewInfo,
        view,
        is_shared=True,
        is_starred=view.key in stars,
        is_ready_made=True,
        may_change=False,
        created_by="",
        updated_at=None,
    )
