"""Texts made to be slow: time grows with length, not with its square."""

from __future__ import annotations

import time

import pytest

from seasoned.redact import Redactor

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


@pytest.mark.parametrize("bait", BAIT)
def test_time_is_bounded_for_any_repeated_bait(bait: str) -> None:
    redactor = Redactor(b"k" * 32)
    small, large = bait * (MB // 40 // len(bait)), bait * (MB // 5 // len(bait))
    redactor.find(small)
    start = time.process_time()
    redactor.find(large)
    assert time.process_time() - start < 1.5, bait
