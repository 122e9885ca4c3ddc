"""The address of a database may be shown, its password never."""

from __future__ import annotations

from urllib.parse import quote

from hypothesis import assume, given
from hypothesis import strategies as st

from seasoned.store.database import without_password
from tests.each_case import each_case


@each_case(
    ("address", "shown"),
    [
        ("postgresql://u:secret@host:5432/x", "postgresql://u:***@host:5432/x"),
        ("postgresql://u:se@cr/et@host/x", "postgresql://u:***@host/x"),
        ("postgresql://u:se:cr@host/x?sslmode=require", "postgresql://u:***@host/x?sslmode=require"),
        ("postgresql://u@host/x?password=secret&sslmode=require", "postgresql://u@host/x?password=***&sslmode=require"),
        ("postgresql://host/x?user=u&sslpassword=secret", "postgresql://host/x?user=u&sslpassword=***"),
        ("host=h password=secret dbname=x", "host=h password=*** dbname=x"),
        ("host=h PASSWORD = 'a secret\\' one' dbname=x", "host=h PASSWORD = *** dbname=x"),
        ("host=h password='a secret", "host=h password=***"),
        ("host=h password=a\\ secret dbname=x", "host=h password=*** dbname=x"),
        ("postgresql://host:5432/x", "postgresql://host:5432/x"),
        ("postgresql://u@host/x", "postgresql://u@host/x"),
        ("host=h dbname=x", "host=h dbname=x"),
    ],
)
def test_only_the_password_is_hidden(address: str, shown: str) -> None:
    assert without_password(address) == shown


@given(st.text(min_size=6), st.sampled_from(["", "@", "/", ":", "?"]))
def test_no_password_is_ever_shown(password: str, sign: str) -> None:
    assume(password.strip() and password not in "postgresql://user:***@host/x?password=sslmode=require")
    encoded = quote(password, safe=sign)
    for address in (f"postgresql://user:{encoded}@host/x", f"postgresql://user@host/x?password={quote(password)}"):
        assert encoded not in without_password(address)
    words = password.replace("\\", "\\\\").replace("'", "\\'")
    assert words not in without_password(f"host=h password='{words}' dbname=x")
