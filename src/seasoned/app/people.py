"""Who may do what: credentials, passphrases and the policy, each change proven and audited.

Passphrases are asked for through the functions that callers pass in, so that no rule here knows a terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from seasoned.atomic_write import make_private_folder, write_atomic
from seasoned.config import Config
from seasoned.confirm.audit.chain import writing
from seasoned.confirm.people.change import (
    first_admin,
    make_credential,
    replace_policy,
    revoke_credential,
)
from seasoned.confirm.people.credential import (
    TERMINAL,
    Credential,
    Proof,
    Role,
    UnlockedCredential,
    active_admins,
    authenticate_passphrase,
    credentials,
    find,
    revoke,
    set_passphrase,
)
from seasoned.confirm.people.credential import make as make_credential_in
from seasoned.confirm.policy import FILE, policy_bytes, read_policy
from seasoned.confirm.request.book import Book
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.store import Database

# Shows a prompt and returns what was typed.
Ask = Callable[[str], str]
DECIDING: tuple[Role, ...] = ("approver", "admin")
_ALONE = b"# You alone decide what your own agents ask for, without a second person.\nsingle_operator = true\n"


def user_name() -> str:
    """The operating system's name for this user; environment variables are ignored."""
    try:
        # Not getpass.getuser, which believes the environment variable USER: an agent could set it to another name.
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except ImportError:
        return os.getlogin()
    except KeyError:
        # In containers a user often has a number and no name.
        return f"user-{os.getuid()}"


def pick_name(database: Database, name: str | None, roles: tuple[Role, ...] = DECIDING) -> str:
    """The credential to act as: the one named, or the only one with such a role."""
    if name is not None:
        return name
    found = [one.name for one in credentials(database) if one.role in roles and one.revoked_at is None]
    if not found:
        raise NotFound("There is no admin yet. Make one: `seasoned confirm token make NAME --role admin`.")
    if len(found) > 1:
        raise UsageError(f"Say who you are with --as: {', '.join(found)}.")
    return found[0]


def prove(
    database: Database, name: str | None, ask: Ask, purpose: str, *, now: float, roles: tuple[Role, ...] = DECIDING
) -> UnlockedCredential:
    """The person whom a typed passphrase proves, with their key. `purpose` is what the prompt says it is for."""
    # Asked for after the name is settled, so that no passphrase is typed for nothing.
    who = pick_name(database, name, roles)
    return authenticate_passphrase(database, who, ask(f"Passphrase of {who} to {purpose}: "), now=now)


def prove_admin(book: Book, name: str | None, ask: Ask) -> UnlockedCredential:
    """The admin who changes permissions."""
    return prove(book.database, name, ask, "change who may do what", now=book.clock(), roles=("admin",))


def make(
    config: Config, book: Book, name: str, role: Role, *, person: str | None, admin: str | None, ask: Ask, ask_new: Ask
) -> tuple[Credential, str, str | None]:
    """Make a credential: the first admin's with a new passphrase, an agent's by its person, others by an admin.

    Returns it with its token, and with a warning where no one could decide about it.
    """
    now = book.clock()
    if role == "agent" and not deciders(book):
        # There is no one to prove it yet; the first admin takes over what is there.
        with writing(book.database) as chain:
            made, token = make_credential_in(
                chain, name, role, now=now, person=person or user_name(), proof=Proof(TERMINAL)
            )
    elif role == "agent":
        # Of the person who types their passphrase: the person never approves for it alone.
        by = prove(book.database, admin, ask, "make a token for an agent", now=now)
        made, token = make_credential(book, by, name, role, person or by.person)
    elif role == "admin" and not active_admins(book.database):
        # There is no one to ask for proof; first_admin checks this again inside its transaction.
        passphrase = ask_new(name)
        # The first admin agrees to the policy as it is now. Any later change of the file needs a passphrase.
        digest = sha256(policy_bytes(config.home / FILE)).hexdigest()
        owner = person or user_name()
        made, token = first_admin(book.database, name, passphrase, now=now, person=owner, policy_sha256=digest)
    else:
        made, token = make_credential(book, prove_admin(book, admin, ask), name, role, person or name)
    return made, token, _warn_no_approver(book, made)


