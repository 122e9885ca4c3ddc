"""The settings page: the settings in force, the checks of `doctor`, file locations, and connected agents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response

from seasoned import __version__
from seasoned.config import Config
from seasoned.confirm.service.service import service_of
from seasoned.connect.agent import AGENTS
from seasoned.connect.apply import is_connected
from seasoned.doctor import Check, Setting, places, quick_checks, settings, store_checks
from seasoned.insight.report import revision
from seasoned.redact import Redactor
from seasoned.web.cache import CacheLookup, look_up
from seasoned.web.history_store import histories_of
from seasoned.web.login import Here, read_change
from seasoned.web.response import Page, page_router, redactor_of, redirect
from seasoned.web.table import Column, Table, TableCell, answer

PAGE = Page("Settings", "settings", is_rare=True)
router = page_router()
_CHECKS = (Column("ok", "state"), Column("check", "check"), Column("finding", "finding"))
_SETTINGS = (Column("setting", "setting"), Column("value", "value"), Column("from", "from"))
_PLACES = (Column("what", "what"), Column("path", "where"), Column("there", "there"))
_CONNECTED = (Column("agent", "agent"), Column("connected", "state"), Column("how", "how to change it"))


class SettingsPage(msgspec.Struct, frozen=True):
    """What is looked up for every request of the page."""

    settings: list[Setting]
    checks: list[Check]
    places: list[tuple[str, Path, bool]]
    connected: list[tuple[str, bool]]


@router.get("/settings")
async def show(request: HTTPRequest, here: Here) -> Response:
    """Show settings, checks and locations."""
    service = service_of(request)
    redactor = redactor_of(request)
    # In a thread, since the checks read files.
    found = await histories_of(request).read(lambda _: _found(service.config, redactor))
    stored = await _stored(request)
    checks = [*found.checks, *(stored.value or ())]
    return answer(
        request,
        here,
        "settings.html",
        tables=(
            _checks_table(checks, redactor),
            _settings_table(found.settings, redactor),
            _connected_table(found.connected),
            _places_table(found.places),
        ),
        version=__version__,
        stored=stored,
        is_well=all(check.ok for check in checks),
        wrong=[check for check in checks if not check.ok],
    )


@router.post("/settings/check")
async def check_again(request: HTTPRequest, here: Here) -> Response:
    """Check the entire store again, now."""
    await read_change(request, here)
    await _stored(request, is_asked=True)
    return redirect(f"{here.visit.path}/{PAGE.path}")


async def _stored(request: HTTPRequest, *, is_asked: bool = False) -> CacheLookup[list[Check]]:
    """The last results of the checks that read the entire store."""
    config = service_of(request).config
    now = await histories_of(request).read(revision)
    return await look_up(
        request, "doctor", "Checking the store", now, lambda _: store_checks(config), is_asked=is_asked
    )


def _found(config: Config, redactor: Redactor) -> SettingsPage:
    connected = [(agent, is_connected(agent, home=config.home)) for agent in AGENTS]
    return SettingsPage(settings(config, redactor), quick_checks(config), places(config), connected)


def _checks_table(checks: list[Check], redactor: Redactor) -> Table:
    rows = [
        (
            TableCell(one.ok, shown="ok" if one.ok else "wrong", tone="ok" if one.ok else "failed"),
            TableCell(one.name),
            TableCell(redactor.text(one.finding)),
        )
        for one in checks
    ]
    return Table(
        name="checks",
        title="Checks",
        columns=_CHECKS,
        rows=rows,
        empty="Nothing was checked.",
        note="The same as `seasoned doctor`.",
    )


def _settings_table(found: list[Setting], redactor: Redactor) -> Table:
    rows = [(TableCell(one.name), _value(one.value, redactor), TableCell(one.origin)) for one in found]
    return Table(
        name="settings",
        title="Settings in force",
        columns=_SETTINGS,
        rows=rows,
        empty="No settings.",
        note="The same as `seasoned config show`. Secrets are never part of it.",
    )


def _value(value: Any, redactor: Redactor) -> TableCell:
    if isinstance(value, bool):
        return TableCell(value, shown="yes" if value else "no")
    if value is None or isinstance(value, (int, float)):
        return TableCell(value)
    if isinstance(value, list):
        return TableCell(redactor.text(", ".join(str(msgspec.to_builtins(each)) for each in value)) or None)
    # A path is not redacted: a long folder name can look like a secret.
    return TableCell(str(value) if isinstance(value, Path) else redactor.text(str(value)))


def _connected_table(found: list[tuple[str, bool]]) -> Table:
    rows = [
        (
            TableCell(agent),
            TableCell(is_there, shown="connected" if is_there else "not connected", tone="ok" if is_there else "quiet"),
            TableCell(f"seasoned connect {agent} --undo" if is_there else f"seasoned connect {agent}"),
        )
        for agent, is_there in found
    ]
    return Table(
        name="connected",
        title="Agents",
        columns=_CONNECTED,
        rows=rows,
        empty="No agent can be connected.",
        note="Sessions of a connected agent start warm, ask before risky actions and are reviewed. "
        "Connecting shows every change first.",
    )


def _places_table(found: list[tuple[str, Path, bool]]) -> Table:
    rows = [
        (
            TableCell(what),
            TableCell(str(path)),
            TableCell(is_there, shown="there" if is_there else "not yet", tone="" if is_there else "quiet"),
        )
        for what, path, is_there in found
    ]
    return Table(name="places", title="Files and folders", columns=_PLACES, rows=rows, empty="None.")
