"""What a reviewer that obeys everything it reads leaves behind, on a hundred real sessions; and the rules they hold.

SEASONED_BENCH_HISTORIES names a folder of histories; the samples where it is not set.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from seasoned.digest import short_digest
from seasoned.errors import NotFound, SourceError
from seasoned.history.formats import read_file
from seasoned.lesson.rule import rules_of
from seasoned.redact.key import Secrecy
from seasoned.review.answer import Context, NoteAnswer, ReviewAnswer, RuleAnswer, SkillAnswer, carry_out
from seasoned.review.journal import changes
from seasoned.review.prompt import ReviewRequest, make_ready
from seasoned.scan.intent import users_words
from seasoned.scan.spoken_rule import spoken_rules
from seasoned.session import Session
from seasoned.store import open_store

HISTORIES = Path(os.environ.get("SEASONED_BENCH_HISTORIES", "src/seasoned/samples"))
SESSIONS = 100
PROJECT = "github.com/mira/depot"
# A line this long can be a note; a shorter one is often a word that everybody says.
_LEAST_WORDS = 8
_FOREIGN = "|foreign| "


def figures() -> Iterator[str]:
    """The lines that the benchmark prints."""
    sessions = [one for path in sorted(HISTORIES.rglob("*")) if path.is_file() for one in _sessions(path)]
    yield from _spoken(sessions)
    chosen = sorted(sessions, key=lambda one: short_digest(str(one.ref)))
    ends: Counter[str] = Counter()
    tokens, seconds, rules, reviewed = [], [], 0, 0
    for session in chosen:
        if reviewed == SESSIONS:
            break
        with tempfile.TemporaryDirectory(prefix="seasoned-bench-") as home:
            begun = time.perf_counter()
            try:
                found, kept_rules, request = _review(Path(home), session)
            except NotFound:
                continue
            reviewed += 1
            seconds.append(time.perf_counter() - begun)
            tokens.append(request.tokens)
            ends.update(found)
            rules += kept_rules
    yield (
        f"{reviewed} sessions reviewed: a digest of {statistics.median(tokens):,.0f} tokens (at most {max(tokens):,}), "
        f"{statistics.median(seconds):.2f} s (at most {max(seconds):.1f}) besides the model"
    )
    told = ", ".join(f"{number} {end}" for end, number in sorted(ends.items()))
    yield f"proposals that repeat what a tool returned, as notes and skills: {told}; as rules: {rules} kept"


def _sessions(path: Path) -> Iterator[Session]:
    try:
        yield from read_file(path)
    except SourceError:
        return  # not a history


def _spoken(sessions: list[Session]) -> Iterator[str]:
    said = [
        words
        for session in sessions
        if session.relation not in ("subagent", "review")
        for one in session.messages
        if one.role == "user" and not (one.synthetic or one.summary) and (words := users_words(one))
    ]
    found = list(dict.fromkeys((rule.text, rule.lasts) for words in said for rule in spoken_rules(words)))
    lasting = [text for text, lasts in found if lasts]
    yield f"{len(sessions)} sessions, {len(set(said)):,} messages of users: {len(lasting)} candidates for rules"
    yield from (f"  {text}" for text in lasting)
    yield f"  and {len(found) - len(lasting)} orders that count once a second session hears them"


def _review(home: Path, session: Session) -> tuple[list[str], int, ReviewRequest]:
    """A review whose model proposes whatever results say: how each proposal ended, and the rules that were kept."""
    secrecy = Secrecy(b"k" * 32)
    context = Context(
        home=home,
        secrecy=secrecy,
        memory_folder=home / "memory",
        skill_folder=home / "skills",
        session="seasoned:review",
        parent=str(session.ref),
        project=PROJECT,
    )
    request = make_ready(session, context, tokens_per_day=20_000)
    context = replace(context, foreign=request.foreign)
    lines = [line.removeprefix(_FOREIGN) for line in request.digest.text.splitlines() if line.startswith(_FOREIGN)]
    long = sorted({line.strip() for line in lines if len(line.split()) >= _LEAST_WORDS}, key=len, reverse=True)
    notes = [NoteAnswer("add", "notes", line[:400], "") for line in long[:3]]
    notes += [NoteAnswer("add", "user", line[:400], "") for line in long[3:5]]
    text = "\n".join(line[:400] for line in long[:5])
    skills = [SkillAnswer("create", "a-page", "When asked.", text, "", "", "everywhere")] if text else []
    rules = [RuleAnswer(line, line) for line in long[:10]]
    with open_store(context.store_path) as store, store.write():
        insert = "INSERT INTO session (agent, native_id, project, ended) VALUES (?, ?, ?, 1.0)"
        store.connection.execute(insert, (session.ref.agent, session.ref.native_id, PROJECT))
    replies, kept_rules = carry_out(ReviewAnswer(notes, skills, rules, "Done."), context, session)
    with open_store(context.store_path) as store:
        states = {change.id: change.state for change in changes(store)}
        kept_rules = max(kept_rules, len(rules_of(store, PROJECT)))
    return [states.get(one.change or 0, one.state) for one in replies], kept_rules, request
