"""Opens the confirmation book of this machine, and builds the service that serves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from seasoned.app.extras import BOOK, SERVER, require
from seasoned.app.stores import kept_secrecy, shared_database
from seasoned.config import Config, first_version_settings, load
from seasoned.errors import CannotDo, UsageError
from seasoned.history.readonly import open_readonly
from seasoned.store import open_database

if TYPE_CHECKING:
    from seasoned.confirm.policy import Listen
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.service import ConfirmService

# Shows a prompt and returns what was typed.
Ask = Callable[[str], str]


class FirstVersionOptions(NamedTuple):
    """Options of the first version's service."""

    database_file: Path | None = None
    rate_limit: int | None = None


NO_OPTIONS = FirstVersionOptions()


class ListenOptions(NamedTuple):
    """Where to listen; what is None comes from the policy."""

    host: str | None
    port: int | None
    socket: Path | None
    tls_certificate: Path | None
    tls_key: Path | None
    allow_plain: bool
    policy_file: Path | None


def require_book() -> None:
    """Raise if the libraries of the confirmation book are missing; clients that ask over HTTP need none of them."""
    require("This", "server", *BOOK, otherwise=", or use --url")


def require_server(*more: str) -> None:
    """Raise if the libraries for serving the book, or `more`, are missing."""
    require("This", "server", *BOOK, *SERVER, *more)


@contextmanager
def open_book(config: Config | None = None, *, agreed: bool = False) -> Iterator[Book]:
    """Open the book in this machine's store; with `agreed`, raise unless an admin agreed to the policy file."""
    require_book()
    # Imported after the check above, because these need the libraries of the extra.
    from seasoned.confirm.policy import FILE, check_agreed, load_with_digest
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.request.seal import load_seal

    config = config or load()
    # Durable: a decision that a person has seen as made must survive a crash.
    with shared_database(config, durable=True) as database:
        policy, digest = load_with_digest(config.home / FILE)
        # An agent that runs as the user can edit the policy file, so approving needs the version that an admin agreed
        # to.
        if agreed:
            check_agreed(database, config.home / FILE, digest)
        seal, secrecy = load_seal(config.home), kept_secrecy(config)
        yield Book(database, policy=policy, seal=seal, secrecy=secrecy, clock=time.time)


def has_admin(config: Config, file: Path | None = None) -> bool:
    """Whether an admin exists. Until then, the first to ask could become one."""
    from seasoned.confirm.people.credential import active_admins

    database = open_database(config, file=file)
    try:
        return bool(active_admins(database))
    finally:
        database.close()


def build_service(
    config: Config, options: ListenOptions, first: FirstVersionOptions = NO_OPTIONS
) -> tuple[ConfirmService, Listen]:
    """The service and where it listens: as the policy says, except where the options say otherwise."""
    from seasoned.confirm.service import ConfirmService

    if options.policy_file is not None and not options.policy_file.exists():
        # Falling back to the defaults would ask fewer people than the policy demands.
        raise CannotDo(f"The policy {str(options.policy_file)!r} does not exist. Check the path.")
    if first.database_file is not None:
        _check_own(first.database_file)
    service = ConfirmService(
        config,
        policy_file=options.policy_file,
        database_file=first.database_file,
        rate_limit=first.rate_limit,
        first_version_rate_limit=first_version_settings().rate_limit,
    )
    given: dict[str, Any] = {
        name: value
        for name in ("host", "port", "socket", "tls_certificate", "tls_key")
        if (value := getattr(options, name)) is not None
    }
    # A flag that is not given is False, which must not override the policy.
    if options.allow_plain:
        given["allow_plain"] = True
    return service, msgspec.structs.replace(service.policy.listen, **given)


def first_version_listen(service: ConfirmService) -> Listen | None:
    """Where callers of the first version are answered: as the policy says, and as they told the first version."""
    from seasoned.confirm.policy import Listen, is_loopback

    rule = service.policy.first_version
    if rule is None:
        return None
    given = first_version_settings()
    host = given.host or rule.host
    if host != "localhost" and not is_loopback(host):
        # Callers there have no token, so everyone who reaches the address could ask.
        raise UsageError(f"CONFIRMATION_HOST: {host!r} can be reached from other machines. Set it to 127.0.0.1.")
    return Listen(host=host, port=rule.port if given.port is None else given.port)


def _check_own(file: Path) -> None:
    """Refuse a database that another program made: opening it would add our tables to it."""
    if not file.exists() or not file.stat().st_size:
        return
    with open_readonly(file) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and not version:
        raise UsageError(
            f"{str(file)!r} is not a store of Seasoned. Give a new file; `seasoned adopt` takes over an old audit."
        )
