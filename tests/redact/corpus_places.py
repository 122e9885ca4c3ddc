"""Places where real histories leak: files that were read, clients that were called, sentences that were said.

Each place has two lists of writings. Rules were written while looking at the first list; the second was set aside and
is measured beside it, so that the difference shows how far the rules carry.
"""

# ruff: noqa: E501 - a writing is one line, however long

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterator
from random import Random
from typing import NamedTuple
from urllib.parse import quote

from seasoned.redact.name import vocabulary
from tests.redact.corpus_secret import ALNUM, BASE64, HEX, b64, draw, password

Write = Callable[[Random, str], str]


class Place(NamedTuple):
    """One kind of place: how its secrets look, and how they are written there."""

    make: Callable[[Random], str]
    seen: list[Write]
    aside: list[Write]


class Leak(NamedTuple):
    """A text with a secret in it."""

    place: str
    is_aside: bool
    text: str
    secret: str


BIP39 = sorted(
    vocabulary(
        "abandon ability able about above absent absorb abstract absurd abuse access accident account accuse achieve "
        "acid acoustic acquire across act action actor actress actual adapt add addict address adjust admit adult "
        "advance advice aerobic affair afford afraid again age agent agree ahead aim air airport aisle alarm album "
        "alcohol alert alien all alley allow almost alone alpha already also alter always amateur amazing among "
        "amount amused analyst anchor ancient anger zebra zero zone zoo wrong wrist write wrap worth world work word "
        "wood wonder woman wolf witness wise winter wine window wild wife wide whisper wheel wheat"
    )
)
CRYPT = "./" + ALNUM


def phrase(r: Random) -> str:
    return " ".join(r.choice(BIP39) for _ in range(r.choice((12, 12, 24))))


def typed(r: Random) -> str:
    """A password as people say it: no spaces, at least one figure."""
    return password(r).replace("%", "7")


def plain(r: Random) -> str:
    """Letters and figures only, for clients whose grammar would cut signs."""
    return draw(r, ALNUM, r.randrange(9, 18)) + str(r.randrange(10))


def crypt(r: Random) -> str:
    return r.choice(
        [
            f"$6${draw(r, CRYPT, 16)}${draw(r, CRYPT, 86)}",
            f"$6$rounds=5000${draw(r, CRYPT, 12)}${draw(r, CRYPT, 86)}",
            f"$y$j9T${draw(r, CRYPT, 22)}${draw(r, CRYPT, 43)}",
            f"$5${draw(r, CRYPT, 16)}${draw(r, CRYPT, 43)}",
            f"$1${draw(r, CRYPT, 8)}${draw(r, CRYPT, 22)}",
        ]
    )


def hashed(r: Random) -> str:
    return r.choice(
        [
            f"$2b$12${draw(r, CRYPT, 53)}",
            f"$2y$10${draw(r, CRYPT, 53)}",
            f"$2a$08${draw(r, CRYPT, 53)}",
            f"$apr1${draw(r, CRYPT, 8)}${draw(r, CRYPT, 22)}",
            f"$argon2id$v=19$m=65536,t=3,p=4${draw(r, BASE64, 22)}${draw(r, BASE64, 43)}",
            f"pbkdf2_sha256$600000${draw(r, ALNUM, 22)}${draw(r, BASE64, 43)}=",
        ]
    )


def key_id(r: Random) -> str:
    return "AKIA" + draw(r, string.ascii_uppercase + "234567", 16)


def aws_secret(r: Random) -> str:
    return draw(r, BASE64, 38) + "a9"


