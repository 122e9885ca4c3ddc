"""Values that look dangerous and are not: what coding agents read and write all day."""

from __future__ import annotations

import base64
import hashlib
import json
import string
import uuid
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.redact.corpus_secret import ALNUM, HEX, draw

FIXED: list[Any] = [
    "const token = getToken()",
    "password: string",
    "password: string;",
    "  password?: string | undefined;",
    "password: str = Field(...)",
    "def login(user: str, password: str) -> Token:",
    "process.env.API_KEY",
    "apiKey: process.env.OPENAI_API_KEY,",
    'api_key=os.environ["OPENAI_API_KEY"]',
    'api_key = os.getenv("API_KEY")',
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    'curl -H "Authorization: Bearer $TOKEN" https://api.acme.io',
    "curl -H 'Authorization: Bearer <your-api-key>' https://api.acme.io",
    "export API_KEY=<your-api-key>",
    "export API_KEY=your-api-key-here",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "password: ********",
    "password=None",
    "password = null",
    '"password": null, "token": true',
    "token count: 1234",
    "max_tokens: 4096",
    '{"max_tokens": 4096, "temperature": 0.2, "total_tokens": 1832, "prompt_tokens": 12}',
    "tokens used: 12,345 of 200,000",
    "Tokens: 8192",
    '{"usage": {"input_tokens": 1200, "cache_read_input_tokens": 900}}',
    "for key, value in items.items():",
    "key=lambda x: x[1]",
    "sorted(rows, key=itemgetter(1), reverse=True)",
    '{"key": "value", "sort_key": "created_at", "primary_key": "id"}',
    "React key={item.id}",
    "<input type='password' name='password' placeholder='Password' />",
    '<label for="password">Password:</label>',
    'getpass.getpass("Password: ")',
    'input("Enter your password: ")',
    "password_reset_token_expires_at = now + timedelta(hours=1)",
    "password_reset_token_expires_at",
    "def validate_password_strength(self, password): return len(password) >= 8",
    "if user.password == password_hash:",
    "self.token = token",
    "this.password = password;",
    "headers['Authorization'] = f'Bearer {token}'",
    "headers: { Authorization: `Bearer ${token}` }",
    "git@github.com:org/repo.git",
    "git clone git@github.com:acme/widgets.git",
    "@decorator\ndef f(): ...",
    "@scope/pkg@1.2.3",
    "npm install @types/node@20.11.5 react@18.2.0",
    "ssh root@10.0.0.4",
    "ssh deploy@host",
    "Co-Authored-By: Claude <noreply@anthropic.com>",
    "eos_token: </s>",
    "tokenizer.pad_token = tokenizer.eos_token",
    '{"bos_token": "<s>", "unk_token": "<unk>", "pad_token": "[PAD]"}',
    "nextToken: eyJwYWdlIjoyfQ",
    "PWD=/home/user/project",
    "OLDPWD=/tmp",
    "pwd\n/home/user/project",
    "secretName: app-tls",
    "secretKeyRef:\n  name: app\n  key: password",
    "valueFrom: {secretKeyRef: {name: db, key: password}}",
    "tests passed: 12, failed: 0",
    "pass: 12 fail: 0",
    "# pass 34\n# fail 0",
    "Invalid token: unexpected '}' at line 3",
    "SyntaxError: Unexpected token < in JSON at position 0",
    "KeyError: 'password'",
    "error: Authentication failed: password incorrect",
    "Password: required",
    "Permission denied (publickey,password).",
    '{"error": "invalid_api_key", "message": "Incorrect API key provided"}',
    "postgres://${DB_USER}:${DB_PASSWORD}@localhost:5432/app",
    "postgresql://user:password@localhost/db",
    "https://user:<password>@host/",
    "http://localhost:3000/@fs/src/main.ts",
    "https://packages.acme.dev/npm/@babel/core/-/core-7.23.0.tgz",
    "--token TOKEN   the token to use",
    "      --password string      Password for the registry",
    "docker login --password-stdin",
    "cat ~/.docker/token | docker login -u ci --password-stdin",
    "mkdir -p src/app/components",
    "cp -p a.txt b.txt",
    "ssh -p 2222 host",
    "docker run -p 8080:80 nginx",
    "python -u main.py",
    "git push -u origin main",
    "sort -u names.txt",
    "useradd -u 1000:1000 app",
    "docker run -u 1000:1000 app",
    "grep -rn 'password' src/ | head",
    "grep -E 'token|secret|api_key' -r .",
    "rg 'API_KEY' --type py",
    "SECRET_KEY = os.environ.get('SECRET_KEY')",
    "secret = Secret.from_config(config)",
    "var.db_password",
    "password = var.db_password",
    'password = "${var.db_password}"',
    "token = self._get_token(request)",
    "key: {{ .Values.apiKey }}",
    "{{ vault_password }}",
    "password: '{{ vault_db_password }}'",
    "private_key_path: ~/.ssh/id_rsa",
    "ssh-rsa public key fingerprint SHA256:" + "n" * 4,
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYI\n-----END PUBLIC KEY-----",
    "cookie: string",
    "const cookies = parseCookies(req)",
    "Set-Cookie",
    "session_id: 6f1c2a34-9b1d-4e5f-8a7b-1c2d3e4f5a6b",
    "seed: 42",
    "random.seed(1234)",
    "phone: string",
    "phone = models.CharField(max_length=20)",
    "tel: null",
    "iPhone 15 Pro 256",
    "sizes 1234 5678 9012",
    "elapsed 1712345678901 ms",
    "timestamp 1700000000000",
    "0.1.0-alpha.1+build.20240101",
    "img@2x.png",
    "systemctl status user@1000.service",
    "return this@MainActivity.finish()",
    "author: '@octocat'",
    'authors = ["The Seasoned authors"]',
    "authentication: required",
    "Authorization: Bearer",
    'WWW-Authenticate: Bearer realm="api"',
    "auth: { user: process.env.USER, pass: process.env.PASS }",
    "credentials: 'include'",
    "credentials: include",
    "fetch(url, { credentials: 'same-origin' })",
    "AccessKey: AKIA...",
    "sk-...",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "OPENAI_API_KEY=sk-...",
    "token_type: bearer",
    '{"token_type": "Bearer", "expires_in": 3600}',
    '{"type": "password", "name": "password", "required": true}',
    '{"token": "Hello", "logprob": -0.12}',
    "#ff00aa #1a2b3c",
    "--primary-key: #aabbcc;",
    ".token.keyword { color: #07a; }",
    ".token.punctuation{color:#999}",
    {"password": None, "token": "$TOKEN", "api_key": "<your-api-key>"},
    {"password": "string", "secret": "${SECRET}", "authorization": "Bearer $TOKEN"},
    {"max_tokens": 4096, "token_count": "1234", "key": "value"},
    {"properties": {"password": {"type": "string"}, "token": {"type": "string", "description": "The token"}}},
    {"file_path": "/src/auth/password_reset.py", "old_string": "token = None", "new_string": "token = get_token()"},
    {"pattern": "password\\s*=", "path": "src/"},
    {"key": "Enter", "code": "KeyA"},
    {"secret": True, "token": 12, "password": False},
]