def decide_alone(config: Config, role: Role) -> None:
    """Write the policy of one person who decides about their own agents, before they become the first admin."""
    policy = config.home / FILE
    if role == "admin" and policy_bytes(policy) == _ALONE:
        return
    if role != "admin" or policy.exists():
        raise UsageError(
            "--alone is for the first admin, before there is a policy. Later: put `single_operator = true` into a file,"
            " and run `seasoned confirm policy FILE --use`."
        )
    make_private_folder(config.home)
    with os.fdopen(os.open(policy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(_ALONE)


def give_agents_token(config: Config, book: Book, owner: Credential) -> None:
    """Make a credential with which the agents of a person who has just become the first admin may ask."""
    file = config.home / "secrets" / "confirm_token"
    if isinstance(owner, UnlockedCredential) and not file.exists():
        _, token = make_credential(book, owner, f"{owner.name[:50]}-agents", "agent", owner.person)
        write_token(file, token)


def set_new_passphrase(book: Book, name: str, *, admin: str | None, ask: Ask, ask_new: Ask) -> None:
    """Set a passphrase: proven by the old one, or by an admin where there is none or it was forgotten."""
    who = find(book.database, name)
    row = book.database.row("confirm.credential", {"id": who.id})
    has_one = row is not None and row["public_key"] is not None
    if has_one and admin is None:
        by = prove(book.database, name, ask, "set a new one", now=book.clock())
    else:
        by = prove(book.database, admin, ask, f"give {name} a new one", now=book.clock(), roles=("admin",))
    # The new one is asked for last, once it is clear that it may be set.
    set_passphrase(book.database, who, ask_new(name), by=by, now=book.clock())


def _warn_no_approver(book: Book, made: Credential) -> str | None:
    """A warning where every approver belongs to the same person as the agent, and so may not decide about it."""
    # A person never decides about their own agents, so an agent is stuck if all who decide are its owner.
    known = [one for one in credentials(book.database) if one.revoked_at is None]
    deciding = {one.person for one in known if one.role != "agent"}
    own = [one.name for one in known if one.role == "agent" and deciding == {one.person}]
    if book.policy.single_operator or not own or made.person not in deciding:
        return None
    return (
        f"No one can approve what {', '.join(own)} asks for: every approver also belongs to {made.person!r}. Make an"
        " approver for another person, or put `single_operator = true` into a policy, which gives up the second pair"
        " of eyes: `seasoned confirm policy FILE --use`."
    )


def end(book: Book, name: str, *, admin: str | None, ask: Ask) -> Credential:
    """Revoke a credential. For an agent's no passphrase is needed, because that only takes rights away."""
    if find(book.database, name).role == "agent":
        with writing(book.database) as chain:
            return revoke(chain, name, proof=Proof(TERMINAL), now=book.clock())
    return revoke_credential(book, prove_admin(book, admin, ask), name)


def use_policy(config: Config, book: Book, file: Path, *, summary: str, admin: str | None, ask: Ask) -> tuple[str, str]:
    """Put a policy file into force: checked, agreed to, audited, and then written. Returns by whom, and its digest."""
    target = config.home / FILE
    try:
        data = file.read_bytes()
        policy = read_policy(data.decode("utf-8"), file=target)
    except OSError as error:
        raise CannotDo(f"{str(file)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(file)!r} is not valid UTF-8. Fix it and try again.") from error
    for place, name in policy.listed_people():
        if name not in deciders(book):
            raise UsageError(
                f"{str(file)!r}: {place}: {name!r} may not decide. Make `seasoned confirm token make {name} --role"
                " approver` first, or remove the name."
            )
    digest = sha256(data).hexdigest()
    # Agreed and audited before it is written: after a crash in between, the old file is refused and not trusted.
    who = prove_admin(book, admin, ask)
    replace_policy(book, who, sha256=digest, summary=summary or f"from {file.name}")
    write_atomic(target, data, unfinished=config.home / "unfinished")
    return who.name, digest


def write_token(file: Path, token: str) -> None:
    """Write a token into a new file that only its owner can read."""
    try:
        # O_EXCL below: neither an existing file nor a link that someone placed there is ever written to.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as out:
            out.write(token + "\n")
    except OSError as error:
        raise CannotDo(
            f"The token cannot be written to {str(file)!r} ({error.strerror}) and is lost. Revoke it and make another."
        ) from error


def deciders(book: Book) -> list[str]:
    """The names of everyone who may decide."""
    return [one.name for one in credentials(book.database) if one.role in DECIDING and one.revoked_at is None]