PLACES: dict[str, Place] = {
    "yaml block": Place(
        typed,
        [
            lambda r, s: f"database:\n  password: |\n    {s}\n  host: db\n",
            lambda r, s: f"db_password: >-\n  {s}\nport: 5432\n",
            lambda r, s: f"secrets:\n  api_key: |-\n      {s}\n",
        ],
        [
            lambda r, s: f"smtp:\n    passwd: >\n        {s}\n    from: x\n",
            lambda r, s: json.dumps({"content": f"vault_password: |\n  {s}\nuser: app\n"}),
            lambda r, s: f"  12→client_secret: |+\n  13→  {s}\n  14→client_id: web\n",
        ],
    ),
    "kubernetes secret": Place(
        typed,
        [
            lambda r, s: f"kind: Secret\nmetadata:\n  name: app\nstringData:\n  DATABASE: {s}\n  user: app\n",
            lambda r, s: f"apiVersion: v1\nkind: Secret\ntype: Opaque\ndata:\n  smtp: {b64(s.encode())}\n",
            lambda r, s: json.dumps({"kind": "Secret", "data": {"redis": b64(s.encode())}, "type": "Opaque"}),
        ],
        [
            lambda r, s: f"data:\n  mail: {b64(s.encode())}\nkind: Secret\nmetadata:\n  name: x\n",
            lambda r, s: f"stringData:\n    conn: \"{s}\"\nkind: Secret\n",
            lambda r, s: json.dumps({"apiVersion": "v1", "kind": "Secret", "stringData": {"LOGIN": s}}, indent=2),
        ],
    ),
    "short names": Place(
        typed,
        [
            lambda r, s: f"DB_PW={s}\n",
            lambda r, s: f"export ADMIN_PW='{s}'\n",
            lambda r, s: f"SMTP_PASS={s} MAIL_HOST=mx ./send\n",
        ],
        [
            lambda r, s: f"ROOT_PW: {s}\n",
            lambda r, s: f"docker run -e FTP_PW={s} ftp:1\n",
            lambda r, s: f"ENV LDAP_BIND_PW {s}\n",
        ],
    ),
    "curl cookie": Place(
        lambda r: draw(r, ALNUM, 32),
        [
            lambda r, s: f"curl -b 'auth={s}' https://acme.io/me",
            lambda r, s: f'curl --cookie "remember_me={s}; lang=de" https://acme.io',
            lambda r, s: f"curl -sb \"_acme_session={s}\" https://acme.io",
        ],
        [
            lambda r, s: f"curl -H 'Cookie: uid=7; login={s}' https://acme.io",
            lambda r, s: f"http GET acme.io 'Cookie:jwt_session={s}'",
            lambda r, s: f"curl --cookie=acme_auth={s} https://acme.io/x",
        ],
    ),
    "oracle": Place(
        plain,
        [
            lambda r, s: f"jdbc:oracle:thin:scott/{s}@//db:1521/XE",
            lambda r, s: f"sqlplus scott/{s}@ORCL @run.sql",
            lambda r, s: f"sqlplus -s system/{s}@//localhost:1521/XEPDB1",
        ],
        [
            lambda r, s: f'url = "jdbc:oracle:thin:app/{s}@db.acme.io:1521:orcl"',
            lambda r, s: f"impdp system/{s}@orcl dumpfile=x.dmp",
            lambda r, s: f"sqlplus 'hr/{s}@\"db:1521/x\"'",
        ],
    ),
    "database clients": Place(
        plain,
        [
            lambda r, s: f"cqlsh -u cassandra -p {s} 10.0.0.4",
            lambda r, s: f"clickhouse-client --user default --password {s}",
            lambda r, s: f"sqlcmd -S db -U sa -P '{s}' -Q 'select 1'",
            lambda r, s: f"influx -username admin -password {s}",
        ],
        [
            lambda r, s: f"cqlsh db.acme.io -u app -p '{s}' -e 'desc tables'",
            lambda r, s: f"mysqladmin -u root -p{s} status",
            lambda r, s: f"bcp app.dbo.t out t.dat -S db -U sa -P {s} -c",
            lambda r, s: f"cypher-shell -u neo4j -p {s} 'match (n) return n'",
        ],
    ),
    "php define": Place(
        typed,
        [
            lambda r, s: f"define('DB_PASSWORD', '{s}');",
            lambda r, s: f'define( "DB_PASSWORD", "{s}" );',
            lambda r, s: f"define('AUTH_KEY',         '{s}');",
        ],
        [
            lambda r, s: f"define('SECURE_AUTH_KEY', '{s}');\ndefine('WP_DEBUG', false);",
            lambda r, s: f"$cfg['Servers'][$i]['password'] = '{s}';",
            lambda r, s: f"DEFINE(\"SMTP_PASSWORD\", \"{s}\");",
        ],
    ),
    "keystore": Place(
        plain,
        [
            lambda r, s: f"keytool -list -keystore app.jks -storepass {s}",
            lambda r, s: f"storePassword={s}\nkeyAlias=upload\n",
            lambda r, s: f"keytool -genkey -alias a -keypass {s} -keystore k.jks",
        ],
        [
            lambda r, s: f"keytool -importkeystore -srcstorepass {s} -destkeystore new.p12",
            lambda r, s: f"jarsigner -keystore k.jks -storepass {s} app.jar a",
            lambda r, s: f"    keyPassword '{s}'\n    keyAlias 'upload'\n",
        ],
    ),
    "terraform state": Place(
        typed,
        [
            lambda r, s: json.dumps({"type": "random_password", "instances": [{"attributes": {"length": 20, "result": s}}]}),
            lambda r, s: json.dumps({"outputs": {"db": {"value": s, "type": "string", "sensitive": True}}}, indent=2),
            lambda r, s: json.dumps({"attributes": {"master_password": s, "engine": "postgres"}}),
        ],
        [
            lambda r, s: json.dumps({"outputs": {"login": {"sensitive": True, "type": "string", "value": s}}}),
            lambda r, s: json.dumps({"mode": "managed", "type": "random_password", "name": "x", "instances": [{"attributes": {"bcrypt_hash": "x", "result": s}}]}, indent=2),
            lambda r, s: f'variable "db_password" {{\n  type    = string\n  default = "{s}"\n}}\n',
        ],
    ),
    "shadow": Place(
        crypt,
        [
            lambda r, s: f"root:{s}:19000:0:99999:7:::\n",
            lambda r, s: f"$ sudo cat /etc/shadow\ndaemon:*:19000:0:99999:7:::\nalice:{s}:19789:0:99999:7:::\n",
            lambda r, s: f"usermod -p '{s}' bob",
        ],
        [
            lambda r, s: f"useradd -m -p '{s}' carol",
            lambda r, s: f"echo 'dave:{s}' | chpasswd -e",
            lambda r, s: f"      passwd: {s}\n      groups: sudo\n",
        ],
    ),
    "password hash": Place(
        hashed,
        [
            lambda r, s: f"admin:{s}\n",
            lambda r, s: f"INSERT INTO users VALUES (1,'a','{s}');",
            lambda r, s: json.dumps({"user": "a", "hash": s}),
        ],
        [
            lambda r, s: f" id |  digest\n----+-------\n  1 | {s}\n",
            lambda r, s: f'User(name="a", hashed="{s}")',
            lambda r, s: f"- traefik.http.middlewares.a.basicauth.users=me:{s}",
        ],
    ),
    "recovery phrase": Place(
        phrase,
        [
            lambda r, s: f"My recovery phrase is: {s}",
            lambda r, s: f"Write down these words:\n{s}\nand keep them safe",
            lambda r, s: json.dumps({"wallet": "main", "words": s}),
        ],
        [
            lambda r, s: f"solana-keygen recover\nSave this phrase:\n{s}\n====",
            lambda r, s: f"backup words -> {s}",
            lambda r, s: f"MNEMONIC='{s}' npx hardhat test",
        ],
    ),
    "said, west": Place(
        typed,
        [
            lambda r, s: f"Das Passwort ist {s}, bitte nicht weitergeben.",
            lambda r, s: f"Le mot de passe est {s} pour la base.",
            lambda r, s: f"La contraseña es {s}",
            lambda r, s: f"A senha é {s}, ok?",
            lambda r, s: f"La password è {s}.",
        ],
        [
            lambda r, s: f"Passwort lautet: {s}",
            lambda r, s: f"mot de passe : {s}",
            lambda r, s: f"usa la contraseña {s} para entrar",
            lambda r, s: f"Het wachtwoord is {s}.",
            lambda r, s: f"senha do banco: {s}",
        ],
    ),
    "said, east": Place(
        typed,
        [
            lambda r, s: f"пароль: {s}",
            lambda r, s: f"密码是 {s}，请勿外传",
            lambda r, s: f"パスワードは {s} です",
            lambda r, s: f"비밀번호는 {s} 입니다",
            lambda r, s: f"hasło to {s}",
        ],
        [
            lambda r, s: f"Пароль от базы — {s}",
            lambda r, s: f"数据库密码：{s}",
            lambda r, s: f"パスワード：{s}",
            lambda r, s: f"şifre: {s}",
            lambda r, s: f"كلمة المرور هي {s}",
            lambda r, s: f"पासवर्ड है {s}",
            lambda r, s: f"kata sandi: {s}",
        ],
    ),
    "said, english": Place(
        typed,
        [
            lambda r, s: f"use the password {s} to log in",
            lambda r, s: f"login with admin / {s}",
            lambda r, s: f"my sudo password is {s}",
            lambda r, s: f"Password for the staging box: {s}",
        ],
        [
            lambda r, s: f"the pw is {s} by the way",
            lambda r, s: f"creds: deploy / {s}",
            lambda r, s: f"username: deploy, password: {s}",
            lambda r, s: f"It asks for a passphrase, enter {s}",
        ],
    ),
    "access key csv": Place(
        aws_secret,
        [
            lambda r, s: json.dumps({"stdout": f"User name,Access key ID,Secret access key\nci,{key_id(r)},{s}\n"}),
            lambda r, s: f"Access key ID,Secret access key\r\n{key_id(r)},{s}\r\n",
            lambda r, s: json.dumps(json.dumps({"csv": f"{key_id(r)},{s}"})),
        ],
        [
            lambda r, s: json.dumps({"content": f"\ufeffUser Name,Password,Access key ID,Secret access key,Console\n\"ci\",,{key_id(r)},{s},x"}),
            lambda r, s: f"|ci|{key_id(r)}|{s}|\n",
            lambda r, s: f"{key_id(r)}\t{s}\n",
        ],
    ),
    "windows": Place(
        typed,
        [
            lambda r, s: f'ConvertTo-SecureString "{s}" -AsPlainText -Force',
            lambda r, s: f"net user bob {s} /add",
            lambda r, s: f"net use \\\\fs\\share /user:corp\\bob {s}",
        ],
        [
            lambda r, s: f"$p = ConvertTo-SecureString -String '{s}' -AsPlainText -Force",
            lambda r, s: f"psexec \\\\host -u bob -p {s} cmd",
            lambda r, s: f"cmdkey /add:host /user:bob /pass:{s}",
        ],
    ),
    "wifi and devices": Place(
        typed,
        [
            lambda r, s: f'network={{\n  ssid="home"\n  psk="{s}"\n}}\n',
            lambda r, s: f"nmcli dev wifi connect home password {s}",
            lambda r, s: f"wpa_passphrase home {s}",
        ],
        [
            lambda r, s: f"wpa_passphrase=  {s}\nwpa=2\n".replace("=  ", "="),
            lambda r, s: f"nmcli connection modify home wifi-sec.psk {s}",
            lambda r, s: f"enable secret 5 {s}\n",
        ],
    ),
    "archives and keys": Place(
        plain,
        [
            lambda r, s: f"zip -P {s} out.zip a b",
            lambda r, s: f"unzip -P {s} in.zip",
            lambda r, s: f"gpg --batch --passphrase {s} -d f.gpg",
            lambda r, s: f"7z x -p{s} in.7z",
        ],
        [
            lambda r, s: f"openssl enc -aes-256-cbc -k {s} -in a -out b",
            lambda r, s: f"ssh-keygen -t ed25519 -N '{s}' -f id",
            lambda r, s: f"restic -r /b backup --password-command 'echo {s}'",
            lambda r, s: f"openssl pkcs12 -export -passout pass:{s} -in c.pem",
        ],
    ),
    "one-time password": Place(
        lambda r: draw(r, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32),
        [
            lambda r, s: f"otpauth://totp/acme:bob?secret={s}&issuer=acme",
            lambda r, s: f"oathtool --totp -b {s}",
            lambda r, s: f"TOTP_SECRET={s}\n",
        ],
        [
            lambda r, s: f'"otp_url": "otpauth://totp/x?issuer=a&secret={s}"',
            lambda r, s: f"oathtool -b --totp '{s}'",
            lambda r, s: f"totp_seed: {s}\n",
        ],
    ),
    "private jwk": Place(
        lambda r: draw(r, ALNUM + "_-", 43),
        [
            lambda r, s: json.dumps({"kty": "EC", "crv": "P-256", "x": draw(r, ALNUM, 43), "d": s}),
            lambda r, s: json.dumps({"kty": "oct", "k": s, "alg": "HS256"}),
            lambda r, s: json.dumps({"d": s, "kty": "OKP", "crv": "Ed25519"}),
        ],
        [
            lambda r, s: json.dumps({"keys": [{"kty": "RSA", "n": draw(r, ALNUM, 300), "e": "AQAB", "d": s}]}, indent=1),
            lambda r, s: json.dumps({"stdout": json.dumps({"kty": "oct", "k": s})}),
            lambda r, s: f"{{'kty': 'OKP', 'd': '{s}', 'crv': 'Ed25519'}}",
        ],
    ),
    "ansible and ci": Place(
        typed,
        [
            lambda r, s: f"web1 ansible_host=10.0.0.4 ansible_user=root ansible_ssh_pass={s}\n",
            lambda r, s: f"ansible_become_pass: {s}\n",
            lambda r, s: f"ansible-playbook site.yml -e 'db_password={s}'",
        ],
        [
            lambda r, s: f"[all:vars]\nansible_become_password={s}\n",
            lambda r, s: f"gh secret set DEPLOY_KEY --body '{s}'",
            lambda r, s: f"vault kv put secret/app login={s}",
        ],
    ),
    "package managers": Place(
        lambda r: draw(r, HEX, 40),
        [
            lambda r, s: f"//npm.acme.io/:_password={b64(s.encode())}\n",
            lambda r, s: f"npm config set //npm.acme.io/:_authToken {s}",
            lambda r, s: f"[pypi]\nusername = __token__\npassword = {s}\n",
        ],
        [
            lambda r, s: f"poetry config pypi-token.acme {s}",
            lambda r, s: f"    <server><id>x</id><username>ci</username><password>{s}</password></server>\n",
            lambda r, s: f"nuget sources add -Name a -Source https://n -UserName u -Password {s}",
        ],
    ),
    "http": Place(
        lambda r: draw(r, ALNUM, 36) + "4",
        [
            lambda r, s: f"curl -H 'X-Api-Key: {s}' https://acme.io",
            lambda r, s: f"curl -H 'PRIVATE-TOKEN: {s}' https://gitlab.acme.io/api/v4/projects",
            lambda r, s: f"https://acme.io/cb#access_token={s}&state=1",
        ],
        [
            lambda r, s: f"X-Auth-Token: {s}\r\nAccept: */*\r\n",
            lambda r, s: f"curl -H 'X-Vault-Token:{s}' $VAULT_ADDR/v1/x",
            lambda r, s: f"wss://acme.io/ws?token={s}",
        ],
    ),
    "urls": Place(
        typed,
        [
            lambda r, s: f"ftp://bob:{quote(s, safe='')}@files.acme.io/x",
            lambda r, s: f"git remote set-url origin https://bob:{quote(s, safe='')}@git.acme.io/a.git",
            lambda r, s: f"rsync -a rsync://bob:{quote(s, safe='')}@b.acme.io/m .",
        ],
        [
            lambda r, s: f"celery -b amqp://guest:{quote(s, safe='')}@mq// worker",
            lambda r, s: f"ldaps://cn=admin:{quote(s, safe='')}@ldap.acme.io",
            lambda r, s: f"HTTPS_PROXY=http://bob:{quote(s, safe='')}@proxy:3128 curl x",
        ],
    ),
    "source code": Place(
        typed,
        [
            lambda r, s: f'conn = psycopg2.connect("db", "app", password="{s}")',
            lambda r, s: f'smtp.login("bob", "{s}")',
            lambda r, s: f"mysqli_connect('db', 'root', '{s}', 'app');",
            lambda r, s: f"new MongoClient(url, {{ auth: {{ username: 'a', password: '{s}' }} }})",
        ],
        [
            lambda r, s: f'server.login(USER, "{s}")',
            lambda r, s: f"$pdo = new PDO('mysql:host=db', 'root', '{s}');",
            lambda r, s: f'DriverManager.getConnection(url, "sa", "{s}")',
            lambda r, s: f"ssh.connect('h', username='a', password='{s}')",
        ],
    ),
}  # fmt: skip


def leaks(seed: int = 1, each: int = 6) -> Iterator[Leak]:
    """Every writing of every place, `each` times."""
    r = Random(seed)
    for name, place in PLACES.items():
        for is_aside, writings in ((False, place.seen), (True, place.aside)):
            for write in writings:
                for _ in range(each):
                    secret = place.make(r)
                    text = write(r, secret)
                    # Some are written as an encoding of the secret; then that is what must go.
                    shown = next(
                        f
                        for f in (secret, quote(secret, safe=""), b64(secret.encode()), json.dumps(secret)[1:-1])
                        if f in text
                    )
                    yield Leak(name, is_aside, text, shown)
