"""Opens the confirmation book of this machine, builds its service, and keeps it when a backup is restored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from seasoned.app.stores import kept_secrecy, shared_database
from seasoned.atomic_write import make_private_folder
from seasoned.config import Config, load
from seasoned.confirm.request.request import SERVICE_LOCK
from seasoned.errors import CannotDo, UsageError
from seasoned.file_lock import locked
from seasoned.store import Database, Store, open_database
from seasoned.store.backup import carry_confirmations
from seasoned.store.backup import restore as restore_store

if TYPE_CHECKING:
    from seasoned.confirm.policy import Listen
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.service import ConfirmService


class ListenOptions(NamedTuple):
    """Where to listen; what is None comes from the policy."""

    host: str | None
    port: int | None
    tls_certificate: Path | None
    tls_key: Path | None
    allow_plain: bool
    policy_file: Path | None
    public_url: str | None = None


@contextmanager
def open_book(config: Config | None = None, *, agreed: bool = False) -> Iterator[Book]:
    """Open the book in this machine's store; with `agreed`, raise unless an admin agreed to the policy file."""
    # Imported here: clients that ask over HTTP need none of this.
    from seasoned.confirm.policy import FILE, check_agreed, load_with_digest
    from seasoned.confirm.request.book import Book
    from seasoned.confirm.request.row import load_seal

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

    database = open_database(config)
    try:
        return bool(active_admins(database))
    finally:
        database.close()


def build_service(config: Config, options: ListenOptions) -> tuple[ConfirmService, Listen]:
    """The service and where it listens: as the policy says, except where the options say otherwise."""
    from seasoned.confirm.service import ConfirmService

    if options.policy_file is not None and not options.policy_file.exists():
        # Falling back to the defaults would ask fewer people than the policy demands.
        raise CannotDo(f"The policy {str(options.policy_file)!r} does not exist. Check the path.")
    if options.public_url is not None and not options.public_url.startswith(("https://", "http://")):
        raise UsageError(f"--public-url: write https://HOST, not {options.public_url!r}.")
    service = ConfirmService(config, policy_file=options.policy_file, base_url=options.public_url)
    given: dict[str, Any] = {
        name: value
        for name in ("host", "port", "tls_certificate", "tls_key")
        if (value := getattr(options, name)) is not None
    }
    # A flag that is not given is False, which must not override the policy.
    if options.allow_plain:
        given["allow_plain"] = True
    return service, msgspec.structs.replace(service.policy.listen, **given)


def restore_backup(
    config: Config, backup: Path, *, ask: Callable[[str], str], clock: Callable[[], float]
) -> Path | None:
    """Replace the store by a backup; returns where the present one is kept. CannotDo while a service runs.

    Confirmations of the present store stay, so that no request comes back to life.
    """
    # On a new machine the home folder does not exist yet.
    make_private_folder(config.home)

    def settle(present: Store | None, restored: Store) -> None:
        if config.database_url is not None:
            # Confirmations stay in the shared database, but its admin must still agree.
            with shared_database(config, durable=True) as database:
                _prove(database, backup, ask=ask, now=clock())
            return
        if present is not None and _is_newer(present, restored, backup):
            _prove(present, backup, ask=ask, now=clock())
            carry_confirmations(present, restored)
        else:
            _prove(restored, backup, ask=ask, now=clock())

    with _without_service(config.home / SERVICE_LOCK):
        return restore_store(backup, config.store_path, settle=settle)


def _is_newer(present: Store, restored: Store, backup: Path) -> bool:
    """Whether the present audit continues that of the backup; CannotDo if neither continues the other."""
    here, there = _head(present), _head(restored)
    if there[0] == 0 or _contains(present, there):
        return here[0] > 0
    if here[0] == 0 or _contains(restored, here):
        return False
    raise CannotDo(
        f"The audit in {str(backup)!r} is not that of the present store, so one of them would be lost. Move the "
        "present store away first."
    )


def _prove(database: Database, backup: Path, *, ask: Callable[[str], str], now: float) -> None:
    """Let an admin of this database sign for the restored backup; nothing is asked where there is none."""
    admins = database.row("confirm.active_admins")
    if admins is None or not admins["count"]:
        return
    # Only here: a store without people can be restored without the libraries of the confirmation book.
    from seasoned.app.people import prove
    from seasoned.confirm.audit.chain import writing

    who = prove(database, None, ask, "restore a backup", now=now, roles=("admin",))
    with writing(database) as chain:
        facts = {"sha256": sha256(backup.read_bytes()).hexdigest()}
        chain.append("restored", facts, at=now, actor=who.name, signer=who.key)


@contextmanager
def _without_service(lock: Path) -> Iterator[None]:
    """Keep services from starting; CannotDo if one runs."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(lock, wait_seconds=0.0))
        except CannotDo as error:
            raise CannotDo("A service uses this store. Stop it, restore the backup, and start it again.") from error
        yield


def _head(store: Store) -> tuple[int, str]:
    row = store.row("confirm.head")
    return (0, "") if row is None else (int(row["seq"]), str(row["hash"]))


def _contains(store: Store, head: tuple[int, str]) -> bool:
    row = store.row("confirm.audit_row", {"seq": head[0]})
    return row is not None and row["hash"] == head[1]
