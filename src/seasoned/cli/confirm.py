"""`confirm`: ask a person, decide, and read what happened."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import click
import msgspec

from seasoned.app.confirm import ListenOptions, open_book
from seasoned.cli.confirm_people import allow, ask_passphrase, passphrase, policy, service_client, token
from seasoned.cli.options import Commands, file_type, json_option, wants_json
from seasoned.cli.output import answered, console, printable, say, table, when
from seasoned.cli.serve import listen_options, run_service
from seasoned.command.action import action_words
from seasoned.confirm.client import ConfirmClient, RequestView, check_approved, configured_client
from seasoned.confirm.request.request import NewRequest, request_digest
from seasoned.errors import CannotDo, NotFound, UsageError
from seasoned.text import plural

if TYPE_CHECKING:
    from seasoned.confirm.request.book import Book


_STATUSES = click.Choice(["pending", "approved", "denied", "expired", "auto_approved"])
# Requests expire after an hour at most; a little more, so that the wait ends with that answer.
_LONGEST_SECONDS = 3700.0
_id_argument = click.argument("request_id", metavar="ID")
_limit_option = click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, 500), help="List at most this many."
)


def _with_service(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the service that the user names, as `client`; None if they name none."""

    @wraps(command)
    def called(url: str | None, token_file: Path | None, **given: Any) -> None:
        named = url is not None or token_file is not None
        command(client=service_client(url, token_file) if named else None, **given)

    url_help = (
        "The service, with the token in --token-file or typed in. Default: `confirm_url`, or this machine's store."
    )
    option = click.option("--token-file", type=file_type, help="The file that holds the token.")(called)
    return click.option("--url", help=url_help)(option)


@click.group(cls=Commands)
def confirm() -> None:
    """Ask a person before risky actions.

    An agent submits an action and waits until a person agrees to exactly that. An agent that runs as you can run every
    command that you can, so deciding at the terminal asks for a passphrase that no file holds. Or decide from
    elsewhere: on the page, on a phone, as another user.
    """


@confirm.command()
@listen_options
def serve(options: ListenOptions) -> None:
    """Run the confirmation service alone.

    It runs until interrupted.

    \b
    Example: seasoned confirm serve --port 7400
    """
    run_service(options)


@confirm.command()
@click.argument("action")
@click.argument("description")
@click.option("--details", default="{}", metavar="JSON|@FILE|-", help="The exact arguments, as a JSON object.")
@click.option("--timeout", "timeout_seconds", type=float, metavar="SECONDS", help="Expire after 30 to 3600 seconds.")
@click.option("--redeem", "redeems", is_flag=True, help="Wait, and use up the approval: do the thing right after.")
@_with_service
@json_option
def submit(details: str, redeems: bool, client: ConfirmClient | None, **fields: Any) -> None:
    """Ask a person to approve an action.

    Needs an agent's token.

    \b
    Example: seasoned confirm submit delete_data "Delete last year's logs" --details '{"path": "/srv/logs/2025"}'
    Example: seasoned confirm submit delete_data "Delete the logs" --redeem && rm -r /srv/logs/2025
    """
    client = client or configured_client()
    # The same value is submitted and digested below, so both are about the same action.
    request = NewRequest(details=_read_details(details), label="terminal", **fields)
    seen = client.submit(request)
    if not redeems:
        if not answered("confirm-submitted", _known(seen)):
            say(f"{seen.id}  {seen.status}")
        return
    if not wants_json() and seen.status == "pending":
        say(f"Waiting for a person: `seasoned confirm approve {seen.id}` or deny.", err=True)
    seen = client.wait(seen.id, _LONGEST_SECONDS)
    if seen.is_approved:
        # The digest is of what was asked for here: an approval of anything else does not redeem.
        grant = client.redeem(seen.id, request_digest(request, seen.requester or ""))
        seen = msgspec.structs.replace(seen, redeemed_at=grant.redeemed_at)
    _print_decision(seen)


