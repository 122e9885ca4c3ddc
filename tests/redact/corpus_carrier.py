"""Where secrets turn up in an agent's history: the texts and JSON values that carry them."""

from __future__ import annotations

import base64
import json
import textwrap
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote

from tests.redact.corpus_secret import ALNUM, HEX, PEM_LABELS, WORDS, b64, draw, password, pem, words
from tests.redact.everyday import FOLDER

Carry = Callable[[Random, str], Any]


def nested(value: Any, depth: int) -> str:
    """JSON in a string, in a string, ..."""
    text = json.dumps(value)
    for _ in range(depth):
        text = json.dumps({"output": text, "exit_code": 0})
    return text


def listing(lines: list[str]) -> str:
    return "\n".join(f"{i:>6}\t{line}" for i, line in enumerate(lines, 1))


CARRY_TOKEN: dict[str, Carry] = {
    "alone": lambda r, s: s,
    "sentence": lambda r, s: f"I found {s} in the old config, should I rotate it?",
    "argument": lambda r, s: {"command": f"deploy --env prod --with {s}", "timeout": 30},
    "list": lambda r, s: {"args": ["run", s, "--verbose"]},
    "result": lambda r, s: f"$ cat notes.txt\nlast used: 2024-05-01\n{s}\n$ ",
    "json": lambda r, s: json.dumps({"id": 7, "value": s, "ok": True}),
    "nested": lambda r, s: nested({"value": s, "note": 'say "hi"'}, 1),
    "nested-twice": lambda r, s: nested({"lines": f"first\n{s}\nlast"}, 2),
    "u0022": lambda r, s: f"{{\\u0022value\\u0022: \\u0022{s}\\u0022}}",
    "query": lambda r, s: f"GET /v1/items?limit=5&x={quote(s, safe='')}&page=2 HTTP/1.1",
    "yaml": lambda r, s: f"service:\n  name: api\n  value: {s}\n  replicas: 2\n",
    "diff": lambda r, s: f"@@ -1,3 +1,3 @@\n-old: 1\n+{s}\n context\n",
    "numbered": lambda r, s: listing(["import os", f'VALUE = "{s}"', "print(VALUE)"]),
    "log": lambda r, s: f"2024-03-0{r.randrange(1, 9)}T10:11:12Z INFO [worker-3] got {s} from upstream in 12ms",
    "base64": lambda r, s: f"echo {b64(s.encode())} | base64 -d",
    "base64-env": lambda r, s: b64(f"# settings\nDEBUG=1\nVALUE={s}\n".encode()),
    "base64-json": lambda r, s: json.dumps({"payload": b64(json.dumps({"v": s, "n": 1}).encode())}),
    "markdown": lambda r, s: f"Use this:\n\n```sh\nrun-it '{s}'\n```\n",
    "csv": lambda r, s: f"id,name,value\n1,prod,{s}\n2,dev,none\n",
}

CARRY_LABELLED: dict[str, Callable[[Random, str, str], Any]] = {
    "value": lambda r, k, s: {"config": {k: s, "port": 5432}},
    "json": lambda r, k, s: json.dumps({"host": "db.internal", k: s, "port": 5432}, indent=r.choice([None, 2])),
    "nested": lambda r, k, s: nested({k: s, "port": 1}, 1),
    "nested-twice": lambda r, k, s: nested({"file": f'{{\n  "{k}": "{s}"\n}}'}, 2),
    "u0022": lambda r, k, s: f"{{\\u0022{k}\\u0022: \\u0022{s}\\u0022}}",
    "env": lambda r, k, s: f"NODE_ENV=production\n{k.upper().replace('-', '_')}={s}\nPORT=3000\n",
    "env-quoted": lambda r, k, s: f'{k.upper().replace("-", "_")}="{s}"\n',
    "export": lambda r, k, s: {"command": f"export {k.upper().replace('-', '_')}={s} && npm start"},
    "yaml": lambda r, k, s: f"database:\n  host: db\n  {k}: {s}\n  port: 5432\n",
    "yaml-quoted": lambda r, k, s: f"database:\n  host: db\n  {k}: '{s}'\n",
    "toml": lambda r, k, s: f'[database]\nhost = "db"\n{k} = "{s}"\n',
    "ini": lambda r, k, s: f"[database]\nhost = db\n{k} = {s}\nport = 5432\n",
    "properties": lambda r, k, s: f"app.host=db\nspring.datasource.{k}={s}\napp.port=1\n",
    "xml": lambda r, k, s: f"<config>\n  <{k}>{s}</{k}>\n</config>",
    "xml-attribute": lambda r, k, s: f'<connection host="db" {k}="{s}" />',
    "diff": lambda r, k, s: f"@@ -4,2 +4,2 @@\n-{k}: {s}\n+{k}: ${{{k.upper()}}}\n",
    "numbered": lambda r, k, s: listing(["db:", f"  {k}: {s}", "  host: x"]),
    "python": lambda r, k, s: f'client = Client(host="db", {k.replace("-", "_")}="{s}")',
    "javascript": lambda r, k, s: f"const cfg = {{ host: 'db', {k.replace('-', '_')}: '{s}' }};",
    "flag": lambda r, k, s: {"command": f"tool run --{k.lower().replace('_', '-')} '{s}' --verbose"},
    "flag-equals": lambda r, k, s: f"tool run --{k.lower().replace('_', '-')}={s} --verbose",
    "flag-list": lambda r, k, s: {"args": ["tool", f"--{k.lower().replace('_', '-')}", s]},
    "query": lambda r, k, s: f"https://api.acme.io/v1/x?user=7&{k}={quote(s, safe='')}&page=2",
    "literal": lambda r, k, s: f"kubectl create secret generic app --from-literal={k}={s}",
    "kubernetes": lambda r, k, s: (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n  {k}: {b64(s.encode())}\n"
    ),
    "env-list": lambda r, k, s: f"env:\n- name: {k.upper()}\n  value: {s}\n",
    "env-json": lambda r, k, s: json.dumps([{"name": k.upper(), "value": s}]),
    "docker": lambda r, k, s: f"docker run -e {k.upper().replace('-', '_')}={s} -p 80:80 app:1.2",
    "base64-env": lambda r, k, s: f"envFile: {b64(f'HOST=db{chr(10)}{k.upper()}={s}{chr(10)}'.encode())}",
    "base64-json": lambda r, k, s: {"blob": b64(json.dumps({"host": "db", k: s}).encode())},
    "percent": lambda r, k, s: f"POST body=host%3Ddb%26{k}%3D{quote(quote(s, safe=''), safe='')}%26x%3D1",
    "log": lambda r, k, s: f"DEBUG 2024-01-02 connecting with {k}={s} to db:5432",
}


