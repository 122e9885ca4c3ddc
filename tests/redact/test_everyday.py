"""What is found in texts of everyday work, and what stays as it is."""

from __future__ import annotations

from collections import Counter

from seasoned.redact import Redactor
from tests.each_case import each_case
from tests.redact.everyday import is_left, leaks, look_alikes

LEAST = 0.88
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
        "mysql -u root -p shop < dump.sql",
        "密码长度不能少于8位",
        '{"mdp": "trop court", "haslo": "obligatoire"}',
        "Password     : System.Security.SecureString",
        "docker run -e MYSQL_ROOT_PASSWORD mysql:8",
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
        ("-DB_PASS = 'Altpapier44'\n+DB_PASS = os.environ['DB_PASS']", "Altpapier44"),
        ("password             = Keller!Tuer7", "Keller!Tuer7"),
        ('variable "db_password" {\n  type    = string\n  default = "terra-F1rma"\n}', "terra-F1rma"),
        ('{"name": "Password", "type": "textbox", "value": "Geheimrat_5"}', "Geheimrat_5"),
        ("define('AUTH_KEY', 'k|3V8m{Q1 xLw7R}bYc0~NfJp5H');", "k|3V8m{Q1 xLw7R}bYc0~NfJp5H"),
        ("https://user.test/login?username=ops&password=Rollkoffer&to=2", "Rollkoffer"),
        ("host=10.0.0.3 user=app password=Zwergkaninchen dbname=x", "Zwergkaninchen"),
        ("la clave es tornillo2021", "tornillo2021"),
        ("пароль от базы: Берёзка77", "Берёзка77"),
        ("数据库口令为Sx_9527_bb，端口 3306", "Sx_9527_bb"),
        ("username ops privilege 15 password 0 C0re-Switch", "C0re-Switch"),
        ("the staging login is admin / Tr1cycle-Moon", "Tr1cycle-Moon"),
        ("PIN for the alarm panel is 4471", "4471"),
        ("kind: Secret\nmetadata:\n  name: a\ndata:\n  user: b3JkZXJz\n", "b3JkZXJz"),
    ],
)
def test_plain_forms_are_found(text: str, secret: str) -> None:
    assert secret not in R.text(text)
