"""The whole life of requests against a model in plain Python: whatever is done in whatever order, both agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from seasoned.config import Config
from seasoned.confirm.audit.verify import verify
from seasoned.confirm.people.credential import Credential
from seasoned.confirm.policy import read_policy
from seasoned.confirm.request.request import NewRequest
from seasoned.confirm.request.row import votes_of
from seasoned.errors import Conflict, NotFound, Refused, SeasonedError, TooMany
from seasoned.store import open_database
from tests.confirm.books import START, Clock, Scene
from tests.confirm.keys import first_admin_of, revoke_as
from tests.torture import TORTURE

EXAMPLES = 100 if TORTURE else 20
STEPS = 50 if TORTURE else 40
LIMIT, TOTAL, REQUESTER_TOTAL, WINDOW, REDEEM = 3, 15, 18, 600, 100
AGENTS = ("bot", "codex")
PEOPLE = ("anna", "anna-phone", "ben", "carla", "bot", "codex")
ACTIONS = ("deploy_production", "delete_data", "send_email")
POLICY = f"""
redeem_seconds = {REDEEM}
[rate]
count = {LIMIT}
window_seconds = {WINDOW}
[action.delete_data]
approvals = 2
[[allow]]
action = "send_email"
"""


@dataclass
class Model:
    """A request as plain Python has it."""

    action: str
    requester: str
    created_at: float
    expires_at: float
    amount: int
    status: str = "pending"
    resolved_by: str | None = None
    redeem_before: float | None = None
    redeemed_at: float | None = None
    votes: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def quorum(self) -> int:
        return 2 if self.action == "delete_data" else 1

    def settle(self, now: float) -> None:
        """Expire, if its time has come."""
        if self.status == "pending" and now >= self.expires_at:
            self.status, self.resolved_by = "expired", "system:timeout"

    def vote(self, who: str, person: str, approve: bool, now: float) -> type[SeasonedError] | None:
        self.settle(now)
        if who in AGENTS:
            return Refused if who == self.requester else NotFound
        if self.status != "pending":
            return Conflict
        if person in [voted for voted, _ in self.votes]:
            return Refused
        self.votes.append((person, approve))
        if not approve:
            self.status, self.resolved_by = "denied", who
        elif sum(agreed for _, agreed in self.votes) >= self.quorum:
            self.status, self.resolved_by, self.redeem_before = "approved", who, now + REDEEM
        return None

    def redeem(self, who: str, is_right: bool, now: float) -> type[SeasonedError] | None:
        self.settle(now)
        if who != self.requester:
            return NotFound
        if not is_right:
            return Refused
        if self.redeem_before is None or self.redeemed_at is not None or now >= self.redeem_before:
            return Conflict
        self.redeemed_at = now
        return None


class Life(RuleBasedStateMachine):
    """Agents ask, people decide, time passes, the service restarts."""

    requests: Bundle[str] = Bundle("requests")
    numbers = count(1)

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.scene: Scene
        self.models: dict[str, Model] = {}
        self.keys: dict[tuple[str, str], str] = {}
        self.revoked: set[str] = set()

    @initialize()
    def begin(self) -> None:
        """A book of its own in the shared store: other names, and long after whatever was there before."""
        number = next(self.numbers)
        scene = Scene.__new__(Scene)
        scene.policy = read_policy(POLICY, file=Path("policy.toml"))
        scene.clock = Clock(START + number * 1_000_000)
        scene.reopen(open_database(self.config))
        self.scene = scene
        self.suffix = f"-{number}"
        self.boss = first_admin_of(scene.database, now=scene.clock())
        self.who: dict[str, Credential] = {
            name: scene.person(
                name + self.suffix,
                "agent" if name in AGENTS else "admin" if name == "carla" else "approver",
                person=name.split("-")[0],
                by=self.boss,
            )
            for name in PEOPLE
        }

    @property
    def now(self) -> float:
        return self.scene.clock()

    def expect(self, expected: type[SeasonedError] | None, act: Any) -> Any:
        """What it gives, or the very error that the model foresees."""
        if expected is None:
            return act()
        with pytest.raises(expected) as error:
            act()
        assert type(error.value) is expected
        return None

    @rule(
        target=requests,
        agent=st.sampled_from(AGENTS),
        action=st.sampled_from(ACTIONS),
        amount=st.integers(0, 2),
        seconds=st.sampled_from([30, 100, 700, None]),
        key=st.sampled_from([None, None, "k-1", "k-2"]),
    )
    def submit(self, agent: str, action: str, amount: int, seconds: int | None, key: str | None) -> str:
        asked = NewRequest(
            action=action,
            description="d",
            details={"amount": amount},
            timeout_seconds=seconds,
            idempotency_key=key,
        )
        known = self.keys.get((agent, key)) if key is not None else None
        recent = [
            one for one in self.models.values() if one.created_at > self.now - WINDOW and one.status != "auto_approved"
        ]
        is_too_much = any(
            sum(map(counts, recent)) >= most
            for most, counts in (
                (LIMIT, lambda one: one.action == action and one.requester == agent),
                (TOTAL, lambda one: one.action == action),
                (REQUESTER_TOTAL, lambda one: one.requester == agent),
            )
        )
        is_listed = action == "send_email"
        expected: type[SeasonedError] | None = None
        if agent in self.revoked:
            expected = Refused
        elif known is not None:
            expected = None if (self.models[known].action, self.models[known].amount) == (action, amount) else Conflict
        elif not is_listed and is_too_much:
            expected = TooMany
        done = self.expect(expected, lambda: self.scene.book.submit(self.who[agent], asked))
        if done is None:
            return ""
        assert done.is_new == (known is None)
        if known is not None:
            assert done.request.id == known
            return known
        model = Model(action, agent, self.now, self.now + (seconds or 300), amount)
        if is_listed:
            model.status, model.resolved_by = "auto_approved", "system:allow-list"
            model.redeem_before = self.now + REDEEM
        found: str = done.request.id
        self.models[found] = model
        if key is not None:
            self.keys[agent, key] = found
        return found

    @rule(request=requests, who=st.sampled_from(PEOPLE), approve=st.sampled_from([True, True, False]))
    def vote(self, request: str, who: str, approve: bool) -> None:
        if not request:
            return
        model = self.models[request]
        if who in self.revoked:
            model.settle(self.now)
            expected: type[SeasonedError] | None = Refused
        else:
            expected = model.vote(who, who.split("-")[0], approve, self.now)
            if model.resolved_by == who:
                model.resolved_by = who + self.suffix
        self.expect(expected, lambda: self.scene.book.decide(self.who[who], request, approve=approve))

    @rule(request=requests, who=st.sampled_from(AGENTS), is_right=st.sampled_from([True, True, False]))
    def redeem(self, request: str, who: str, is_right: bool) -> None:
        if not request:
            return
        model = self.models[request]
        if who in self.revoked:
            model.settle(self.now)
            expected: type[SeasonedError] | None = Refused
        else:
            expected = model.redeem(who, is_right, self.now)
        row = self.scene.database.row("confirm.request", {"id": request})
        assert row is not None
        digest = row["digest"] if is_right else "0" * 64
        grant = self.expect(expected, lambda: self.scene.book.redeem(self.who[who], request, digest=digest))
        assert grant is None or (grant.id, grant.redeemed_at) == (request, self.now)

    @rule(seconds=st.sampled_from([0.5, 29, 30, 70, 100, 300, 600]))
    def pass_time(self, seconds: float) -> None:
        self.scene.clock.forward(seconds)

    @rule()
    def expire(self) -> None:
        due = {one for one, model in self.models.items() if model.status == "pending" and self.now >= model.expires_at}
        for one in due:
            self.models[one].settle(self.now)
        ours = {one.id for one in self.scene.book.expire_due()} & self.models.keys()
        assert ours == due

    @rule()
    def restart(self) -> None:
        self.scene.database.close()
        self.scene.reopen(open_database(self.config, durable=True))

    @rule(name=st.sampled_from(PEOPLE), really=st.sampled_from([True, False, False, False]))
    def revoke(self, name: str, really: bool) -> None:
        if really and name != "carla":
            revoke_as(self.scene.database, name + self.suffix, by=self.boss, now=self.now)
            self.revoked.add(name)

    @rule(request=requests)
    def look(self, request: str) -> None:
        if request:
            self.models[request].settle(self.now)
            kept = self.scene.book.look(self.who["carla"], request)
            assert kept.status == self.models[request].status
            assert kept.is_exact == (kept.status == "pending")
            assert kept.details == {"amount": self.models[request].amount}

    @rule(agent=st.sampled_from(AGENTS), unused=st.booleans())
    def list(self, agent: str, unused: bool) -> None:
        for model in self.models.values():
            model.settle(self.now)
        if agent in self.revoked:
            with pytest.raises(Refused):
                self.scene.book.list(self.who[agent])
            self.scene.book.expire_due()
            return
        own = {one for one, model in self.models.items() if model.requester == agent}
        if unused:
            own = {one for one in own if self.models[one].redeem_before and self.models[one].redeemed_at is None}
        assert {one.id for one in self.scene.book.list(self.who[agent], unused=unused, limit=500)} == own

    @invariant()
    def the_store_is_as_the_model_says(self) -> None:
        for one, model in self.models.items():
            row = self.scene.database.row("confirm.request", {"id": one})
            assert row is not None
            assert (row["status"], row["resolved_by"]) == (model.status, model.resolved_by)
            assert (row["redeem_before"], row["redeemed_at"]) == (model.redeem_before, model.redeemed_at)
            assert (row["sealed"] is not None) == (model.status == "pending")
            votes = [(vote.person, vote.approve) for vote in votes_of(self.scene.database, one)]
            assert sorted(votes) == sorted(model.votes)

    def teardown(self) -> None:
        if hasattr(self, "scene"):
            found = verify(self.scene.database)
            self.scene.database.close()
            assert found.ok, found.reason


def test_the_life_of_requests_is_what_the_model_says(database_config: Config) -> None:
    lives = 0

    def life() -> Life:
        nonlocal lives
        lives += 1
        return Life(database_config)

    run_state_machine_as_test(
        life,
        settings=settings(
            # Every statement is a round trip there, and the rules are the same.
            max_examples=EXAMPLES // (1 if database_config.database_url is None else 3),
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert lives > 1, "no life was lived"