def _read_details(text: str) -> dict[str, Any]:
    """The details: written out, from a file (`@path`), or from stdin (`-`)."""
    try:
        # A file or stdin for long arguments, and for those that other users should not see in the list of processes.
        data = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).read_bytes() if text[:1] == "@" else text
    except OSError as error:
        raise CannotDo(f"{text[1:]!r} cannot be read: {error.strerror or error}.") from error
    try:
        found = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f'--details is not valid JSON ({error}). Write for instance \'{{"path": "/srv/logs"}}\'.'
        ) from error
    if not isinstance(found, dict):
        raise UsageError("--details must be a JSON object: names with values.")
    return found


def _print_decision(seen: RequestView) -> None:
    if answered("confirm-request", _known(seen)):
        # The answer was given, so the JSON is complete; only the exit code says no.
        if not seen.is_approved:
            raise click.exceptions.Exit(1)
        return
    # Raises for everything but an approval, so that `… --redeem && command` is safe.
    check_approved(seen)
    say(_line(seen) + (", and redeemed: do it now" if seen.redeemed_at is not None else ""))


def _known(seen: RequestView) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(seen).items() if value is not None}


def _add_decision(verb: str, summary: str, reason: str) -> None:
    """Add the command that approves, or the one that denies."""
    approves = verb == "approve"
    example = f'Example: seasoned confirm {verb} 6sXlJ0bVQ8OJkq2m9Yd3Zw --reason "{reason}"'

    @confirm.command(verb, help=f"{summary}\n\nAsks for your passphrase.\n\n\b\n{example}")
    @_id_argument
    @click.option("--reason", default="", help="Why; it is kept, and shown to the agent.")
    @click.option("--as", "name", metavar="NAME", help="Your credential; needed if there are several.")
    @_with_service
    @json_option
    def decide(request_id: str, reason: str, name: str | None, client: ConfirmClient | None) -> None:
        # A request is always shown before the decision: a person decides about exact arguments and not about an id.
        decided: Any
        votes = ""
        if client is not None:
            if not wants_json():
                print_request(client.read_request(request_id))
            typed = ask_passphrase(f"Passphrase to {verb} it: ")
            decided = client.decide(request_id, approve=approves, passphrase=typed, reason=reason)
        else:
            # Denying is always possible; approving only under a policy that an admin agreed to.
            with open_book(agreed=approves) as book:
                from seasoned.app.people import pick_name, prove

                name = pick_name(book.database, name)
                request = stored_request(book, request_id)
                if not wants_json():
                    print_request(request)
                person = prove(book.database, name, ask_passphrase, f"{verb} it", now=book.clock())
                decided = book.decide(person, request_id, approve=approves, reason=reason, via="terminal")
            # With a quorum above one, a request stays pending after a vote.
            given = sum(one.approve for one in decided.votes)
            votes = f"Your vote is kept: {given} of {plural(decided.quorum, 'approval')}."
        if answered("confirm-decided", {field: getattr(decided, field) for field in _DECIDED}):
            return
        if decided.status == "pending" and votes:
            say(votes)
        else:
            say(_line(decided))


_DECIDED = ("id", "action", "status", "resolved_by")
_add_decision("approve", "Approve a request after seeing its exact arguments.", "checked the backup")
_add_decision("deny", "Deny a request.", "wrong database")


def _line(seen: Any) -> str:
    by = f" by {printable(seen.resolved_by)}" if seen.resolved_by else ""
    return f"{seen.id}  {seen.status}{by}"


@confirm.command("list")
@click.option("--status", type=_STATUSES, help="Only requests with this status.")
@click.option("--unused", is_flag=True, help="Only requests that were approved and never redeemed.")
@_limit_option
@_with_service
@json_option
def list_(status: str | None, unused: bool, limit: int, client: ConfirmClient | None) -> None:
    """List requests, newest first.

    \b
    Example: seasoned confirm list --status pending
    """
    if client is not None:
        asked = {"limit": limit} | ({"status": status} if status else {}) | ({"unused": "true"} if unused else {})
        found = client.read(f"/confirm?{urlencode(asked)}").get("requests", [])
    else:
        with open_book() as book:
            from seasoned.confirm.request.row import request_from_row

            # Nothing expires by itself without a running service; the list must not call old requests pending.
            book.expire_due()
            key = {"requester": None, "status": status, "unused": int(unused), "limit": limit, "before": None}
            stored = book.database.rows("confirm.requests", key)
            found = [msgspec.to_builtins(request_from_row(book.database, one, book.seal)) for one in stored]
    if answered("confirm-requests", {"count": len(found), "requests": found}):
        return
    if not found:
        say("No requests match." if status or unused else "There are no requests yet.")
    else:
        rows = [
            (
                one["id"],
                f"{one['status']}, unused" if one.get("is_unused") else one["status"],
                one["action"],
                " ".join(str(one["description"]).split())[:100],
                one["requester"],
                when(one["created_at"]),
                one["resolved_by"],
            )
            for one in found
        ]
        columns = ["id", "status", "action", "description", "requester", "asked", "decided by"]
        table(columns, rows, nowrap=["id", "status"])