def _phrase(r: Random) -> str:
    bank = words("abandon ability able about above absent absorb abstract absurd abuse access accident account accuse")
    return " ".join(r.choice(bank) for _ in range(12))


def _user(r: Random) -> str:
    return r.choice(["admin", "deploy", "svc_backup", "root", "ci-bot", "app%40corp"])


def _url(r: Random, s: str) -> str:
    return f"https://{_user(r)}:{quote(s, safe='')}@h.io/"


def _azure(r: Random, s: str) -> str:
    return f"DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={s};EndpointSuffix=core.windows.net"


def _service_account(r: Random) -> tuple[str, list[str]]:
    key = pem(r, "PRIVATE KEY") + "\n"
    body = {"type": "service_account", "project_id": "acme", "private_key_id": draw(r, HEX, 40), "private_key": key}
    return json.dumps(body, indent=2), [next(line for line in key.split("\n") if len(line) == 64)]


def _pem(r: Random) -> tuple[Any, list[str]]:
    text = pem(r, r.choice(PEM_LABELS))
    parts = [line for line in text.split("\n") if len(line) == 64][:5]
    form = r.randrange(6)
    if form == 0:
        return {"path": "/root/.ssh/id_rsa", "content": text}, parts
    if form == 1:
        return listing(text.split("\n")), parts
    if form == 2:
        return "\n".join("+" + line for line in text.split("\n")), parts
    if form == 3:
        return nested({"stdout": "$ cat key\n" + text}, r.randrange(3)), parts
    if form == 4:
        return "key: |\n" + textwrap.indent(text, "    ") + "\nnext: 1\n", parts
    return f"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n{text}\ndone\n", parts


def _putty(r: Random) -> tuple[str, list[str]]:
    lines = textwrap.wrap(b64(r.randbytes(280)), 64)
    head = "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 1\nAAAAC3Nz\n"
    return f"{head}Private-Lines: {len(lines)}\n" + "\n".join(lines) + f"\nPrivate-MAC: {draw(r, HEX, 64)}\n", lines[:3]


