"""Nobody dodges the ten actions by spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.action import CHANGE_POLICY, HIGH_RISK, check_action
from seasoned.errors import UsageError
from tests.each_case import check_each

TEN = (
    "deploy_production delete_data transfer_funds modify_permissions shutdown_service wipe_database exec_remote"
    " publish_package rotate_keys migrate_database"
)


def test_the_ten_are_compiled_in_and_cannot_be_changed() -> None:
    assert set(TEN.split()) == HIGH_RISK
    assert isinstance(HIGH_RISK, frozenset)


def test_changing_the_policy_is_one_of_the_ten() -> None:
    assert CHANGE_POLICY in HIGH_RISK


def test_another_spelling_is_the_same_action() -> None:
    def check(spelled: str) -> None:
        assert check_action(spelled) == "deploy_production"

    check_each(
        [
            "deploy_production",
            "Deploy_Production ",
            "deploy-production",
            "DEPLOY PRODUCTION",
            "deployProduction",
            "DeployProduction",
            "deployproduction",
            "deploy.production",
            "deploy__production",
            "_deploy_production_",
            "deploy/production",
            "depl0y_pr0duct10n",
            "deploy_productlon",
            "\uff44\uff45\uff50\uff4c\uff4f\uff59_production",
            "deploy\u00a0production",
            "\tdeploy_production\n",
        ],
        check,
    )


def test_letters_that_look_like_another_side_by_side_are_that_one() -> None:
    def check(spelled: str, name: str) -> None:
        assert check_action(spelled) == name

    check_each(
        [
            ("rnodify_permissions", "modify_permissions"),
            ("modify_perrnissi0ns", "modify_permissions"),
            ("vvipe_database", "wipe_database"),
            ("wipe_data8ase", "wipe_database"),
            ("clelete_data", "delete_data"),
            ("r_n_odify_permissions", "modify_permissions"),
        ],
        check,
    )


def test_what_is_no_name_is_refused() -> None:
    def check(name: str) -> None:
        with pytest.raises(UsageError):
            check_action(name)

    check_each(
        [
            "d\u0435ploy_production",
            "deploy\u200b_production",
            "deploy_production\u0301",
            "\u202edeploy_production",
            "",
            " ",
            "*",
            "deploy*",
            "9lives",
            "a" * 65,
            "a" * 10_000,
            "a\x00b",
            "send;email",
        ],
        check,
    )


def test_other_names_have_one_spelling_too() -> None:
    def check(spelled: str, name: str) -> None:
        assert check_action(spelled) == name
        assert name not in HIGH_RISK

    check_each(
        [("send_email", "send_email"), ("Send-Email", "send_email"), ("sendEmail", "send_email"), ("a" * 64, "a" * 64)],
        check,
    )


@given(st.text(max_size=80))
def test_a_checked_name_stays_as_it_is(text: str) -> None:
    try:
        name = check_action(text)
    except UsageError:
        return
    assert check_action(name) == name
    assert len(name) <= 64


@given(st.sampled_from(sorted(HIGH_RISK)), st.data())
def test_case_and_what_stands_between_words_change_nothing(name: str, data: st.DataObject) -> None:
    parts = [data.draw(st.sampled_from([part, part.upper(), part.title()])) for part in name.split("_")]
    assert check_action(data.draw(st.sampled_from(["_", "-", " ", ".", "__", ""])).join(parts)) == name
