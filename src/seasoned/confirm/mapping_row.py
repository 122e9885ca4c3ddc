"""How a row of the table of actions is written: which program, which arguments, which action, and why."""

from __future__ import annotations

import msgspec

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex


class Row(msgspec.Struct, frozen=True):
    """One way to do what needs a person. Without `words` the program itself is enough; `unless` takes it back."""

    name: str
    programs: frozenset[str]
    action: str
    why: str
    """Continues a sentence that begins with "it"."""
    words: LazyRegex | None = None
    """Found in the arguments from the subcommand on, joined by blanks."""
    unless: LazyRegex | None = None
    """Found in all arguments."""


def row(name: str, programs: str, action: str, why: str, words: str = "", unless: str = "") -> Row:
    """A row from text, for the sake of tables that people read."""
    return Row(name, names(programs), action, why, pattern(words), pattern(unless))


def pattern(text: str) -> LazyRegex | None:
    """A pattern that is compiled when it is first used; None for no text."""
    return LazyRegex(text) if text else None


def any_of(words: str) -> str:
    """Any of these among the arguments, as a word of its own."""
    return rf"(?:^| )(?:{'|'.join(words.split())})(?= |$)"


def first(words: str) -> str:
    """One of these as the first argument."""
    return rf"^(?:{'|'.join(words.split())})(?= |$)"


def flag(short: str, long: str = "") -> str:
    """An option by its letter, also among others (`-rf`), or by its long name."""
    longer = rf"|--(?:{long})" if long else ""
    return rf"(?:^| )(?:-[A-Za-z]*[{short}][A-Za-z]*{longer})(?= |=|$)"


ASKS = r"(?:^| )--help(?= |$)|(?:^| )-h$|^help(?= |$)|^(?:--version|-V|version)$"
"""It only shows how it is used: `-h` at the end, for elsewhere it names a host."""
TRIES = r"(?:^| )--(?:dry-?run(?!=none|=false)|dry|check|plan|simulate)(?= |=|$)"
ELSEWHERE = (
    r"^(?!.*prod).*(?:^| )(?:--(?:kube-)?context|--namespace|-n|--kubeconfig|--stage|--env|--environment|-e|-a|--app"
    r"|-c|--config|--profile|-d|-r|--remote|--target)[ =](?:[^ ]*[-_./:])?(?:minikube|kind|k3d|docker-desktop|colima"
    r"|rancher-desktop|dev|develop|development|test|testing|staging|stage|local|sandbox|preview|qa|ci|e2e)"
    r"(?:[-_./:\d][^ ]*)?(?= |$)"
)
"""Arguments that name another place than production, and nowhere that one."""
