"""Texts made to be slow: time grows with length, not with its square."""

# ruff: noqa: E501 - a list of baits, as many on a line as are read together

from __future__ import annotations

import time
from random import Random

from seasoned.redact import Redactor
from tests.conftest import examples
from tests.each_case import each_case

MB = 1_000_000
BAIT = [
    "a", "A1", "-", "=", "%41", "a@", "a@a.", "://", "://a:b1c2@", "\\", '\\"', '"', "password", "password=", "password: ",
    'password="a', "--password ", "key=", "token: a", "eyJa.", "sk-a1", "-----BEGIN RSA PRIVATE KEY-----",
    "-----END PRIVATE KEY-----", "Private-Lines: 1\n", "AKIA", "4111 ", "4111111111111112 ", "DE89 3704 ", "0000 0",
    "phone: 1", "aGVsbG8gd29ybGQ", "seed: a ", "cookie: a=", "authorization: bearer ", "[redacted:x:12345678]",
    "passwordpassword", "the password is ", "htpasswd -b a b ", "x:5432:a:b:", "\\u0022", "identified by '", " -p", "-u a:",
    "<password>", "\n", "password=abc12345 ", "user:abcd1|chpasswd ", '{"password":12345}', "kind: secret\ndata:\n a: b\n",
    "stringdata:\n a: b1c2\n", '"kty" "d":"', "password: |\n  ", "define('a_password','", ".login('a','", "$6$a$",
    "sqlplus a/b@", "net user a ", "words abandon ability able ", "密码是 a1b2c3 ", "-asplaintext ", "echo a|sudo -s ",
    "setpassword('", "'password', '", "a:b@tcp(", "{ssha}a ", ":::a", "a1B2c3D4e5F6g7H ", "curl -u a:b ", "password || '",
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


@each_case("bait", ["token ", "password ", "mysql -p", "[sudo] password for ", "cookie: a=", '{"password":12345}'])
def test_a_megabyte_of_one_word_takes_a_moment(bait: str) -> None:
    redactor = Redactor(b"k" * 32)
    small, large = bait * (MB // 4 // len(bait)), bait * (MB // len(bait))
    # Linear, and a fraction of a second for all of it: the limit leaves room for a slow machine.
    assert is_linear(redactor, small, large, 6.0, 0.2)
    assert seconds(redactor, large, 1) < 1


def test_of_a_text_with_thousands_of_passwords_nothing_is_left() -> None:
    done = Redactor(b"k" * 32).text("".join(f"password: hunter{at}x\n" for at in range(6_000)))
    assert "hunter" not in done