def _hex(n: int) -> Callable[[Random], str]:
    return lambda r: draw(r, HEX, n)


def _uuid(r: Random) -> str:
    return str(uuid.UUID(int=r.getrandbits(128), version=4))


def _b64(n: int) -> Callable[[Random], str]:
    return lambda r: base64.b64encode(r.randbytes(n)).decode()


WORD = [
    "user",
    "order",
    "parse",
    "render",
    "token",
    "key",
    "value",
    "index",
    "cache",
    "build",
    "config",
    "session",
    "model",
    "query",
    "layout",
    "button",
    "state",
]


def _camel(r: Random) -> str:
    return "".join(w.capitalize() for w in r.choices(WORD, k=r.randrange(3, 7)))


def _snake(r: Random) -> str:
    return "_".join(r.choices(WORD, k=r.randrange(2, 6)))


def _path(r: Random) -> str:
    return "/" + "/".join(_snake(r) for _ in range(r.randrange(2, 7))) + r.choice([".py", ".ts", ".json", ""])


def _minified(r: Random) -> str:
    a, b, c = (draw(r, string.ascii_lowercase, 1) for _ in range(3))
    body = f"{c}.password=function(e){{return n[e]=e.length>{r.randrange(9)}}};"
    return f"!function({a},{b}){{var {c}={a}.key||{b}.token,n={{}};{body}"


