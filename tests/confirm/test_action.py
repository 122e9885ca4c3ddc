"""Nobody dodges the ten actions by spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.action import HIGH_RISK, check_action
from seasoned.errors import UsageError

TEN = (
    "deploy_production delete_data transfer_funds modify_permissions shutdown_service wipe_database exec_remote"
    " publish_package rotate_keys migrate_database"
)


def test_the_ten_are_compiled_in_and_cannot_be_changed() -> None:
    assert set(TEN.split()) == HIGH_RISK
    assert isinstance(HIGH_RISK, frozenset)


def test_another_spelling_is_the_same_action() -> None:
    spelled = "deploy_production Deploy_Production deploy-production deployProduction deploy.production"
    spelled += " deploy__production depl0y_pr0duct10n \uff44\uff45\uff50\uff4c\uff4f\uff59_production"
    for name in (*spelled.split(), "DEPLOY PRODUCTION", "deploy\u00a0production", "\tdeploy_production\n"):
        assert check_action(name) == "deploy_production"


def test_letters_that_look_like_another_side_by_side_are_that_one() -> None:
    for spelled, name in (("rnodify_permissions", "modify_permissions"), ("vvipe_data8ase", "wipe_database")):
        assert check_action(spelled) == name


def test_what_is_no_name_is_refused() -> None:
    hidden = ("d\u0435ploy_production", "deploy\u200b_production", "deploy_production\u0301", "\u202edeploy_production")
    for name in (*hidden, "", " ", "*", "deploy*", "9lives", "a" * 65, "a\x00b", "send;email"):
        with pytest.raises(UsageError):
            check_action(name)


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
