"""Secrets in the places where real histories leak them, and what looks like them and is none."""

from __future__ import annotations

from collections import Counter

import pytest

from seasoned.redact import Redactor
from seasoned.redact.mark import MARKS, PROGRAM_MARKS, find_marks, find_marks_plainly
from tests.redact.corpus_places import PLACES, leaks
from tests.torture import TORTURE

HARMLESS = (
    "git checkout -b feature/login-form",
    "curl -b cookies.txt -c cookies.txt https://acme.io",
    "unzip -p archive.zip readme.txt | head",
    "ssh -p 2222 deploy@10.0.0.4",
    "mkdir -p src/password/reset",
    "openssl enc -d -k \"$KEY\" -in a",
    "ssh-keygen -t ed25519 -N '' -f id",
    "keytool -list -storepass $STOREPASS",
    "the pw is wrong",
    "use the password field2 of the form",
    "login with username / password",
    "creds: see the wiki / section4",
    "Das Passwort ist falsch.",
    "Passwort für Nutzer2 zurücksetzen",
    "mot de passe oublié ?",
    "la contraseña es obligatoria",
    "пароль не подходит",
    "密码错误，请重试",
    "パスワードが違います",
    "define('VERSION', '1.2.3');",
    "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
    'conn.connect("localhost", "users")',
    'server.login(user, password)',
    "kind: Secret\nmetadata:\n  name: app-tls-2024\n  namespace: web-1\n",
    "kind: SecretStore\nspec:\n  provider: vault1\n",
    '{"outputs": {"url": {"value": "https://acme.io/v2", "sensitive": false}}}',
    "these words: the quick brown fox jumps over the lazy dog and then runs home again today",
    "seed: 42 words per line, phrase by phrase, for each of the given languages",
    "net user bob /delete",
    "nmcli dev wifi list",
    "password: |\n",
    "password: >-\n\nuser: x",
    'variable "db_password" {\n  type = string\n}\n',
    "echo $6 $5 $1",
    "cost $2b and $12 for 2023",
    '{"kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFb", "e": "AQAB"}',
    "totp is not enabled for this user",
    "poetry config pypi-token.acme --unset",
    "psk is not set",
    "sqlplus /nolog",
)  # fmt: skip


def _recall(redactor: Redactor, is_aside: bool, seed: int) -> tuple[float, Counter[str]]:
    found = [leak for leak in leaks(seed) if leak.is_aside == is_aside]
    missed = Counter(leak.place for leak in found if leak.secret in redactor.text(leak.text))
    return 1 - missed.total() / len(found), missed


@pytest.mark.parametrize("seed", [1, 11] if TORTURE else [1])
def test_secrets_are_gone_in_the_places_where_they_leak(redactor: Redactor, seed: int) -> None:
    assert len(PLACES) >= 20
    assert len(list(leaks(seed))) >= 600
    seen, missed = _recall(redactor, False, seed)
    assert seen >= 0.99, missed
    aside, missed = _recall(redactor, True, seed)
    assert aside >= 0.95, missed


def test_what_only_looks_like_it_is_left_alone(redactor: Redactor) -> None:
    harmed = {text: done for text in HARMLESS if (done := redactor.text(text)) != text}
    assert harmed == {}


def test_redacting_a_leak_twice_changes_nothing(redactor: Redactor) -> None:
    for leak in leaks(5, each=2):
        once = redactor.text(leak.text)
        assert redactor.text(once) == once, leak


def test_marks_are_the_same_with_and_without_the_library() -> None:
    for leak in leaks(7, each=1):
        low = leak.text.lower()
        assert find_marks(low) == find_marks_plainly(low)
    every = {*MARKS, *PROGRAM_MARKS}
    assert find_marks(" ".join(every)) == find_marks_plainly(" ".join(every))
    assert find_marks(" ".join(every)).keys() == every
    # Marks that overlap are all found.
    assert find_marks("passenhakenkey").keys() >= {"pass", "senha", "ken", "key"}
