"""Carries out changes of who may do what, each proven by an admin's passphrase that is typed."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import msgspec

from seasoned.app.confirm import open_book
from seasoned.cli.confirm.passphrase import ask_new_passphrase, ask_passphrase, read_token
from seasoned.cli.confirm.request import named
from seasoned.cli.output import print_json, printable, table, when
from seasoned.config import load
from seasoned.confirm.people.change import (
    AddAllowed,
    ByPassphrase,
    Change,
    ChangeResult,
    MakeCredential,
    RemoveAllowed,
    ReplacePolicy,
    RevokeCredential,
    first_admin,
    policy_change,
)
from seasoned.confirm.people.credential import Credential, active_admins, authenticate, credentials, find, revoke
from seasoned.confirm.people.credential import make as make_credential
from seasoned.confirm.policy import FILE, load_policy, policy_bytes, read_policy
from seasoned.confirm.request.book import Book
from seasoned.errors import CannotDo, Unauthorised, UsageError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d{1,6})([smhd])")


def make_token(name: str, role: str, *, person: str | None, out: Path | None, admin: str | None, as_json: bool) -> None:
    """A new credential: agents' at once, the first admin's with a new passphrase, all others by an admin."""
    if out is not None and out.exists():
        raise UsageError(f"{str(out)!r} is there already: name another file, or remove it.")
    with open_book() as book:
        now = book.clock()
        is_first = role == "admin" and not active_admins(book.database)
        if person is None and (role == "agent" or is_first):
            person = user_name()
        if role == "agent":
            made, token = make_credential(book.database, name, "agent", now=now, person=person)
        elif is_first:
            if not as_json:
                click.echo("This is the first admin. Choose a passphrase that no file holds; four words or more.")
            passphrase = ask_new_passphrase(name)
            digest = sha256(policy_bytes(load().home / FILE)).hexdigest()
            made, token = first_admin(book.database, name, passphrase, now=now, person=person, policy_sha256=digest)
        else:
            change = MakeCredential(name=name, role=role, person=person or name)  # type: ignore[arg-type]
            changed = _change(book, change, admin)
            assert changed.credential is not None
            assert changed.token is not None
            made, token = changed.credential, changed.token
        warning = _alone(book, made)
    if out is not None:
        _write_secret(out, token)
    shown = None if out is not None else token
    if warning is not None:
        click.echo(warning, err=True)
    if as_json:
        print_json("confirm-token", {**_credential(made), "token": shown, "file": None if out is None else str(out)})
        return
    click.echo(
        f"{made.name} is an {made.role} now. "
        + (f"Its token is in {out}." if shown is None else "Its token, shown this once:")
    )
    if shown is not None:
        click.echo(shown)


def _alone(book: Book, made: Credential) -> str | None:
    """What to do where nobody may decide about an agent, because every approver is the agent's own person."""
    known = [one for one in credentials(book.database) if one.revoked_at is None]
    deciding = {one.person for one in known if one.role != "agent"}
    own = [one.name for one in known if one.role == "agent" and deciding == {one.person}]
    if book.policy.single_operator or not own or made.person not in deciding:
        return None
    return (
        f"Nobody may approve what {', '.join(own)} asks for: every approver belongs to {made.person!r} too. Make an"
        f" approver of another person, or put `single_operator = true` into a policy, which gives that second look up:"
        f" `seasoned confirm policy use FILE`."
    )


def user_name() -> str:
    """The user of the operating system who runs this, whatever the environment says."""
    try:
        import pwd
    except ImportError:
        import getpass

        return getpass.getuser()
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user-{os.getuid()}"


def print_tokens(*, as_json: bool) -> None:
    """Every credential."""
    with open_book() as book:
        found = credentials(book.database)
    if as_json:
        print_json("confirm-tokens", {"count": len(found), "credentials": [_credential(one) for one in found]})
        return
    rows = [(one.name, one.role, one.person, when(one.created_at), when(one.revoked_at)) for one in found]
    table(["name", "role", "person", "made", "revoked"], rows, whole=["name"])


def revoke_token(name: str, *, admin: str | None, as_json: bool) -> None:
    """End a credential; an agent's needs nobody's word, for it takes rights away and gives none."""
    with open_book() as book:
        if find(book.database, name).role == "agent":
            ended = revoke(book.database, name, by="system:terminal", now=book.clock())
        else:
            changed = _change(book, RevokeCredential(name=name), admin)
            assert changed.credential is not None
            ended = changed.credential
    if as_json:
        print_json("confirm-credential", _credential(ended))
    else:
        click.echo(f"{ended.name} is revoked since {when(ended.revoked_at)}.")


def add_allowed(action: str, *, session: str | None, duration: str | None, admin: str | None, as_json: bool) -> None:
    """Let an action through without a person."""
    from seasoned.confirm.request.allow_list import check_allowable

    # Before anybody types a passphrase for what can never be.
    check_allowable(action)
    seconds = None if duration is None else _seconds(duration)
    with open_book() as book:
        expires_at = None if seconds is None else book.clock() + seconds
        changed = _change(book, AddAllowed(action=action, session_key=session, expires_at=expires_at), admin)
    _tell_allowed(changed, "is allowed", as_json=as_json)


def remove_allowed(allowed_id: str, *, admin: str | None, as_json: bool) -> None:
    """Take something off the stored list."""
    with open_book() as book:
        changed = _change(book, RemoveAllowed(id=allowed_id), admin)
    _tell_allowed(changed, "is no longer allowed", as_json=as_json)


