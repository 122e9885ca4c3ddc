"""Binding: what belonged to one session gets a stand-in of the same shape, alike in the whole example."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.command.parse import Step, parse
from seasoned.redact import Redactor
from seasoned.template.anonymize.call import AnonymizedCall, anonymize
from seasoned.template.anonymize.shape import shape
from seasoned.template.anonymize.words import FAMILY, GIVEN, KEPT, LONG, SHORT, Vocabulary, vocabulary_of
from tests.each_case import each_case
from tests.template.sessions import call, session

NOTHING = Vocabulary()


def bound(
    arguments: dict[str, Any], result: str = "", intent: str = "", vocabulary: Vocabulary = NOTHING
) -> AnonymizedCall:
    return anonymize(arguments, result, intent, vocabulary=vocabulary, seed="seed")


def value(text: str, name: str = "value", vocabulary: Vocabulary = NOTHING) -> str:
    return str(bound({name: text}, vocabulary=vocabulary).arguments[name])


def recurring(*values: str) -> Vocabulary:
    vocabulary = Vocabulary()
    for root in ("one", "two"):
        for each in values:
            vocabulary.add(root, each)
    return vocabulary


@each_case(
    ("text", "form"),
    [
        ("#W0052025", r"#W0\d{6}"),
        ("5426915165", r"[1-9]\d{9}"),
        ("credit_card_8105988", r"credit_card_\d{7}"),
        ("chen_johnson_4204", r"[a-z]+_[a-z]+_\d{4}"),
        ("ENT-241", r"ENT-\d{3}"),
        ("/home/chen/.config/app.toml", r"/home/[a-z]+/\.config/app\.toml"),
        ("/Users/gtrrz-victor/src/main.go", r"/Users/[a-z]+-[a-z]+/src/main\.go"),
        (r"C:\Users\chen\notes.txt", r"C:\\Users\\[a-z]+\\[a-z]+\.txt"),
        ("ws/parcels.txt", r"[a-z]+/[a-z]+\.txt"),
        ("https://mail.acmecorp.io/x/12345?id=778899", r"https://mail\.[a-z]+\.io/x/\d{5}\?id=\d{6}"),
        ("http://localhost:8080/api/v1/users", r"http://localhost:8080/api/v1/users"),
        ("10.24.3.117", r"10\.\d{2}\.\d\.\d{3}"),
        ("127.0.0.1", r"127\.0\.0\.1"),
        ("2026-02-11", r"2026-\d\d-\d\d"),
        ("fab6fe66cc6be0966a0ef84e9489ef7dd4ce11da", r"[0-9a-f]{40}"),
        ("44c2ef6f-16fe-461e-b63e-3880d8fb7dd4", r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-b[0-9a-f]{3}-[0-9a-f]{12}"),
        ("[redacted:email:0123abcd]", r"[a-z]+@example\.(?:com|org|net)"),
    ],
)
def test_a_value_of_one_session_is_replaced_in_its_own_form(text: str, form: str) -> None:
    made = value(text)
    assert re.fullmatch(form, made), made
    assert shape(made) == shape(text)
    if not form.startswith((r"http://localhost", r"127")):
        assert made != text


@each_case(
    "text",
    [
        "15m", "2GB", "500ms", "30000 ms", "true", "content", "files_with_matches", "no longer needed", "UTF-8",
        "SHA-256", "1,200p", "v5", "3131.10 + 4777.75", "s/old/new/g", "read/write and loading/saving", "*.go",
        "**/session/*.go",
        "2006-01-02", "eslint@latest", "agentv@4.44.0-next.1", "logger.info(x)", "HEAD~3..HEAD", "1..10", "../src",
        "../..", ".", "$HOME/.config", "git@github.com", "TestGetGitAuthorFromRepo", "[redacted:password:0123abcd]",
    ],
)  # fmt: skip
def test_what_says_nothing_about_a_session_stays(text: str) -> None:
    assert value(text) == text


@each_case(
    ("name", "number"),
    [("limit", 50000), ("timeout_ms", 123456), ("line", 4), ("count", 10000), ("flag", True), ("x", None), ("p", 0.5)],
)
def test_limits_counts_and_switches_stay(name: str, number: Any) -> None:
    assert bound({name: number}).arguments == {name: number}


@pytest.mark.parametrize("name", ["account_number", "reportId", "adminKey", "page_id", "order"])
def test_a_name_that_only_holds_the_letters_of_a_limit_is_none(name: str) -> None:
    assert bound({name: 8213377}).arguments != {name: 8213377}


def test_numbers_that_are_ids_change_with_the_same_number_of_figures() -> None:
    made = bound({"session_id": 47943, "nested": {"5209958006": [9000123]}}).arguments
    assert made["session_id"] != 47943 and len(str(made["session_id"])) == 5
    ((name, inner),) = made["nested"].items()
    assert name != "5209958006" and len(name) == 10
    assert inner[0] != 9000123 and len(str(inner[0])) == 7


def test_parts_that_recur_over_lineages_stay() -> None:
    vocabulary = recurring('{"path": "ws/draft.txt"}')
    assert re.fullmatch(r"ws/[a-z]+\.txt", value("ws/parcels.txt", vocabulary=vocabulary))
    assert value("ws/draft.txt", vocabulary=vocabulary) == "ws/draft.txt"


def test_parts_of_one_lineage_do_not_recur_however_often_they_come() -> None:
    vocabulary = Vocabulary()
    for _ in range(9):
        vocabulary.add("one", "ws/draft.txt")
    assert not vocabulary.recurs("ws") and vocabulary.recurs("draft.txt") is False


def test_ids_names_and_accounts_are_replaced_even_when_they_recur() -> None:
    vocabulary = recurring('{"first_name": "Chen"}', "/home/chen/x", "#W0052025", "chen_silva_7485", "1a2b3c4d5e")
    for text in ("#W0052025", "chen_silva_7485", "1a2b3c4d5e", "/home/chen/x", "Chen"):
        assert value(text, vocabulary=vocabulary) != text
    assert not value("chen/fix-the-parser", vocabulary=vocabulary).startswith("chen/")


def test_the_front_of_an_id_stays_where_many_ids_share_it() -> None:
    vocabulary = Vocabulary()
    for number in ("voyage_pass_10021", "voyage_pass_22034", "voyage_pass_33047"):
        vocabulary.add("one", number)
    assert re.fullmatch(r"voyage_pass_\d{5}", value("voyage_pass_90210", vocabulary=vocabulary))
    assert not value("voyage_pass_90210").startswith("voyage_pass_")


def test_the_same_value_gets_the_same_stand_in_everywhere() -> None:
    made = bound(
        {"first_name": "Chen", "last_name": "Silva", "zip": "46281", "path": "/home/chen/parcels.txt"},
        "chen_silva_7485",
        "I'm Chen Silva, zip code 46281. See parcels.txt, and CHEN's other order #W7752104.",
    )
    first, last, post = made.arguments["first_name"], made.arguments["last_name"], made.arguments["zip"]
    assert {first.lower(), last.lower()} <= {*GIVEN, *FAMILY}
    assert made.result.startswith(f"{first.lower()}_{last.lower()}_")
    name = made.arguments["path"].rpartition("/")[2]
    assert made.intent.startswith(
        f"I'm {first} {last}, zip code {post}. See {name}, and {first.upper()}'s other order #W"
    )
    assert "7752104" not in made.intent
    assert made.arguments["path"].startswith(f"/home/{first.lower()}/")


def test_what_an_argument_became_it_became_in_intent_and_result() -> None:
    made = bound(
        {"address1": "445 Pearl Drive", "address2": "Suite 394", "branch": "alex/cabin-53-x", "range": "main..alex/x"},
        '{"address1":"445 Pearl Drive","number":445}',
        "Ship to 445 Pearl Drive, Suite 394 (house 445) as in alex/cabin-53-x.",
    )
    house, suite, branch = (made.arguments[name] for name in ("address1", "address2", "branch"))
    number = house.partition(" ")[0]
    assert number != "445" and suite != "Suite 394" and "alex" not in str(made)
    assert made.intent == f"Ship to {house}, {suite} (house {number}) as in {branch}."
    assert json.loads(made.result) == {"address1": house, "number": int(number)}


@given(
    st.lists(
        st.sampled_from(["445 Elm Drive", "#W1234567", "chen_li_1234", "Hannah Meyer", "a/parcels.txt"]), max_size=6
    )
)
def test_whole_values_are_the_same_in_what_was_said(values: list[str]) -> None:
    made = bound({f"v{at}": text for at, text in enumerate(values)}, "", " and ".join(values))
    assert made.intent == " and ".join(made.arguments.values())


def test_a_word_met_late_is_replaced_where_it_stood_before() -> None:
    made = bound({"description": "Count lines in parcels.txt", "command": "wc -l data/parcels.txt"})
    name = made.arguments["command"].rpartition("/")[2]
    assert name != "parcels.txt" and made.arguments["description"] == f"Count lines in {name}"


def test_a_result_in_json_is_bound_by_its_names() -> None:
    made = bound(
        {"order_id": "#W1234567"}, '{"order_id":"#W1234567","name":{"first_name":"Mei","last_name":"Li"},"zip":"28236"}'
    )
    result = json.loads(made.result)
    assert result["order_id"] == made.arguments["order_id"] != "#W1234567"
    assert result["name"]["first_name"] not in ("Mei", "") and result["zip"] != "28236"


def test_two_people_never_become_one() -> None:
    made = bound(
        {f"author_{n}": f"/home/{name}/x" for n, name in enumerate(("ann", "bob", "cid", "dan", "eve", "fay"))}
    )
    assert len(set(made.arguments.values())) == 6


def test_names_of_arguments_and_the_given_object_stay_as_they_are() -> None:
    arguments = {"file_path": "/home/chen/parcels.txt", "edits": [{"old": "a1b2c3d4e5"}]}
    before = json.dumps(arguments)
    made = bound(arguments)
    assert json.dumps(arguments) == before
    assert list(made.arguments) == list(arguments) and list(made.arguments["edits"][0]) == ["old"]


def test_a_text_that_was_cut_ends_with_a_whole_line_and_a_patch_stays_cut() -> None:
    made = bound(
        {"content": "first\nsecond\nthi … [900 characters]", "input": "*** Begin Patch\n+x … [900 characters]"}
    )
    assert made.arguments["content"] == "first\nsecond\n"
    assert made.arguments["input"].endswith("characters]")


COMMANDS = (
    "cd /Users/chen/work/parcels && git add -A && git commit -m 'count parcels in ledger.py'",
    "go test ./cmd/parcels/ledger/ -run TestCountParcels -v 2>&1 | head -20",
    "curl -s -H 'Accept: json' https://api.parcelpost.io/v1/parcels/88213 | jq '.items[0].id'",
    "python -m pytest tests/test_ledger.py::test_count -x --tb=short -q",
    "/home/chen/.venv/bin/ruff check --fix src/ledger && ./scripts/deploy-parcels.sh --env=staging",
    "for f in logs/*.log; do grep -n 'parcel 1234567' \"$f\" || true; done",
    "gcc -I/home/chen/include -O2 -o parcels parcels.c && ./parcels --count 12345678",
    "cat <<'EOF' > ledger.txt\nparcel 1234567\nEOF\nwc -l ledger.txt",
    "git show 1a2b3c4d5e:src/ledger.py | sed -n '1,40p'",
    "docker run --rm -v /Users/chen/ledger:/data parcels:1.2 --since 2026-02-11",
)  # fmt: skip


def flags(steps: tuple[Step, ...]) -> list[tuple[str, list[str]]]:
    option = re.compile(r"--?[A-Za-z][\w-]*")
    return [(step.program, [found[0] for word in step.words if (found := option.match(word))]) for step in steps]


@each_case("command", COMMANDS)
def test_a_command_runs_the_same_programs_with_the_same_flags(command: str) -> None:
    made = value(command, "command")
    assert flags(parse(made)) == flags(parse(command))
    assert shape(made) == shape(command)
    assert "chen" not in made and "1234567" not in made


WORDS = st.sampled_from(
    [
        "git",
        "src",
        "parcels",
        "Chen",
        "ledger",
        "x",
        "-v",
        "--all",
        "testCase",
        "HTTP",
        "#W1234567",
        "12345",
        "99",
        "0.5",
        "1a2b3c4d",
        "/home/chen/bin/x",
        "a/b.py",
        "&&",
        "|",
        "2026-01-31",
        "chen_li_1234",
        "~/notes.md",
        "api.acme.io",
        "AB-123",
        "'it'",
        "ümlaut",
        "0x1f2e3d4c5b",
    ]
)
TEXTS = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join), st.text(max_size=60), st.lists(WORDS, max_size=5).map("/".join)
)


@given(st.dictionaries(st.text("abcdef_", min_size=1, max_size=6), TEXTS, max_size=4), TEXTS, st.text(max_size=4))
def test_every_argument_keeps_its_shape(arguments: dict[str, str], intent: str, seed: str) -> None:
    made = anonymize(arguments, "", intent, vocabulary=NOTHING, seed=seed)
    assert [shape(text) for text in made.arguments.values()] == [shape(text) for text in arguments.values()]
    assert made == anonymize(arguments, "", intent, vocabulary=NOTHING, seed=seed)


@given(st.lists(WORDS, min_size=1, max_size=10).map(" ".join))
def test_any_command_stays_the_same_command(command: str) -> None:
    made = bound({"command": command}).arguments["command"]
    assert flags(parse(made)) == flags(parse(command))


def test_stand_ins_are_the_same_in_every_process() -> None:
    code = (
        "from seasoned.template.anonymize.call import Vocabulary, anonymize\n"
        "v = Vocabulary(); v.add('a', 'ws/x src lib'); v.add('b', 'ws/y lib src')\n"
        "a = {'path': 'ws/parcels.txt', 'first_name': 'Chen', 'id': '#W1234567'}\n"
        "print(anonymize(a, 'x', 'Chen saw parcels', vocabulary=v, seed='s'))"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(seen) == 1 and "ws/" in seen.pop()


def test_other_seeds_give_other_stand_ins() -> None:
    made = {
        anonymize({"order": "#W1234567"}, "", "", vocabulary=NOTHING, seed=str(n)).arguments["order"] for n in range(20)
    }
    assert len(made) == 20


def test_addresses_that_stand_in_are_no_persons() -> None:
    redactor = Redactor(b"k" * 32)
    for n in range(40):
        text = value(f"[redacted:email:{n:08x}]")
        assert redactor.find(f'{{"email": "{text}"}}') == []


def test_stand_ins_are_plain_words_that_could_not_be_digests() -> None:
    for words in (SHORT, LONG, GIVEN, FAMILY):
        assert len(words) == len(set(words)) >= 30
        assert all(word.isalpha() and word.islower() and not KEPT & {word} for word in words)
        assert all(set(word) - set("abcdef") for word in words)


def test_a_vocabulary_is_made_of_tracks() -> None:
    tracks = [
        session(
            name,
            call("read_file", path=f"ws/{name}.txt"),
            call("find", first_name="Zuzana", _result='{"last_name": "Petrov"}'),
        )
        for name in ("one", "two")
    ]
    vocabulary = vocabulary_of(tracks)
    assert vocabulary.recurs("ws") and not vocabulary.recurs("one.txt")
    assert vocabulary.is_person("zuzana") and vocabulary.is_person("Petrov")
    assert value("Ask Zuzana", vocabulary=vocabulary) != "Ask Zuzana"


def test_real_calls_keep_their_shapes_and_commands(data: Path) -> None:
    from seasoned.history.read import read

    sessions = [one for path in sorted((data / "claude-code").rglob("*.jsonl"))[:12] for one in read(path)]
    calls = [each for one in sessions for each in one.calls()]
    assert len(calls) > 50
    for each in calls:
        texts = {name: text for name, text in each.arguments.items() if isinstance(text, str)}
        made = bound(texts).arguments
        assert all(shape(made[name]) == shape(text) for name, text in texts.items())
        if "command" in texts:
            assert flags(parse(str(made["command"]))) == flags(parse(texts["command"]))