MAKE: list[Callable[[Random], Any]] = [
    lambda r: f"commit {_hex(40)(r)}\nAuthor: octocat\nDate: 2024-01-0{r.randrange(1, 9)}",
    lambda r: f"{_hex(7)(r)} fix: {_snake(r)} handling of {_snake(r)}",
    lambda r: f"{_hex(40)(r)}\trefs/heads/{_snake(r)}",
    _uuid,
    lambda r: f"id: {_uuid(r)}",
    lambda r: f"{_uuid(r)}.jsonl",
    lambda r: hashlib.sha256(r.randbytes(8)).hexdigest() + f"  {_snake(r)}.tar.gz",
    lambda r: f'"integrity": "sha512-{_b64(64)(r)}"',
    lambda r: f'"resolved": "https://packages.acme.dev/npm/{_snake(r)}/-/{_snake(r)}-1.{r.randrange(99)}.0.tgz",',
    lambda r: f"sha256:{_hex(64)(r)}",
    lambda r: f"FROM node@sha256:{_hex(64)(r)}",
    _path,
    lambda r: "\n".join(_path(r) for _ in range(8)),
    _minified,
    lambda r: "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + r.randbytes(120)).decode(),
    lambda r: f"toolu_01{draw(r, ALNUM, 22)}",
    lambda r: {"tool_use_id": f"toolu_01{draw(r, ALNUM, 22)}", "type": "tool_result", "content": "ok"},
    lambda r: f"call_{draw(r, ALNUM, 24)}",
    lambda r: f"msg_01{draw(r, ALNUM, 22)}",
    lambda r: f"req_011{draw(r, ALNUM, 21)}",
    lambda r: f"chatcmpl-{draw(r, ALNUM, 29)}",
    lambda r: f'ETag: "{_hex(32)(r)}"',
    lambda r: f'etag: W/"{_hex(8)(r)}-{draw(r, ALNUM, 27)}"',
    lambda r: {"session_id": _uuid(r), "sessionId": _uuid(r), "cwd": _path(r)},
    lambda r: f"session {r.randrange(10**8)}_{draw(r, HEX, 6)} resumed",
    _camel,
    lambda r: f"class {_camel(r)}({_camel(r)}):",
    lambda r: f"{_snake(r)} = {_snake(r)}.{_snake(r)}({_snake(r)}={_snake(r)})",
    lambda r: f"{_snake(r)}_token = {_snake(r)}()",
    lambda r: f"self.{_snake(r)}_key = {_snake(r)}_key",
    lambda r: f"const {{ {_snake(r)}, token, apiKey }} = await {_camel(r)}.get{_camel(r)}();",
    lambda r: f"expect({_snake(r)}.token).toBe({_snake(r)});",
    lambda r: f"assert {_snake(r)}['key'] == {_snake(r)}['{_snake(r)}']",
    lambda r: f"#{_hex(6)(r)}",
    lambda r: f".{_snake(r)} {{ color: #{_hex(6)(r)}; margin: 0 {r.randrange(40)}px; }}",
    lambda r: f"2024-0{r.randrange(1, 9)}-1{r.randrange(9)}T0{r.randrange(9)}:11:12.{draw(r, '0123456789', 6)}Z",
    lambda r: f"v{r.randrange(9)}.{r.randrange(30)}.{r.randrange(90)}-rc.{r.randrange(9)}",
    lambda r: f"{_snake(r)}: {r.randrange(10**6)}",
    lambda r: {"tokens": r.randrange(10**5), "max_output_tokens": 8192, "key": _snake(r)},
    lambda r: json.dumps({"path": _path(r), "key": _snake(r), "sha": _hex(40)(r), "size": r.randrange(10**6)}),
    lambda r: f"-rw-r--r-- 1 root root {r.randrange(10**6)} Jan 1{r.randrange(9)} 12:00 {_snake(r)}.py",
    lambda r: f"index {_hex(7)(r)}..{_hex(7)(r)} 100644",
    lambda r: f"E       AssertionError: assert {r.randrange(10**13)} == {r.randrange(10**12)}",
    lambda r: f"0x{_hex(12)(r)} in {_snake(r)} ({_camel(r)}.cpp:{r.randrange(999)})",
    lambda r: f"<object {_camel(r)} at 0x7f{_hex(10)(r)}>",
    lambda r: f"build-{r.randrange(10**9)}-{_hex(12)(r)} finished in {r.randrange(99)}s",
    lambda r: f"https://github.com/acme/{_snake(r)}/commit/{_hex(40)(r)}",
    lambda r: f"https://cdn.acme.io/assets/{_snake(r)}-{draw(r, ALNUM, 8)}.js?v={_hex(16)(r)}",
    lambda r: f"sourceMappingURL={_snake(r)}.js.map",
    lambda r: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{draw(r, ALNUM, 43)} octocat",
    lambda r: f"        {_snake(r)}Token: {_camel(r)};",
    lambda r: f"type {_camel(r)} = {{ password: string; token: {_camel(r)}; apiKey?: string }}",
    lambda r: f"I need to look at how {_snake(r)} handles the token; the key point: the password is optional.",
    lambda r: f"The secret: {_snake(r).replace('_', ' ')} is simple to use with care.",
    lambda r: f"10.0.{r.randrange(256)}.{r.randrange(256)} - - \"GET /{_snake(r)} HTTP/1.1\" 200 {r.randrange(9999)}",
    lambda r: f"order {r.randrange(10**9)}-{r.randrange(10**6)} total {r.randrange(10**4)}.99",
    lambda r: f"cache-key: {_snake(r)}-{_hex(40)(r)}",
    lambda r: f"key: {_snake(r)}-${{{{ hashFiles('**/package-lock.json') }}}}",
    lambda r: f"{_snake(r)} = hashlib.sha256({_snake(r)}).hexdigest()",
    lambda r: f"def {_snake(r)}(self, token: str | None = None, *, api_key: SecretStr, key: bytes) -> None:",
]  # fmt: skip


def clean_values(seed: int = 1, count: int = 20_500) -> Iterator[Any]:
    """The fixed list first, then made ones in turn."""
    yield from FIXED
    r = Random(seed)
    for i in range(count - len(FIXED)):
        yield MAKE[i % len(MAKE)](r)
