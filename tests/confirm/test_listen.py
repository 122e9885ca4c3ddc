"""Where the service listens: never in the clear beyond this machine."""

from __future__ import annotations

import datetime
import socket
import ssl
from ipaddress import IPv4Address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from seasoned.confirm.policy import Listen
from seasoned.confirm.service.listen import bind, check_listen
from seasoned.errors import CannotDo, UsageError
from tests.confirm.serving import ASKED, serving
from tests.each_case import check_each


def test_loopback_is_fine_without_more() -> None:
    def check(host: str) -> None:
        try:
            assert check_listen(Listen(host=host, port=0))
        except UsageError as error:
            pytest.skip(f"this machine does not know {host!r}: {error}")

    check_each(["127.0.0.1", "::1", "localhost", "127.8.9.10"], check)


def test_other_addresses_are_refused_without_tls_or_a_flag(tmp_path: Path) -> None:
    def check(host: str) -> None:
        with pytest.raises(UsageError, match="--insecure-listen"):
            check_listen(Listen(host=host, port=0))
        assert check_listen(Listen(host=host, port=0, allow_plain=True))
        with_tls = Listen(host=host, port=0, tls_certificate=tmp_path / "a", tls_key=tmp_path / "b")
        assert check_listen(with_tls)

    check_each(["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1"], check)


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CannotDo, match="another port"):
            bind(Listen(port=taken.getsockname()[1]))


def test_a_certificate_that_cannot_be_used_stops_the_service_before_it_starts(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("no certificate", "utf-8")
    listen = Listen(port=0, tls_certificate=tmp_path / "bad.pem", tls_key=tmp_path / "bad.pem")
    with pytest.raises(UsageError, match="cannot be used"), serving(tmp_path / "home", listen=listen):
        pytest.fail("it started")


def test_with_a_certificate_it_speaks_tls_and_nothing_else(tmp_path: Path) -> None:
    listen = _certificate(tmp_path)
    with serving(tmp_path / "home", listen=listen) as found:
        assert found.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=listen.tls_certificate)
        with found.client("agent", verify=trusted) as client:
            assert client.post("/confirm", json=ASKED).status_code == 202
        with (
            httpx2.Client(base_url=found.url.replace("https", "http"), trust_env=False) as client,
            pytest.raises(httpx2.HTTPError),
        ):
            client.get("/health")


def _certificate(folder: Path) -> Listen:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return Listen(port=0, tls_certificate=certificate, tls_key=secret)


def test_a_signal_ends_the_service_with_nothing_left_behind(tmp_path: Path) -> None:
    with serving(tmp_path, in_process=True) as found:
        found.ask()
        assert found.process is not None
        found.process.terminate()
        assert found.process.wait(20) == 0
