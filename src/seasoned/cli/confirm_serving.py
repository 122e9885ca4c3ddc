"""`serve` and `confirm serve`: with pages or the service alone, where the policy and the options say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from seasoned.cli.confirm_place import need_server
from seasoned.cli.listening import Wanted
from seasoned.config import Config, load
from seasoned.errors import CannotDo

if TYPE_CHECKING:
    from seasoned.confirm.people.credential import Credential
    from seasoned.confirm.service.listen import ColocatedApp

_FORBIDDEN_TO_BROWSERS = 6000


def has_admin(config: Config) -> bool:
    """Whether somebody can change who may do what; until then whoever comes first could become that."""
    from seasoned.confirm.people.credential import active_admins
    from seasoned.store import open_database

    database = open_database(config)
    try:
        return bool(active_admins(database))
    finally:
        database.close()


def run_service(
    wanted: Wanted,
    *,
    has_pages: bool = False,
    guest: Credential | None = None,
    reads: bool = False,
    histories: Path | None = None,
    beside: ColocatedApp | None = None,
) -> None:
    """Serve until interrupted, and say where; with a link that logs the guest in, or one that lets people read.

    `histories` is a store whose sessions are shown in the stead of the user's own.
    """
    need_server("fastapi", "uvicorn", "httpx2", "prometheus_client", *(["jinja2"] if has_pages else []))
    from seasoned.confirm.service import ConfirmService, create_app, serve

    config = load()
    if wanted.policy_file is not None and not wanted.policy_file.exists():
        # The defaults in its stead would ask for fewer people than somebody laid down.
        raise CannotDo(f"The policy {str(wanted.policy_file)!r} does not exist: check the path.")
    service = ConfirmService(config, policy_file=wanted.policy_file)
    policy = service.policy
    given = {
        name: value
        for name in ("host", "port", "socket", "tls_certificate", "tls_key")
        if (value := getattr(wanted, name)) is not None
    }
    listen = msgspec.structs.replace(policy.listen, **given)
    if wanted.allow_plain:
        listen = msgspec.structs.replace(listen, allow_plain=True)
    if has_pages := has_pages and listen.port != _FORBIDDEN_TO_BROWSERS:
        from seasoned.web.app import create_web

        app = create_web(service, histories=histories)
    else:
        app = create_app(service)

    def ready(addresses: Sequence[str]) -> None:
        for address in addresses:
            click.echo(f"Listening on {address}")
        if has_pages and guest is not None:
            link = f"{service.base_url}/login/{app.state.visits.invite(guest)}"
            click.echo(f"Log in as {guest.name}, once, within ten minutes: {link}")
        elif has_pages and reads:
            click.echo(f"Look at it: {service.base_url}/login/{app.state.visits.invite_onlooker()}")
        elif has_pages:
            click.echo(f"Log in with an approver's token: {service.base_url}/login")
        if beside is not None:
            click.echo(f"OPENAI_BASE_URL={addresses[0]}/v1  ANTHROPIC_BASE_URL={addresses[0]}")
        if (told := policy.gives_up()) is not None:
            click.echo(told, err=True)
        if not has_admin(config):
            click.echo(
                "There is no admin yet: `seasoned confirm token make NAME --role admin`, before agents run.", err=True
            )
        if listen.port == _FORBIDDEN_TO_BROWSERS:
            click.echo("Browsers refuse port 6000: there is no page here, only the service.", err=True)

    serve(app, service, listen, ready=ready, beside=beside)
