"""Secrets in the places where real histories leak them, and what looks like them and is none."""

from __future__ import annotations

from collections import Counter

import pytest

from seasoned.redact import Redactor, detector
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
# The score is trained with such texts; here only the rules are asked.
HARMLESS_TO_RULES = (
    # What programs print, ask and say about passwords.
    "$ getent passwd mira\nmira:x:1000:1000:Mira,,,:/home/mira:/bin/bash",
    "$ cat /etc/passwd | head -2\nroot:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin",
    "$ ssh deploy@web1\ndeploy@web1's password: \nPermission denied, please try again.",
    "passwd: authentication token manipulation error\npasswd: password unchanged",
    "passwd:         files systemd\ngroup:          files systemd",
    "Failure Reason: Unknown user name or bad password.  Sub Status: 0xC000006A",
    "unable to load Private Key: error:06065064:digital envelope routines",
    "warning: unknown[198.51.100.4]: SASL LOGIN authentication failed: UGFzc3dvcmQ6",
    "INFO  AuthService - user=boris login ok method=password mfa=totp",
    "331 Password required for web48213\nPassword:\n530 Login incorrect.",
    "IKJ56421I PASSWORD NOT AUTHORIZED FOR USERID",
    "set system login password minimum-length 12\nset system login password format sha512",
    "ERROR: Wrong password : taxes2023.7z",
    "Sealed          true\nUnseal Progress 0/3\nUnseal Nonce    n/a",
    "read -rsp \"Database password: \" DB_PASS; echo\nexport DB_PASS",
    "conn = connect(user, getpass.getpass(\"Password: \"), dsn)",
    "net use Z: \\\\nas\\photos * /user:gran\nType the password for gran:",
    "htpasswd -B -c /etc/nginx/.htpasswd kibana\nNew password:",
    "hydra -L users.txt -P rockyou.txt ssh://10.0.0.4",
    "sha256sum -c <<< \"b2e5e7e4001181e74df5ac64ba2c1ebdc9eee79d2a42cf8adb6830029ab71536  go1.22.tar.gz\"",
    # References and templates.
    "password = T.unpack <$> getEnv \"PGPASS\"",
    "Authorization: Basic {{base64(user:pass)}}",
    "CREATE ROLE etl LOGIN PASSWORD :'etl_password';",
    "- mysql_user: name=wp password={{ wp_pw }} priv=wp.*:ALL state=present",
    "db_pw: \"{{ lookup('hashi_vault', 'secret=apps/db:password') }}\"",
    "http POST api.example/session username=ivo password=@pw.txt",
    "spring.ldap.password=@ldap.password@",
    "database_password: '%env(DATABASE_PASSWORD)%'",
    "const FTP_PASS_ENV = 'FTP_PASS';",
    "'password' => 'required|string|min:8|confirmed',",
    "set system login user noc authentication encrypted-password \"## SECRET-DATA\"",
    "client-certificate-data: DATA+OMITTED\nclient-key-data: DATA+OMITTED",
    "[wifi-security]\nkey-mgmt=wpa-psk\npsk-flags=1",
    "Passwort: mindestens 12 Zeichen, davon zwei Ziffern",
    "wachtwoord: (zelf invullen)",
    # Public by design.
    "HTTP/1.1 101 Switching Protocols\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
    "DKIM-Signature: v=1; d=a.example; bh=wO8WMzORyOAyRbaM1DaGxI3RfeieztskhCHulQoASbE=;",
    "recaptcha_site_key: 6LzraYirra8qDKFXQXqr7SBO3cRHiUeJwKbBe8ts",
    "STRIPE_PUBLISHABLE_KEY=pk_live_51Nq8XcKd2vLmQ7Ttz0JbRyW",
    "<assemblyIdentity name=\"Newtonsoft.Json\" publicKeyToken=\"30ad4fe6b2a6aeed\" />",
    "Cookie: _ga=GA1.2.1122334455.1690000000; _gid=GA1.2.99.1690000000; _fbp=fb.1.1690000000000.881",
    '{"auth":{"client_token":"hmac-sha256:a347bf1b819eac59b0acb162b56d7515d56f26fb652c2e9d3e6153bec5436155"}}',
    "set system login user jk authentication ssh-ed25519 \"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3k8Qz2LmXvRtYwNc jk\"",
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


def test_rules_leave_alone_what_is_said_of_passwords(redactor: Redactor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "find_scored", lambda *given: iter(()))
    harmed = {text: done for text in HARMLESS_TO_RULES if (done := redactor.text(text)) != text}
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