@confirm.command()
@_id_argument
@click.option("--wait", type=click.FloatRange(0, 86400), metavar="SECONDS", help="Wait so long for the decision.")
@_with_service
@json_option
def show(request_id: str, wait: float | None, client: ConfirmClient | None) -> None:
    """Show a request and the votes on it.

    Its arguments are exact while it is pending, and redacted afterwards. With --wait, ask the service, and exit with 1
    unless it is approved.

    \b
    Example: seasoned confirm show 6sXlJ0bVQ8OJkq2m9Yd3Zw --wait 60
    """
    if wait is not None:
        _print_decision((client or configured_client()).wait(request_id, wait))
        return
    if client is not None:
        found = client.read_request(request_id)
    else:
        with open_book() as book:
            book.expire_due()
            found = stored_request(book, request_id)
    if not answered("confirm-request", found):
        print_request(found)


@confirm.command()
@_limit_option
@_with_service
@json_option
def audit(limit: int, client: ConfirmClient | None) -> None:
    """Show what happened, newest first.

    \b
    Example: seasoned confirm audit --limit 20
    """
    if client is not None:
        found = client.read(f"/audit?limit={limit}").get("entries", [])
    else:
        with open_book() as book:
            found = [msgspec.to_builtins(one) for one in book.audit(limit)]
    if not answered("confirm-audit", {"count": len(found), "entries": found}):
        # A service of an older version names neither action nor status.
        fields = ("event", "action", "status", "actor", "via", "request_id")
        rows = [(one["seq"], when(one["at"]), *[one.get(field) for field in fields]) for one in found]
        columns = ["row", "when", "event", "action", "status", "by", "through", "request"]
        table(columns, rows, nowrap=["request"])


@confirm.command()
@click.option("--heads", type=file_type, help="A file of exported heads; the audit must still contain them.")
@click.option("--head", is_flag=True, help="Show the last row instead, to be kept where no agent can write.")
@json_option
def verify(heads: Path | None, head: bool) -> None:
    """Verify that the audit is complete and unchanged.

    Every decision must have the signature of who made it, and requests and credentials must be as the audit says.
    Names the first bad row and whatever was changed, and exits with 1.

    \b
    Example: seasoned confirm verify --heads /mnt/elsewhere/heads.jsonl
    Example: seasoned confirm verify --head --json >> /mnt/elsewhere/heads.jsonl
    """
    with open_book() as book:
        from seasoned.confirm.audit.verify import check_heads, full_head, read_heads
        from seasoned.confirm.audit.verify import verify as verify_audit

        if head:
            last = full_head(book.database, now=time.time())
            # On one line, as `--heads` reads them.
            if not answered("confirm-head", msgspec.to_builtins(last), lines=True):
                say(f"row {last.seq}  {last.hash}")
            return
        found = verify_audit(book.database)
        # Someone who can rewrite the whole store can rewrite its chain too; only a head kept elsewhere shows that.
        exported = read_heads(heads) if heads is not None else []
        # A chain that is broken in itself need not be compared.
        if found.ok and exported:
            found = check_heads(book.database, exported)
    if answered("confirm-verified", {**msgspec.to_builtins(found), "heads": len(exported)}):
        pass
    elif found.ok:
        also = f", and contains {plural(len(exported), 'exported head')}" if exported else ""
        say(f"The audit is complete: {plural(found.rows, 'row')}, each chained to the one before it{also}.")
    else:
        say(f"The audit was changed, first at row {found.first_bad}: {printable(found.reason)}.")
        for more in found.problems[1:]:
            say(f"Also: {printable(more)}.")
    if not found.ok:
        raise click.exceptions.Exit(1)


