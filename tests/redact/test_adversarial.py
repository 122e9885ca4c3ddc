"""Texts made to be slow: time grows with length, not with its square."""

from __future__ import annotations

import time
from random import Random

from seasoned.redact import Redactor
from tests.conftest import examples
from tests.each_case import each_case

MB = 1_000_000
BAIT = [
    "a", "A1", "-", "=", ":", " ", "%", "%41", "@", "a@", "a.", "a@a.", "://", "://a:", "\\", '\\"', '"', "'", "{", "[",
    "password", "password=", "password: ", 'password="', 'password="a', "--password ", "key", "key=", "token: a",
    "eyJ", "eyJa.", "sk-", "sk-a1", "-----BEGIN RSA PRIVATE KEY-----", "Private-Lines: 1\n", "--a-",
    "AKIA", "4111 ", "4111111111111112 ", "4111-", "DE89 3704 ", "0000 0", "phone: 1", "aGVsbG8gd29ybGQ", "seed: a ",
    "-----END PRIVATE KEY-----",
    "cookie: a=", "authorization: bearer ", "[redacted:", "[redacted:x:12345678]", "passwordpassword", "pass word is ",
    "htpasswd -b a b ", "x:5432:a:b:", "\\u0022", "Zm9v" , "identified by '", " -p", "-u a:", "SG.", "<password>", "\n",
    "mysql -p",
    "password=abc12345 ", "sk-a1b2c3d4e5f6g7h8i9j0k1l2m3 ", "://a:b1c2@", "user:abcd1|chpasswd ", "pass:abcd1 ",
    '{"password":12345}', "curl -b a=b1c2d3e4f5g6h7 ",
    "kind: secret data: ", "stringdata:\n a: b1c2\n", '"kty" "d":"',
    "password: |\n  ", "login with a / ", "define('a_password','", ".login('a','", "$6$a$", "sqlplus a/b@",
    "net user a ",
    "words abandon ability able ", "das passwort ist ", "密码是 a1b2c3 ", "totp ", "sensitive: true value ",
    "-asplaintext ",
    "a,password,b\n", "password,", "|password|\n", "kind: secret\ndata:\n a: b\n", "key: a = string::from(",
    "setpassword('", "'password', '", "requirepass a1b2c3\n", "option key 'a", "echo a|sudo -s ", "password: send 'a",
    "/v password /d ", "add_user a b1c2", "secret 5 abcde ", "-u a -p b1", "jwt.sign(a, '", "\ttrue\t1\ta\t",
    "a:b@tcp(", "$1000:a$b:", "{ssha}a ", ":::a",
    "::set-output name=token::", "backup code\na1b2\n", "пароль от a b c d ", "login a1b2c3d4e5f6g7h8i9j0 ",
    "a1B2c3D4e5F6g7H ", "a1B2c3D4e5F6g7H/", "login a / b1c2 ", "user, a1b2c3\n", "passwords:\n a: b1\n", "tokens: [",
    "AUTH a1b2c3 ", "insert into a (password) values ('b1'),", "NAME  TOKEN  \na1  b2\n", "login('a1b2', ", "pin: 1",
    "secret [1,", "password || '", "token=$(echo a1b2", "licence A1B2-", "backup code 1234-", "private a1B2c3D4e5F6/",
]  # fmt: skip


def seconds(redactor: Redactor, text: str, looks: int) -> float:
    """The quickest of several looks, so that a slow moment of the machine does not count."""
    taken = []
    for _ in range(looks):
        start = time.process_time()
        redactor.text(text)
        taken.append(time.process_time() - start)
    return min(taken)


def is_linear(redactor: Redactor, small: str, large: str, most: float, constant: float) -> bool:
    """Whether the large text takes at most so many times as long as the small one."""
    # Most are quicker than the constant alone, and one look is enough where it was quick enough.
    took = seconds(redactor, large, 1)
    if took < constant:
        return True
    limit = most * seconds(redactor, small, 2) + constant
    return took < limit or seconds(redactor, large, 2) < limit


@each_case("bait", BAIT)
def test_twice_the_bait_takes_about_twice_the_time(bait: str) -> None:
    redactor = Redactor(b"k" * 32)
    small, large = bait * (MB // 80 // len(bait)), bait * (MB // 40 // len(bait))
    # Four times would be the square; the constant is for texts that take next to no time at all.
    assert is_linear(redactor, small, large, 3.2, 0.2), bait


def test_baits_mixed_by_chance_take_linear_time() -> None:
    redactor = Redactor(b"k" * 32)
    r = Random(3)
    for _ in range(examples(200)):
        bait = "".join(r.choice(BAIT) for _ in range(r.choice((2, 2, 3))))
        before, after = r.choice(BAIT), r.choice(BAIT)
        small, large = (before + bait * (size // len(bait)) + after for size in (4_000, 16_000))
        # Sixteen times would be the square.
        assert is_linear(redactor, small, large, 8, 0.1), (before, bait, after)
