"""Which proxy leads to a place, by the environment."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seasoned.errors import UsageError
from seasoned.gateway.proxy.upstream import EnvironmentProxy, proxy_for
from tests.each_case import each_case
from tests.gateway.proxy_server import NAME, chain_of

SET = {"ALL_PROXY": "http://proxy.example:3128"}
PROXY = EnvironmentProxy("proxy.example", 3128)
SECRET = "open-sesame"


def _basic(text: str) -> bytes:
    return b"Basic " + base64.b64encode(text.encode())


@each_case(
    ("text", "proxy"),
    [
        ("http://proxy.example:3128", PROXY),
        (" HTTP://Proxy.Example:3128 ", PROXY),
        ("proxy.example:3128", PROXY),
        ("proxy.example", EnvironmentProxy("proxy.example", 80)),
        ("http://[2001:db8::9]:3128", EnvironmentProxy("2001:db8::9", 3128)),
        ("me:pass@proxy.example:3128", EnvironmentProxy("proxy.example", 3128, _basic("me:pass"))),
        (
            "http://CORP%5Cme:a%2Fb%3A%40%20%23@proxy.example:3128",
            EnvironmentProxy("proxy.example", 3128, _basic("CORP\\me:a/b:@ #")),
        ),
        ("http://me:gr%C3%BC%C3%9Fe@proxy.example:3128", EnvironmentProxy("proxy.example", 3128, _basic("me:grüße"))),
    ],
)
def test_an_address_of_a_proxy_is_read(text: str, proxy: EnvironmentProxy) -> None:
    assert proxy_for(NAME, 443, is_tls=True, environment={"HTTPS_PROXY": text}) == proxy


@each_case(
    ("host", "port", "listed", "is_direct"),
    [
        (NAME, 443, "", False),
        (NAME, 443, "*", True),
        (NAME, 443, NAME, True),
        (NAME, 443, "one.example, example.test", True),
        (NAME, 443, "ample.test", False),
        (NAME, 443, f"{NAME}:443", True),
        (NAME, 8443, f"{NAME}:443", False),
        ("2001:db8::1", 443, "[2001:db8::1]", True),
        ("2001:db8::1", 443, "2001:db8::2", False),
        ("127.0.0.1", 80, "", True),
        ("::1", 80, "", True),
        ("::ffff:127.0.0.1", 80, "", True),
        ("localhost", 80, "", True),
        ("model.localhost", 80, "", True),
        ("notlocalhost", 80, "", False),
    ],
)
def test_this_machine_and_who_is_left_out_are_reached_directly(
    host: str, port: int, listed: str, is_direct: bool
) -> None:
    for is_tls in (True, False):
        for name in ("NO_PROXY", "no_proxy"):
            found = proxy_for(host, port, is_tls=is_tls, environment={**SET, name: listed})
            assert found == (None if is_direct else PROXY)


_NAMES = [name for one in ("https", "http", "all") for name in (f"{one}_proxy", f"{one}_PROXY".upper())]


@given(st.dictionaries(st.sampled_from(_NAMES), st.sampled_from(["", " ", "a.example", "b.example", "c.example"])))
def test_the_variable_of_the_scheme_wins_and_small_letters_before_it(environment: dict[str, str]) -> None:
    def told(name: str) -> str:
        return environment.get(name.lower(), environment.get(name.upper(), "")).strip()

    for is_tls, own in ((True, "https_proxy"), (False, "http_proxy")):
        found = proxy_for(NAME, 443, is_tls=is_tls, environment=environment)
        assert (found.host if found else "") == (told(own) or told("all_proxy"))


@each_case("kind", ["https", "socks4", "socks5", "socks5h", "SOCKS5"])
def test_a_proxy_of_another_kind_is_refused_with_what_to_do(kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        proxy_for(NAME, 443, is_tls=True, environment={"all_proxy": f"{kind}://me:{SECRET}@proxy.example:1080"})
    said = str(caught.value)
    assert said.startswith(f"all_proxy names a {kind.lower()}:// proxy")
    assert f"add {NAME!r} to NO_PROXY" in said
    assert SECRET not in said


@each_case(
    "text",
    [
        f"http://me:{SECRET}@",
        f"http://me:{SECRET}@proxy.example:70000",
        f"http://me:{SECRET}#more@proxy.example:3128",
        f"http://me:12/{SECRET}@proxy.example:3128",
        f"http://me:{SECRET}@proxy.example:3128/path",
        f"http://me:{SECRET}\udcff@proxy.example",
        f"{SECRET}://me@proxy.example",
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError, match="HTTPS_PROXY is not a valid proxy address") as caught:
        proxy_for(NAME, 443, is_tls=True, environment={"HTTPS_PROXY": text})
    assert all(SECRET not in repr(one) for one in chain_of(caught.value))
