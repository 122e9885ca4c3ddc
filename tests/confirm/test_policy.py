"""What a policy may say, what it may not, and how a mistake in it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from seasoned.command.action import HIGH_RISK
from seasoned.config import Config
from seasoned.confirm.notify.message import load_channels
from seasoned.confirm.policy import DEFAULT, Policy, load_policy, read_policy
from seasoned.errors import UsageError
from tests.each_case import check_each

FILE = Path("/home/mira/.seasoned/policy.toml")
WHOLE = """
single_operator = true
redeem_seconds = 60

[timeout]
default_seconds = 120

[rate]
count = 5

[[allow]]
action = "send-email"

[[allow]]
action = "restart_worker"
session = "s1"

[action.deploy-production]
approvals = 2
approvers = ["ann", "ben", "cem"]
timeout_seconds = 900
count = 3
window_seconds = 86400

[channel.telegram]
to = "-100"
token_file = "telegram.token"
people = { "42" = "ann" }

[channel.alarm]
kind = "webhook"
to = "https://example.com/hook"
token_file = "/etc/hook.secret"

[listen]
host = "0.0.0.0"
tls_certificate = "cert.pem"
tls_key = "key.pem"
"""


def limits(policy: Policy, action: str) -> list[tuple[int, float]]:
    """Of the requester and the action, of the action, of the requester."""
    return [(limit.most, limit.window_seconds) for limit in policy.rate_limits(action)]


def test_without_a_file_the_default_holds(tmp_path: Path) -> None:
    policy = load_policy(tmp_path / "policy.toml")
    assert policy == DEFAULT
    assert limits(policy, "send_email") == [(10, 3600), (50, 3600), (60, 3600)]
    assert policy.timeout.default_seconds == 300
    assert policy.quorum("deploy_production") == 1
    assert policy.approvers("deploy_production") is None
    assert policy.channel == {}
    assert policy.gives_up() is None
    assert (policy.listen.host, policy.listen.port, policy.listen.allow_plain) == ("127.0.0.1", 7327, False)


def test_everything_that_can_be_laid_down_is_read() -> None:
    policy = read_policy(WHOLE, file=FILE)
    assert policy.single_operator
    assert policy.redeem_seconds == 60
    assert limits(policy, "send_email") == [(5, 3600), (25, 3600), (30, 3600)]
    assert limits(policy, "deploy_production") == [(3, 86400), (15, 86400), (30, 3600)]
    assert policy.quorum("deploy_production") == 2
    assert policy.approvers("deploy_production") == {"ann", "ben", "cem"}
    assert policy.timeout_seconds("deploy_production") == 900
    assert policy.timeout_seconds("send_email") == 120
    assert list(policy.channel) == ["telegram", "alarm"]
    assert policy.channel["telegram"].kind == "telegram"
    assert policy.channel["telegram"].people == {"42": "ann"}
    assert policy.channel["telegram"].token_file == FILE.parent / "telegram.token"
    assert policy.channel["alarm"].token_file == Path("/etc/hook.secret")
    assert policy.listen.tls_key == FILE.parent / "key.pem"


def test_an_allow_rule_holds_for_its_action_and_its_session() -> None:
    policy = read_policy(WHOLE, file=FILE)
    assert policy.allows("send_email", "any")
    assert policy.allows("restart_worker", "s1")
    assert not policy.allows("restart_worker", "s2")
    assert not policy.allows("restart_worker", "")
    assert not policy.allows("send_letter", "s1")
    assert not policy.allows("s\u0435nd_email", "s1")


def test_no_allow_rule_for_the_ten_is_read() -> None:
    def check(action: str) -> None:
        for spelled in (action, action.upper(), action.replace("_", "-"), f" {action} "):
            with pytest.raises(UsageError, match="always needs a person"):
                read_policy(f'[[allow]]\naction = "{spelled}"', file=FILE)

    check_each(sorted(HIGH_RISK), check)


def test_a_mistake_is_told_with_file_key_and_what_is_expected() -> None:
    def check(text: str, said: str) -> None:
        with pytest.raises(UsageError) as caught:
            read_policy(text, file=FILE)
        assert str(FILE) in str(caught.value)
        assert said in str(caught.value)

    check_each(
        [
            ("x = ", "not valid TOML"),
            ("\nspeed = 1", "object contains unknown field speed"),
            ("[listen]\nhots = 1", "listen: object contains unknown field hots"),
            ("[timeout]\ndefault_seconds = 10", "timeout.default_seconds: expected float >= 30"),
            ("redeem_seconds = 0", "redeem_seconds: expected float > 0"),
            ("[[allow]]\naction = 'a'\n[[allow]]\naction = '*'", "allow[1].action"),
            ("[[allow]]\nsession = 'a'", "allow[0]: object missing required field action"),
            ("[action.a]\napprovals = 3\napprovers = ['x', 'y']", "action.a.approvers: expected at least 3"),
            ("[action.send_email]\n[action.send-email]", "action.send-email: 'send_email' appears twice"),
            ("[channel.pigeon]\nto = 'x'", "channel.pigeon"),
            ("[listen]\ntls_key = 'k'", "tls_certificate and tls_key belong together"),
        ],
        check,
    )


def test_a_policy_that_everyone_can_write_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("")
    file.chmod(0o666)
    with pytest.raises(UsageError, match="chmod 600"):
        load_policy(file)


def test_the_example_in_the_docs_is_a_policy() -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "confirm-policy.md"
    example = page.read_text("utf-8").partition("```text\n")[2].partition("```")[0]
    policy = read_policy(example, file=FILE)
    assert policy.quorum("deploy_production") == 2
    assert policy.approvers("deploy_production") == {"ann", "ben", "cem"}


def test_a_channel_without_a_token_or_an_address_is_refused(tmp_path: Path) -> None:
    policy = read_policy('[channel.telegram]\nto = "42"', file=FILE)
    config = Config(home=tmp_path)
    assert load_channels(policy, config, {"SEASONED_TELEGRAM_TOKEN": "1:x"})["telegram"].to == "42"
    with pytest.raises(UsageError, match=r"lacks a token \(`token_file`, or the secret 'telegram_token'\)"):
        load_channels(policy, config, {})
    with pytest.raises(UsageError, match=r"channel\.telegram: object missing required field to"):
        read_policy("[channel.telegram]", file=FILE)
