"""Texts made to be slow: time grows with length, not with its square."""

from __future__ import annotations

import time

from seasoned.redact import Redactor
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
]  # fmt: skip


def seconds(redactor: Redactor, text: str) -> float:
    """The quicker of two looks, so that a slow moment of the machine does not count."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        redactor.find(text)
        taken.append(time.process_time() - start)
    return min(taken)


@each_case("bait", BAIT)
def test_twice_the_bait_takes_about_twice_the_time(bait: str) -> None:
    redactor = Redactor(b"k" * 32)
    small, large = bait * (MB // 20 // len(bait)), bait * (MB // 10 // len(bait))
    # Four times would be the square; the constant is for texts that take next to no time at all.
    assert seconds(redactor, large) < 3.2 * seconds(redactor, small) + 0.2, bait
