"""What is found in texts of everyday work, and what stays as it is."""

from __future__ import annotations

from collections import Counter

from seasoned.redact import Redactor
from tests.each_case import each_case
from tests.redact.everyday import is_left, leaks, look_alikes

LEAST = 0.80
R = Redactor(b"k" * 32)


def test_most_secrets_of_everyday_work_are_gone() -> None:
    left: Counter[str] = Counter()
    count = 0
    for place, text, secrets in leaks():
        done = R.text(text)
        count += len(secrets)
        left[place] += sum(is_left(secret, text, done) for secret in secrets)
    assert count > 200
    assert 1 - left.total() / count >= LEAST, left


def test_hardly_any_look_alike_is_changed() -> None:
    texts = look_alikes()
    changed = [text for text in texts if R.text(text) != text]
    assert len(changed) <= len(texts) / 100, changed


@each_case(
    "text",
    [
        "the password reset for oh-my-posh re-arranged",
        "user root on safecast-mcp",
        "export PWD=D:/oh-my-posh",
        "PWD=oh-my-posh",
        "login as root to ollama-web-chat and vet GHSA-fwjx-9p69-h25h",
        "git config user.email xxxxxx@openssh.com",
        "shared-key: latest-cli-${{ matrix.target }}",
    ],
)
def test_names_and_words_of_a_sentence_stay(text: str) -> None:
    assert R.text(text) == text


@each_case(
    ("text", "secret"),
    [
        ("the password is hunter2x", "hunter2x"),
        ("The password for the router is Sommer!24, try it", "Sommer!24"),
        ("das Passwort lautet Kirsche7", "Kirsche7"),
        ("mysql -u root -phunter2 shop", "hunter2"),
        ("curl -u bob:s3cr3tX https://x.io", "s3cr3tX"),
        ("tool --db-password 'tomato soup9' run", "tomato soup9"),
        ("Server=a;Uid=b;Pwd=Lager77;", "Lager77"),
        ("kind: Secret\nmetadata:\n  name: a\ndata:\n  user: b3JkZXJz\n", "b3JkZXJz"),
    ],
)
def test_plain_forms_are_found(text: str, secret: str) -> None:
    assert secret not in R.text(text)