WHOLE: dict[str, Callable[[Random], tuple[Any, list[str]]]] = {
    "pem": _pem,
    "putty": _putty,
    "service-account": _service_account,
    "url-password": lambda r: _with(
        password(r),
        lambda s: r.choice(
            [
                f"git clone https://{_user(r)}:{quote(s, safe='')}@git.acme.io/x.git",
                f"DATABASE_URL=postgresql+psycopg2://{_user(r)}:{quote(s, safe='')}@db.internal:5432/app?ssl=on",
                f"mongodb+srv://{_user(r)}:{quote(s, safe='')}@cluster0.ab1cd.mongodb.net/app",
                f'{{"url": "redis://:{quote(s, safe="")}@cache:6379/0"}}',
                f"amqp://{_user(r)}:{quote(s, safe='')}@mq:5672/%2F",
                f"next={quote(_url(r, s), safe='')}",
            ]
        ),
    ),
    "basic": lambda r: _with(
        b64(f"{_user(r)}:{password(r)}".encode()), lambda s: f"curl -H 'Authorization: Basic {s}' https://api.acme.io"
    ),
    "bearer": lambda r: _form(r, "bearer", draw(r, ALNUM + "-_.", 38) + "7"),
    "bearer-value": lambda r: _with(
        draw(r, ALNUM, 40), lambda s: {"headers": {"authorization": f"Bearer {s}", "n": "1"}}
    ),
    "cookie": lambda r: _form(r, "cookie", draw(r, ALNUM, 32)),
    "netrc": lambda r: _with(password(r), lambda s: f"machine api.acme.io\n  login deploy\n  password {s}\n"),
    "netrc-line": lambda r: _with(password(r), lambda s: f"machine api.acme.io login deploy password {s}"),
    "pgpass": lambda r: _with(password(r), lambda s: f"$ cat ~/.pgpass\ndb.acme.io:5432:app:deploy:{s}\n"),
    "curl-user": lambda r: _form(r, "curl-user", password(r)),
    "client-flag": lambda r: _form(r, "client-flag", password(r)),
    "connection": lambda r: _form(r, "connection", password(r)),
    "azure-connection": lambda r: _with(b64(r.randbytes(64)), lambda s: _azure(r, s)),
    "azure-sas": lambda r: _with(
        quote(b64(r.randbytes(32)), safe=""),
        lambda s: f"https://acme.blob.core.windows.net/c/f.zip?sv=2022-11-02&sr=b&se=2025-01-01&sp=r&sig={s}",
    ),
    "aws-pair": lambda r: _with(
        draw(r, ALNUM + "/+", 39) + "a",
        lambda s: r.choice(
            [
                f"Access key ID,Secret access key\nAKIA{draw(r, 'ABCDEFGHIJ234567', 16)},{s}\n",
                f"[default]\naws_access_key_id = AKIA{draw(r, 'ABCDEFGHIJ234567', 16)}\naws_secret_access_key = {s}\n",
                f"aws configure set aws_secret_access_key {s}",
            ]
        ),
    ),
    "twilio-pair": lambda r: _with(
        draw(r, HEX, 32), lambda s: f"curl -u AC{draw(r, HEX, 32)}:{s} https://api.twilio.com"
    ),
    "kubeconfig": lambda r: _with(draw(r, ALNUM, 60), lambda s: f"users:\n- name: ci\n  user:\n    token: {s}\n"),
    "docker-config": lambda r: _with(
        b64(f"{_user(r)}:{password(r)}".encode()), lambda s: json.dumps({"auths": {"r.acme.io": {"auth": s}}})
    ),
    "npmrc": lambda r: _with(draw(r, HEX, 36), lambda s: f"//npm.acme.io/:_authToken={s}\nalways-auth=true\n"),
    "seed": lambda r: _with(
        _phrase(r), lambda s: r.choice([f"mnemonic: {s}", f'"mnemonic": "{s}"', f'SEED_PHRASE="{s}"'])
    ),
    "phone": lambda r: _with(
        f"+49 {draw(r, '123456789', 3)} {draw(r, '123456789', 7)}",
        lambda s: r.choice(
            [f"Phone: {s}", json.dumps({"phone_number": s}), {"mobile": s}, f"tel:{s.replace(' ', '')}"]
        ),
    ),
    "phone-us": lambda r: _with(
        f"({draw(r, '23456789', 3)}) {draw(r, '23456789', 3)}-{draw(r, '123456789', 4)}", lambda s: f"phone: {s}"
    ),
    "presigned": lambda r: _with(
        draw(r, HEX, 64),
        lambda s: (
            f"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=900&X-Amz-Signature={s}"
        ),
    ),
    "prose": lambda r: _with(
        r.choice(WORDS) + str(r.randrange(1000, 99999)), lambda s: f"The admin password is {s}, please use it."
    ),
    "firebase": lambda r: _with(
        "AAAA" + draw(r, ALNUM, 7) + ":APA91b" + draw(r, ALNUM + "_-", 134), lambda s: f"FCM_SERVER_KEY={s}"
    ),
    "powershell": lambda r: _with(
        base64.b64encode(f"$env:DB_PASSWORD='{password(r)}'".encode("utf-16-le")).decode(),
        lambda s: f"powershell -EncodedCommand {s}",
    ),
}


FORMS = [json.loads(line) for line in (FOLDER / "forms.jsonl").read_text(encoding="utf-8").splitlines()]


def _form(r: Random, kind: str, secret: str) -> tuple[Any, list[str]]:
    """One of the texts of this kind, with the secret, its percent-encoded form and a user put in."""
    text = json.dumps(r.choice([form for name, form in FORMS if name == kind]))
    for sign, put in (("s", secret), ("q", quote(secret, safe="")), ("u", _user(r))):
        text = text.replace(json.dumps(f"⟨{sign}⟩")[1:-1], json.dumps(put)[1:-1])
    return json.loads(text), [secret]


def _with(secret: str, make: Callable[[str], Any]) -> tuple[Any, list[str]]:
    made = make(secret)
    return made, [secret.replace(" ", "")] if isinstance(made, str) and made.startswith("tel:") else [secret]
