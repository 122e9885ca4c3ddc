"""The third and fourth set of leaks, and look-alikes, written before their authors had read a rule: `writings/*.txt`.

In the files `⟦kind⟧` stands for a secret and `⟨kind⟩` for something harmless that is drawn at random; `|b64` and
`|url` write it encoded. A coin decides for each writing whether rules may be improved by looking at it: the other half
is only measured.
"""

from __future__ import annotations

import base64
import json
import re
import string
import uuid
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from tests.redact.corpus_places import CRYPT, crypt, hashed, phrase
from tests.redact.corpus_secret import ALNUM, BASE64, HEX, URLSAFE, b64, draw

FOLDER = Path(__file__).parent / "writings"
_SLOT = re.compile("⟦([^⟧]+)⟧|⟨([^⟩]+)⟩")

ALPHABETS = {
    "alnum": ALNUM,
    "b32:": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "b58:": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b64:": BASE64,
    "crypt": CRYPT,
    "dig": string.digits,
    "hex": HEX,
    "HEX": HEX.upper(),
    "letters": string.ascii_letters,
    "low": string.ascii_lowercase + string.digits,
    "signs": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
    "up": string.ascii_uppercase + string.digits,
    "url": URLSAFE,
}
NOUNS = [
    "Sommer",
    "Winter",
    "dragon",
    "Berlin",
    "acme",
    "Monkey",
    "coffee",
    "Falcon",
    "Lisboa",
    "garden",
    "Rocket",
    "shadow",
    "Karma",
    "zebra",
    "Admin",
]


class WrittenLeak(NamedTuple):
    """A text, the secrets in it as they are written there, and on which side of the coin its writing fell."""

    place: str
    writing: int
    is_measured_only: bool
    carrier: str
    text: str
    secrets: list[str]


def simple_password(r: Random) -> str:
    """A password of letters and figures, for places whose grammar ends at a sign."""
    form = r.randrange(3)
    if form == 0:
        return r.choice(NOUNS) + str(r.randrange(100, 99999))
    if form == 1:
        return draw(r, ALNUM, r.randrange(10, 20)) + str(r.randrange(10))
    return f"{r.choice(NOUNS)}_{r.choice(NOUNS).lower()}{r.randrange(10, 99)}"


def any_password(r: Random) -> str:
    """A password as people and password managers make them."""
    form = r.randrange(5)
    if form == 0:
        return r.choice(NOUNS) + str(r.randrange(1990, 2026)) + r.choice("!!?#*")
    if form == 1:
        return r.choice(NOUNS).replace("a", "@").replace("o", "0") + r.choice("._-") + draw(r, string.digits, 3)
    if form == 2:
        return "-".join(r.sample(NOUNS, 3)).lower() + str(r.randrange(10, 99))
    if form == 3:
        body = [draw(r, ALNUM, 4) + r.choice("!#$%&*@^~+") for _ in range(3)]
        return draw(r, string.ascii_letters, 1) + "".join(body) + str(r.randrange(10))
    return simple_password(r)


MAKERS: dict[str, Callable[[Random], str]] = {
    "aws": lambda r: draw(r, BASE64, 40),
    "bcrypt": hashed,
    "bytes64": lambda r: ",".join(str(r.randrange(256)) for _ in range(64)),
    "cipair": lambda r: b64(f"ci:{simple_password(r)}".encode()),
    "crypt": crypt,
    "fp20": lambda r: ":".join(draw(r, HEX.upper(), 2) for _ in range(20)),
    "jwt": lambda r: f"eyJhbGciOiJIUzI1NiJ9.eyJ{draw(r, URLSAFE, 60)}.{draw(r, URLSAFE, 43)}",
    "mac": lambda r: ":".join(draw(r, HEX, 2) for _ in range(6)),
    "phrase": phrase,
    "pw": any_password,
    "pwa": simple_password,
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
}
CARRIERS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "json": lambda text: json.dumps({"stdout": text, "stderr": ""}, ensure_ascii=False),
    "read": lambda text: "\n".join(f"{i:6}→{line}" for i, line in enumerate(text.split("\n"), 9)),
    "diff": lambda text: "@@ -1,2 +1,4 @@\n" + "\n".join(f"+{line}" for line in text.split("\n")),
    "grep": lambda text: "\n".join(f"src/a.txt:{i}:{line}" for i, line in enumerate(text.split("\n"), 9)),
}


