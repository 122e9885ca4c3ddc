"""Rules for tool calls: what the name of a tool implies, and what a file tool writes to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from seasoned.command import guard
from seasoned.command.action import HIGH_RISK, check_action
from seasoned.command.call_text import REMOTE_NAME, all_texts, words_of
from seasoned.command.parse import names
from seasoned.command.path import WorkingFolder, guarded
from seasoned.command.rows import Finding, ToolNameRow, group
from seasoned.command.tool import snake, tool_of
from seasoned.command.tool_table import TOOL_NAMES
from seasoned.errors import UsageError
from seasoned.lazy_regex import LazyRegex

_FOLDER_KEYS = ("cwd", "workdir", "working_directory", "working_dir", "folder", "directory")
# Under these names file tools of all agents take the paths they write to, move or delete.
_PATH_KEYS = names(
    "file_path path filename target_file notebook_path file destination target paths files source src from_path"
    " old_path new_path dest to_path uri filepath absolute_path"
)
_WRITING = names("write edit patch create replace insert delete move apply update multiedit save put append str rename")
_DELETING = names("delete remove unlink rm trash erase")
_CHANGING = _WRITING | _DELETING
_PATCHED = LazyRegex(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?|\*\*\* Move to: )(?P<path>\S+)", re.MULTILINE
)
# The rest of this block is about examples alone.
_DELETES_FILE = LazyRegex(r"(?m)^\*\*\* Delete File: ")
_ID = LazyRegex(r"(?i)(?:\A|[a-z_-])(?:id|number|no|ref|reference|key|code)\Z")
# Arguments by which a call says yes to a question that its tool would ask a person.
_ANSWERS = names(
    "force forced confirm confirmed confirmation yes assume_yes auto_approve auto_confirm approved skip_confirmation"
    " skip_checks no_confirm no_verify override permanent permanently hard hard_delete purge bypass privileged"
    " i_understand acknowledge_risk"
)
_NO = names("false no 0 none off n") | {""}
_AMOUNTS = names("amount sum value_in_cents amount_cents total_amount")
_RECEIVERS = names(
    "to iban recipient receiver beneficiary payee destination to_account destination_account wallet address"
)
# Arguments that switch a check off, by being true or by being false.
_SKIPS = LazyRegex(
    r"(?:^|_)(?:skip|disable|bypass|ignore|suppress|without|no)_(?:\w+_)?(?:checks?|verif\w*|validations?|tests?|reviews?"
    r"|hooks?|auth\w*|ssl|tls|certificates?|security|sandbox|approvals?|permissions?|mfa|limits?)(?:_|$)|_(?:override|bypass)$"
)
_PROTECTS = LazyRegex(
    r"(?:^|_)(?:mfa|2fa|totp|verif\w*|ssl|tls|auth\w*|encrypt\w*|protect\w*|reviews?|sandbox\w*|signatures?|approvals?)"
    r"(?:_|$)"
)
# What protects people or data, and how it is switched off: `{"flag": "audit_log", "value": "off"}`.
_GUARDS = LazyRegex(
    r"(?:^|_)(?:audit\w*|alarms?|guard\w*|firewalls?|backups?|retention\w*|secur\w*|mfa|2fa|protect\w*|sandbox\w*|antivirus"
    r"|encrypt\w*|verif\w*|logging|safety)(?:_|$)"
)
_OFF = names("off disabled disable disarmed disarm inactive paused")
# Who is given something, if it is everyone.
_EVERYONE = LazyRegex(r"(?i)(?:public(?:[-_]\w+)*|anyone\S*|everyone|all_?users|world|0\.0\.0\.0/0|::/0)\Z")
_SHARING_KEYS = names(
    "acl visibility audience access sharing share_with permission scope type role cidr source_range members"
)
_PRICES = names("price unit_price new_price fee cost")
_NEXT_TO_NOTHING = 0.05
_MUTATION = LazyRegex(r"\s*mutation\b[^{]{0,200}\{")
# A branch of someone else's copy: `someone:patch`.
_BRANCH_KEYS = names("head head_ref source_branch")
# A text that is said to someone, in any language: more than a name.
_SPOKEN = LazyRegex(r"\S\s+\S+\s+\S|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]{8}")
_ID_CHARS = 60
_TYPES_TEXT = names("type fill enter login")
_SECRET_FIELD = LazyRegex(r"(?i)\b(?:password|passphrase|passcode|secret|one-time code|api key|token)\b")
_TARGET_KEYS = names("env environment stage target cluster deployment tier")
_LIVE = LazyRegex(r"(?i)(?:--?[\w-]+=)?(?:prod|production|live)\Z")


def findings(tool: str, inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    """What the name of a tool implies, and what a file tool writes to; `inside` are the objects in its arguments."""
    words = words_of(tool)
    if not words:
        return
    yield from _file_findings(words, inside, place)
    if words[0] not in group("looking") and tool_of(tool).form not in ("file_read", "search", "web", "meta"):
        yield from (found for one in inside for found in guard.in_arguments(one, place))
    try:
        exact = check_action("_".join(words))
    except UsageError:
        exact = ""
    if exact in HIGH_RISK:
        yield Finding(exact, "is named as an action that always needs a person", "tool name")
        return
    looks = words[0] in group("looking") or words[0] in group("asking")
    if not looks:
        yield from _name_findings(words, remote=bool(REMOTE_NAME.compiled.search(tool)))
    # Every tool of an SSH server runs elsewhere: `mcp__ssh__exec`.
    server = frozenset(snake(tool).split("_")) - frozenset(words)
    if "ssh" in server and not looks:
        yield Finding("exec_remote", "runs something on another machine", "tool name")


def _name_findings(words: tuple[str, ...], *, remote: bool) -> Iterator[Finding]:
    for row in TOOL_NAMES:
        if row.action and _row_fits(row, words, remote=remote):
            yield Finding(row.action, row.why, "tool name")
            if not row.anywhere:
                return


def _row_fits(row: ToolNameRow, words: tuple[str, ...], *, remote: bool = True) -> bool:
    word_set = frozenset(words)
    if word_set & row.unless or (not remote and word_set & row.remote_only):
        return False
    if row.anywhere:
        return bool(word_set & row.verbs) and (not row.things or bool(word_set & row.things))
    return (words[0] in row.verbs and not row.things.isdisjoint(words[1:])) or (
        len(words) > 1 and words[-1] in row.verbs and not row.things.isdisjoint(words[:-1])
    )


def _file_findings(words: tuple[str, ...], inside: list[Mapping[str, Any]], place: WorkingFolder) -> Iterator[Finding]:
    if _CHANGING.isdisjoint(words) or inside[0].get("command") == "view":
        return
    for path in _paths(inside):
        yield from guarded(path, place)
        yield from guard.changed(path, place)
        if words[0] in _DELETING and not place.contains(path) and path.startswith(("/", "~", "..")):
            why = f"deletes {path!r}, which is not inside the working folder"
            yield Finding("delete_data", why, "delete outside")


def _paths(inside: list[Mapping[str, Any]]) -> Iterator[str]:
    """The paths that a file tool is given, also in lists and patches."""
    for arguments in inside:
        for key, value in arguments.items():
            if key in _PATH_KEYS and isinstance(value, str | list):
                listed = [value] if isinstance(value, str) else value
                # `source` may also be code, not a path.
                fitting = (each for each in listed if isinstance(each, str) and len(each) < 400 and "\n" not in each)
                yield from (each.removeprefix("file://") for each in fitting)
            if key in ("patch", "input", "diff", "command") and isinstance(value, str):
                yield from _PATCHED.compiled.findall(value[:100_000])


def example_findings(tool: str, arguments: Mapping[str, Any]) -> Iterator[Finding]:
    """What keeps a call out of examples although no person has to confirm it.

    A call that changes one record which it names by its id is a convention to learn (`cancel_pending_order`). One that
    destroys, pays, changes rights, reaches everyone, or answers for the person (`confirm: true`) is not.
    """
    if tool_of(tool).form == "file_write" and any(_DELETES_FILE.compiled.search(text) for text in all_texts(arguments)):
        yield _not_example("deletes a file")
    words = words_of(tool)
    looks = bool(words) and words[0] in group("looking") and "and" not in words
    if words and not looks:
        yield from (_not_example(row.why) for row in TOOL_NAMES if not row.action and _row_fits(row, words))
        # Money that goes back for one thing is bound to it; without its id nothing bounds it.
        if "refund" in words and not any(_ID.compiled.search(name) for name in arguments):
            yield _not_example("refunds money for nothing that it names")
    if tool_of(tool).form == "file_write":
        return
    if tool_of(tool).form == "agent" and any(_SPOKEN.compiled.search(text) for text in all_texts(arguments)):
        yield _not_example("tells another agent what to do")
    if not looks:
        yield from _changed_values(words, arguments)
    if any(_MUTATION.compiled.match(text) for text in all_texts(arguments)):
        yield _not_example("changes something by GraphQL")
    if str(arguments.get("method", "")).lower() in ("post", "put", "patch", "delete"):
        yield _not_example("changes something by HTTP")
    keys = {snake(name) for name in arguments}
    if not looks and keys & _AMOUNTS and keys & _RECEIVERS:
        yield _not_example("moves money")
    for name, value in arguments.items():
        key = snake(name)
        is_text = not isinstance(value, dict | list)
        if is_text and answers_for_person(name) and str(value).strip().lower() not in _NO:
            yield _not_example("answers a question for the person")
        if (value is False and _PROTECTS.compiled.search(key)) or (value is True and _SKIPS.compiled.search(key)):
            yield _not_example("turns a check off")
        if key in _TARGET_KEYS and not looks and any(_LIVE.compiled.match(text) for text in all_texts(value)):
            yield _not_example("changes what is live")


def _changed_values(words: tuple[str, ...], arguments: Mapping[str, Any]) -> Iterator[Finding]:
    """What the values of a call say that it does, whatever its tool is called."""
    given = {snake(name): value for name, value in arguments.items()}
    texts = {snake(text) for text in all_texts(arguments) if len(text) < _ID_CHARS}
    if not _OFF.isdisjoint(texts) and any(map(_GUARDS.compiled.search, ("_".join(words), *given, *texts))):
        yield _not_example("turns off what protects others")
    for name, value in given.items():
        listed = list(all_texts(value))
        if isinstance(value, bool | int) and not value and _GUARDS.compiled.search(name):
            yield _not_example("turns off what protects others")
        if name in _SHARING_KEYS and any(_EVERYONE.compiled.match(text) for text in listed):
            yield _not_example("shows something to everyone")
        if name in _PRICES and isinstance(value, int | float) and value < _NEXT_TO_NOTHING:
            yield _not_example("gives something away")
        if name.startswith("skip_") and (listed or value is True):
            yield _not_example("leaves a step out")
        if name in _BRANCH_KEYS and any(":" in text for text in listed):
            yield _not_example("takes code from someone else's copy")
    if not _TYPES_TEXT.isdisjoint(words) and any(map(_SECRET_FIELD.compiled.search, all_texts(arguments))):
        yield _not_example("types a secret")


def answers_for_person(name: str) -> bool:
    """Whether an argument of this name says yes to a question that a tool would ask a person."""
    return snake(name) in _ANSWERS


def _not_example(why: str) -> Finding:
    return Finding("", why, "tool call")


def folder_in(arguments: Mapping[str, Any]) -> str | None:
    """The working folder that a call names itself."""
    return next((value for key in _FOLDER_KEYS if isinstance(value := arguments.get(key), str)), None)


def shown(tool: str, arguments: Mapping[str, Any]) -> str:
    """A call in one line, for a person."""
    parts = [
        f"{key}={value!r}" if not isinstance(value, str) else f"{key}={value[:100]!r}"
        for key, value in list(arguments.items())[:8]
        if isinstance(value, str | int | float | bool)
    ]
    return f"{tool[:100]}({', '.join(parts)})"