def print_allowed(*, as_json: bool) -> None:
    """What needs no person, and who said so."""
    from seasoned.confirm.request.allow_list import allow_list

    with open_book() as book:
        found: list[dict[str, Any]] = [msgspec.to_builtins(one) for one in allow_list(book.database)]
        for rule in book.policy.allow:
            ends = None if rule.expires is None else rule.expires.timestamp()
            one = {"id": None, "action": rule.action, "session_key": rule.session, "expires_at": ends}
            found.append({**one, "created_at": None, "created_by": "policy.toml"})
    if as_json:
        print_json("confirm-allowed", {"count": len(found), "allowed": found})
        return
    if not found:
        click.echo("Nothing is allowed: a person decides about everything.")
        return
    rows = [
        (one["action"], one["session_key"] or "all", when(one["expires_at"]), one["created_by"], one["id"])
        for one in found
    ]
    table(["action", "session", "until", "by", "id"], rows, whole=["id"])


def change_passphrase(name: str, *, token_file: Path | None) -> None:
    """Another passphrase, for one who has just proven who they are."""
    from seasoned.confirm.people.passphrase import authenticate_passphrase, set_passphrase

    with open_book() as book:
        now = book.clock()
        if token_file is not None:
            who = authenticate(book.database, read_token(token_file), now=now)
            if who.name != name:
                raise Unauthorised(f"The token is that of {who.name!r}, not of {name!r}: nothing was changed.")
        else:
            typed = ask_passphrase(f"Old passphrase of {name}: ")
            who = authenticate_passphrase(book.database, name, typed, now=now)
        set_passphrase(book.database, who, ask_new_passphrase(name), now=now)
    click.echo(f"{name} has a new passphrase.")


def check_policy(file: Path | None, *, as_json: bool) -> None:
    """What a policy lays down."""
    from seasoned.command.action import HIGH_RISK

    place = file or load().home / FILE
    if file is not None and not file.exists():
        raise CannotDo(f"{str(file)!r} does not exist: check the path.")
    found = load_policy(place)
    if as_json:
        plain = msgspec.to_builtins(found, enc_hook=str)
        print_json("confirm-policy", {"file": str(place), "exists": place.exists(), "policy": plain})
        return
    click.echo(f"{place} is a valid policy." if place.exists() else f"There is no {place}: the defaults hold.")
    rate = f"{found.rate.count} requests of an action in {found.rate.window_seconds:g} s"
    click.echo(f"A request waits {found.timeout.default_seconds:g} s for a person; at most {rate}.")
    click.echo(f"Allowed without a person: {', '.join(rule.action for rule in found.allow) or 'nothing'}.")
    click.echo(f"Channels: {', '.join(found.channels) or 'none'}.")
    click.echo(f"Always needs a person: {', '.join(sorted(HIGH_RISK))}.")
    if (told := found.gives_up()) is not None:
        click.echo(told)


def use_policy(file: Path, *, summary: str, admin: str | None, as_json: bool) -> None:
    """Put a policy file into force: checked, agreed to, audited, and then written."""
    config = load()
    target = config.home / FILE
    try:
        data = file.read_bytes()
        read_policy(data.decode("utf-8"), file=target)
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(file)!r} is no text in UTF-8: mend it.") from error
    digest = sha256(data).hexdigest()
    with open_book() as book:
        changed = _change(book, ReplacePolicy(sha256=digest, summary=summary or f"from {file.name}"), admin)
        _replace(target, data)
    if as_json:
        print_json("confirm-policy-used", {"file": str(target), "sha256": digest, "by": changed.by})
    else:
        click.echo(f"{target} is in force; a running service takes it up by itself.")
        if (told := read_policy(data.decode("utf-8"), file=target).gives_up()) is not None:
            click.echo(told)


def _change(book: Book, change: Change, admin: str | None) -> ChangeResult:
    name = named(book.database, admin, ("admin",))
    passphrase = ask_passphrase(f"Passphrase of {name} to change who may do what: ")
    return policy_change(book, change, authority=ByPassphrase(name, passphrase))


def _tell_allowed(changed: ChangeResult, what: str, *, as_json: bool) -> None:
    assert changed.allowed is not None
    if as_json:
        print_json("confirm-allow", msgspec.to_builtins(changed.allowed))
        return
    one = changed.allowed
    where = "in all sessions" if one.session_key is None else f"in session {printable(one.session_key)}"
    until = "" if one.expires_at is None else f" until {when(one.expires_at)}"
    click.echo(f"{one.action} {what} {where}{until} ({one.id}).")


def _credential(one: Credential) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(one)
    return found


def _seconds(duration: str) -> float:
    found = _DURATION.fullmatch(duration.strip())
    if found is None or int(found[1]) == 0:
        raise UsageError(f"{duration!r} is no length of time: write 90m, 8h or 7d.")
    return float(int(found[1]) * _UNITS[found[2]])


def _write_secret(file: Path, text: str) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(text + "\n")
    except OSError as error:
        raise CannotDo(
            f"The token cannot be written to {str(file)!r} ({error.strerror}), and is lost: revoke it and make another."
        ) from error


def _replace(file: Path, data: bytes) -> None:
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    # Whatever stands there under this name is not written through, a link least of all.
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)