def _make(r: Random, kind: str) -> str:
    kind, _, encoding = kind.partition("|")
    if kind in MAKERS:
        made = MAKERS[kind](r)
    else:
        at = re.fullmatch(r"(\D+:?)(\d+)|(b\d\d:)(\d+)", kind)
        assert at, kind
        made = draw(r, ALPHABETS[at[1] or at[3]], int(at[2] or at[4]))
    if encoding == "b64":
        return base64.b64encode(made.encode()).decode()
    return quote(made, safe="") if encoding == "url" else made


def fill(r: Random, writing: str) -> tuple[str, list[str]]:
    """The text with something in every slot, and the secrets among it."""
    secrets: list[str] = []

    def put(slot: re.Match[str]) -> str:
        made = _make(r, slot[1] or slot[2])
        if slot[1]:
            secrets.append(made)
        return made

    return _SLOT.sub(put, writing), secrets


def writings(name: str) -> Iterator[tuple[str, int, str]]:
    """Place, number and text of every writing in a file."""
    for part in ("\n" + (FOLDER / name).read_text(encoding="utf-8")).split("\n== ")[1:]:
        place, _, rest = part.partition("\n")
        for number, writing in enumerate(rest.rstrip("\n").split("\n--\n")):
            yield place, number, writing


def written_leaks(name: str = "leaks.txt", seed: int = 1) -> Iterator[WrittenLeak]:
    """Every writing as it stands, and once more as a result in JSON, a numbered file, a diff or a search shows it."""
    r = Random(seed)
    for place, number, writing in writings(name):
        coin = sha256(f"{place} {number} {writing}".encode()).digest()[0] % 2 == 1
        # What people say to an agent stands in no file.
        other = "json" if place.startswith("said") else r.choice(list(CARRIERS)[1:])
        for carrier in ("plain", other):
            text, secrets = fill(r, writing)
            yield WrittenLeak(place, number, coin, carrier, CARRIERS[carrier](text), secrets)


def look_alikes(name: str = "harmless.txt", seed: int = 1) -> Iterator[str]:
    """Harmless texts: every writing as it stands and in every carrier."""
    r = Random(seed)
    for _, _, writing in writings(name):
        for carrier in CARRIERS.values():
            yield carrier(fill(r, writing)[0])


def later_leaks(which: str) -> Iterator[tuple[str, str, list[str]]]:
    """Place, text and secrets of the sixth set or a later one; reversed in the file, for scanners look there too."""
    for line in (FOLDER / f"leaks_{which}.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        leak = json.loads(line)
        secrets = [written[::-1] for written in leak["reversed"]]
        text = leak["text"]
        for number, secret in enumerate(secrets):
            text = text.replace(f"⟦{number}⟧", secret)
        yield leak["place"], text, secrets


def later_look_alikes(which: str) -> list[str]:
    """The harmless texts of that set."""
    lines = (FOLDER / f"harmless_{which}.jsonl").read_text(encoding="utf-8").strip().split("\n")
    return [json.loads(line)["text"] for line in lines]


LATER = (
    "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty_first", "twenty_second",
)  # fmt: skip


def labelled_sets() -> dict[str, tuple[list[tuple[str, list[str]]], list[str]]]:
    """Every set that weights are trained with: its texts with their secrets, and its look-alikes."""
    sets = {
        name: ([(one.text, one.secrets) for one in written_leaks(leaks)], list(look_alikes(alike)) if alike else [])
        for name, leaks, alike in (
            ("third", "leaks.txt", "harmless.txt"),
            ("fourth", "leaks_fourth.txt", "harmless_fourth.txt"),
            ("fifth", "leaks_fifth.txt", ""),
        )
    }
    for name in LATER:
        sets[name] = ([(text, secrets) for _, text, secrets in later_leaks(name)], later_look_alikes(name))
    return sets


def is_left(secret: str, text: str) -> bool:
    """Whether the secret, or so much of it that it helps to guess the rest, still stands in the text."""
    width = max(6, (len(secret) + 1) // 2)
    return any(secret[i : i + width] in text for i in range(max(1, len(secret) - width + 1)))
