"""What is everybody's stays, so that a bound call still works; what is somebody's own never does."""

from __future__ import annotations

import re

import pytest

from seasoned.template.anonymize.call import anonymize
from seasoned.template.anonymize.words import Vocabulary, is_medium, is_public
from tests.each_case import each_case

NOTHING = Vocabulary()


def command(text: str, vocabulary: Vocabulary = NOTHING) -> str:
    return str(anonymize({"command": text}, "", "", vocabulary=vocabulary, seed="seed").arguments["command"])


@each_case(
    "text",
    [
        "curl -H 'Content-Type: application/json' -H 'Accept: text/html' http://localhost:8000/api",
        "curl -H 'Accept: application/vnd.github.v3' https://api.github.com/user",
        "head -1 x.pl #!/usr/bin/perl",
        "#!/usr/bin/env perl",
        "ls /var/lib/postgresql/data /var/log/syslog /opt/homebrew/bin/frobnicate /proc/cpuinfo /dev/shm/x",
        "cat /etc/nginx/sites-enabled/default /usr/share/zoneinfo/Europe/Berlin /sys/class/net /lib/modules",
        "ls node_modules/left-pad/lib .venv/lib/python3.11/site-packages/attrs/setters.py",
        "go get golang.org/x/exp/slices gopkg.in/yaml.v3 k8s.io/client-go/kubernetes",
        "ls src tests docs build dist target",
        r"dir C:\Windows\System32\drivers",
    ],
)
def test_what_every_machine_has_stays(text: str) -> None:
    assert command(text) == text


def test_the_owner_of_a_module_changes_alike_everywhere_and_its_host_stays() -> None:
    made = command("go get github.com/acmeco/widget && git clone https://github.com/acmeco/widget.git")
    found = re.fullmatch(r"go get (github\.com/[a-z]+/[a-z]+) && git clone https://(.+)\.git", made)
    assert found is not None and found[1] == found[2] != "github.com/acmeco/widget"


@pytest.mark.parametrize(
    "text",
    ["/etc/letsencrypt/live/hooks.acme-internal.com/x.pem", "https://hooks.acme-internal.com/x", "ssh hooks.acme.io"],
)
def test_a_host_is_replaced_however_many_lineages_know_it(text: str) -> None:
    vocabulary = Vocabulary()
    for root in ("one", "two"):
        vocabulary.add(root, text)
        vocabulary.add(root, "acme")
    assert "acme" in text and "acme" not in command(text, vocabulary)


def test_words_of_the_session_are_replaced_in_folders_of_the_system_but_not_in_names_of_programs() -> None:
    made = command("cp ~/parcelpost/x.conf /etc/nginx/parcelpost.conf && ls /usr/bin/parcelpost")
    name = made.partition("~/")[2].partition("/")[0]
    assert name != "parcelpost"
    assert made.endswith(f"/etc/nginx/{name}.conf && ls /usr/bin/parcelpost")


@each_case(
    ("host", "expected"),
    [("github.com", True), ("api.github.com", True), ("localhost", True), ("example.co.uk", True),
     ("example.org", True), ("github.com.evil.io", False), ("notgithub.com", False), ("acme.github.io", False),
     ("db1", False)],
)  # fmt: skip
def test_only_a_closed_set_of_hosts_is_public(host: str, expected: bool) -> None:
    assert is_public(host) is expected


@each_case(
    ("text", "expected"),
    [("text/html", True), ("image/png", True), ("application/x-parcel", True), ("multipart/form-data", True),
     ("model/user.py", False), ("text/parcels", False), ("parcels/json", False), ("text/html/x", False)],
)  # fmt: skip
def test_a_media_type_is_no_path(text: str, expected: bool) -> None:
    assert is_medium(text) is expected
