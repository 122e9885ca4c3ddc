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
from seasoned.config import Config, load
from seasoned.errors import CannotDo

if TYPE_CHECKING:
    from seasoned.confirm.policy import Listen
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.service import ConfirmService

# Shows a prompt and returns what was typed.
Ask = Callable[[str], str]


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


def has_admin(config: Config) -> bool:
    """Whether an admin exists. Until then, the first to ask could become one."""
    from seasoned.confirm.people.credential import active_admins

    with shared_database(config) as database:
        return bool(active_admins(database))


def build_service(config: Config, options: ListenOptions) -> tuple[ConfirmService, Listen]:
    """The service and where it listens: as the policy says, except where the options say otherwise."""
    from seasoned.confirm.service import ConfirmService

    if options.policy_file is not None and not options.policy_file.exists():
        # Falling back to the defaults would ask fewer people than the policy demands.
        raise CannotDo(f"The policy {str(options.policy_file)!r} does not exist. Check the path.")
    service = ConfirmService(config, policy_file=options.policy_file)
    given: dict[str, Any] = {
        name: value
        for name in ("host", "port", "socket", "tls_certificate", "tls_key")
        if (value := getattr(options, name)) is not None
    }
    # A flag that is not given is False, which must not override the policy.
    if options.allow_plain:
        given["allow_plain"] = True
    return service, msgspec.structs.replace(service.policy.listen, **given)