@confirm.command()
@click.option("--hours", default=12.0, show_default=True, type=click.FloatRange(0.01, 720), help="For how long.")
@_with_service
@json_option
def phone(hours: float, client: ConfirmClient | None) -> None:
    """Let the buttons on your phone decide for a time.

    Asks for your passphrase. The running service then signs what you press in Telegram or Discord, or send by webhook.
    It proves less than a passphrase: a program that can read the service's files may be able to send in your name.
    Lasts until the time is over or the service stops.

    \b
    Example: seasoned confirm phone --hours 8 --url http://127.0.0.1:7327 --token-file ada.token
    """
    found = (client or configured_client()).unlock_phone(ask_passphrase("Passphrase: "), seconds=hours * 3600)
    if not answered("confirm-phone", {name: found[name] for name in found if name != "schema"}):
        say(f"The phone of {printable(found['name'])} decides until {when(found['expires_at'])}.")


# Their file is about people and rules; here they become subcommands.
for _group in (token, passphrase, policy, allow):
    confirm.add_command(_group)


_COLOURS = {"pending": "yellow", "approved": "green", "auto_approved": "green", "denied": "red", "expired": "dim"}


def stored_request(book: Book, request_id: str) -> dict[str, Any]:
    """One request in this machine's store."""
    from seasoned.confirm.request.row import request_from_row

    # Ids are ASCII, so nothing else can be one.
    row = book.database.row("confirm.request", {"id": request_id}) if request_id.isascii() else None
    if row is None:
        raise NotFound(f"There is no request {request_id!r}. See `seasoned confirm list`.")
    found: dict[str, Any] = msgspec.to_builtins(request_from_row(book.database, row, book.seal))
    return found


def print_request(found: dict[str, Any]) -> None:
    """Everything a person should see before deciding, and nothing that could steer the terminal."""
    from rich.text import Text

    status, action = str(found.get("status", "")), str(found.get("action"))
    is_pending = status == "pending"
    head = Text(printable(f"{action}  "), style="bold")
    head.append(status, style=_COLOURS.get(status, ""))
    lines: list[tuple[str, str]] = []
    if is_pending:
        lines.append((f"May {found.get('requester')} {action_words(action)}? It says:", ""))
    details = msgspec.json.format(msgspec.json.encode(found.get("details", {})), indent=2).decode()
    # Indented, so that no description can pass for a line of ours, and complete, however long it is.
    lines += [(f"  {text}".replace("\n", "\n  "), "") for text in (str(found.get("description", "")), details)]
    # An approval is worth nothing unless its giver has seen the exact arguments.
    if is_pending and not found.get("is_exact", True):
        lines.append(("These are not the exact arguments: they could not be decrypted. Deny it.", "red"))
    if found.get("finding"):
        lines.append((f"Warning: {found['finding']}".replace("\n", " "), "red"))
    # The requester is proven by a token; the label is only what the agent says about itself.
    label = f" (calls itself {found['label']})" if found.get("label") else ""
    lines.append((f"asked by {found.get('requester')}{label} at {when(found.get('created_at'))}", "dim"))
    if found.get("session_key"):
        lines.append((f"session {found['session_key']}", "dim"))
    until = "decide until" if is_pending else "could be decided until"
    lines.append((f"{until} {when(found.get('expires_at'))} · digest {found.get('digest')}", "dim"))
    for vote in found.get("votes") or ():
        said = f"{vote['voter']} {'approved' if vote['approve'] else 'denied'} it by {vote['via']}"
        lines.append((said + (f": {vote['reason']}" if vote["reason"] else ""), "dim"))
    if found.get("is_unused"):
        lines.append(("approved, but not redeemed: it has not started", "yellow"))
    out = console()
    out.print(head)
    for text, style in lines:
        out.print(Text(printable(text), style=style))
