"""Secrets as their issuers publish the format: one generator per kind, all drawn from a seeded `Random`."""

from __future__ import annotations

import base64
import json
import string
import textwrap
from collections.abc import Callable
from random import Random

Make = Callable[[Random], str]

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "_-"
BASE64 = ALNUM + "+/"


def words(text: str) -> list[str]:
    return text.split()


def draw(r: Random, alphabet: str, n: int) -> str:
    return "".join(r.choice(alphabet) for _ in range(n))


def of(prefix: str, alphabet: str, n: int, suffix: str = "") -> Make:
    return lambda r: prefix + draw(r, alphabet, n) + suffix


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def jwt(r: Random) -> str:
    parts = [{"alg": "HS256", "typ": "JWT"}, {"sub": draw(r, string.digits, 10), "iat": r.randrange(10**9, 2 * 10**9)}]
    packed = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts]
    return ".".join([*packed, draw(r, URLSAFE, 43)])


def discord(r: Random) -> str:
    user = str(r.randrange(10**17, 10**18))
    return b64(user.encode()).rstrip("=") + "." + draw(r, URLSAFE, 6) + "." + draw(r, URLSAFE, 38)


def card(r: Random) -> str:
    prefix, length = r.choice([("4", 16), ("51", 16), ("55", 16), ("37", 15), ("6011", 16), ("2221", 16)])
    body = prefix + draw(r, string.digits, length - len(prefix) - 1)
    total = sum(sum(divmod(int(d) * (2 - i % 2), 10)) for i, d in enumerate(reversed(body)))
    return body + str(-total % 10)


def spaced_card(r: Random) -> str:
    number = card(r)
    gap = r.choice(" -")
    cuts = (4, 10) if len(number) == 15 else (4, 8, 12)
    return gap.join(number[a:b] for a, b in zip((0, *cuts), (*cuts, len(number)), strict=True))


def iban(r: Random) -> str:
    country, n, letters = r.choice([("DE", 18, 0), ("GB", 14, 4), ("FR", 23, 0), ("NL", 10, 4), ("ES", 20, 0)])
    body = draw(r, string.ascii_uppercase, letters) + draw(r, string.digits, n)
    digits = "".join(str(int(c, 36)) for c in body + country + "00")
    whole = f"{country}{98 - int(digits) % 97:02d}{body}"
    return whole if r.random() < 0.5 else " ".join(textwrap.wrap(whole, 4))


NAMES = ["maria", "john.smith", "li.wei", "a.kowalska", "priya_r", "t.mueller", "sofia.rossi", "dev.patel", "o'neil.k"]
DOMAINS = ["gmail.com", "acme-corp.io", "outlook.com", "uni-ulm.de", "mail.startup.co.uk", "protonmail.com", "corp.net"]


def email(r: Random) -> str:
    return f"{r.choice(NAMES).replace(chr(39), '')}{r.randrange(100, 9999)}@{r.choice(DOMAINS)}"


WORDS = ["hunter", "dragon", "Sunshine", "correct", "horse", "Battery", "winter", "Falcon", "orange", "Quartz", "tango"]


def password(r: Random) -> str:
    """What people type: words with figures and signs, or what a manager makes."""
    form = r.randrange(5)
    if form == 0:
        return r.choice(WORDS) + str(r.randrange(10, 99999)) + r.choice("!#*?")
    if form == 1:
        return "-".join(r.sample(WORDS, 4)) + str(r.randrange(10))
    if form == 2:
        return draw(r, ALNUM, r.randrange(10, 24)) + r.choice("7%")
    if form == 3:
        return r.choice(WORDS).replace("a", "4").replace("e", "3") + "_" + draw(r, string.digits, 4)
    return draw(r, ALNUM, 6) + r.choice("!^*~") + draw(r, ALNUM, 6) + str(r.randrange(10))


TOKENS: dict[str, Make] = {
    "aws-key-id": lambda r: r.choice(["AKIA", "ASIA"]) + draw(r, string.ascii_uppercase + "234567", 16),
    "github": lambda r: r.choice(["ghp_", "gho_", "ghs_", "ghu_", "ghr_"]) + draw(r, ALNUM, 36),
    "github-fine": lambda r: "github_pat_" + draw(r, ALNUM, 22) + "_" + draw(r, ALNUM, 59),
    "gitlab": lambda r: r.choice(["glpat-", "gldt-", "glrt-", "glptt-", "glft-", "gloas-"]) + draw(r, URLSAFE, 20),
    "slack-bot": lambda r: f"xoxb-{draw(r, '123456789', 12)}-{draw(r, '123456789', 13)}-{draw(r, ALNUM, 24)}",
    "slack-user": lambda r: f"xoxp-{draw(r, '123456789', 12)}-{draw(r, '123456789', 12)}-{draw(r, HEX, 32)}",
    "slack-app": lambda r: f"xapp-1-A{draw(r, '0123456789ABCDEF', 10)}-{draw(r, '123456789', 13)}-{draw(r, HEX, 64)}",
    "slack-webhook": lambda r: (
        f"https://hooks.slack.com/services/T{draw(r, ALNUM[26:], 8).upper()}/B{draw(r, ALNUM[26:], 9).upper()}/"
        + draw(r, ALNUM, 24)
    ),
    "stripe": lambda r: r.choice(["sk_live_", "rk_live_", "sk_test_", "rk_test_"]) + draw(r, ALNUM, 24),
    "stripe-webhook": of("whsec_", ALNUM, 32),
    "openai": lambda r: "sk-" + draw(r, ALNUM, 20) + "T3BlbkFJ" + draw(r, ALNUM, 20),
    "openai-project": lambda r: (
        r.choice(["sk-proj-", "sk-svcacct-"]) + draw(r, URLSAFE, 74) + "T3BlbkFJ" + draw(r, ALNUM, 40)
    ),
    "anthropic": lambda r: (
        r.choice(["sk-ant-api03-", "sk-ant-admin01-", "sk-ant-oat01-"]) + draw(r, URLSAFE, 93) + "AA"
    ),
    "google-api": of("AIza", URLSAFE, 35),
    "google-oauth": of("ya29.a0", URLSAFE, 120),
    "google-client": of("GOCSPX-", URLSAFE, 28),
    "npm": of("npm_", ALNUM, 36),
    "pypi": of("pypi-AgEIcHlwaS5vcmc", URLSAFE, 120),
    "huggingface": of("hf_", string.ascii_letters, 34),
    "twilio": of("SK", HEX, 32),
    "sendgrid": lambda r: f"SG.{draw(r, URLSAFE, 22)}.{draw(r, URLSAFE, 43)}",
    "mailgun": of("key-", HEX, 32),
    "mailchimp": lambda r: draw(r, HEX, 32) + f"-us{r.randrange(1, 22)}",
    "telegram": lambda r: f"{draw(r, '123456789', 10)}:AA{draw(r, URLSAFE, 33)}",
    "discord": discord,
    "discord-webhook": lambda r: f"https://discord.com/api/webhooks/{draw(r, '123456789', 18)}/{draw(r, URLSAFE, 68)}",
    "shopify": lambda r: r.choice(["shpat_", "shpca_", "shppa_", "shpss_"]) + draw(r, HEX, 32),
    "digitalocean": lambda r: r.choice(["dop_v1_", "doo_v1_", "dor_v1_"]) + draw(r, HEX, 64),
    "heroku": of("HRKU-AA", URLSAFE, 58),
    "vault": of("hvs.", URLSAFE, 95),
    "databricks": of("dapi", HEX, 32),
    "linear": of("lin_api_", ALNUM, 40),
    "notion": lambda r: "ntn_" + draw(r, string.digits, 11) + draw(r, ALNUM, 35),
    "notion-old": of("secret_", ALNUM, 43),
    "doppler": of("dp.pt.", ALNUM, 43),
    "postman": lambda r: f"PMAK-{draw(r, HEX, 24)}-{draw(r, HEX, 34)}",
    "newrelic": of("NRAK-", string.ascii_uppercase + string.digits, 27),
    "grafana-service": lambda r: f"glsa_{draw(r, ALNUM, 32)}_{draw(r, HEX, 8)}",
    "grafana-cloud": lambda r: (
        "glc_" + b64(json.dumps({"o": draw(r, "123456789", 6), "k": draw(r, ALNUM, 24)}).encode())
    ),
    "docker": of("dckr_pat_", URLSAFE, 27),
    "terraform": lambda r: f"{draw(r, ALNUM, 14)}.atlasv1.{draw(r, URLSAFE, 67)}",
    "age": of("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "onepassword": lambda r: "ops_eyJ" + draw(r, URLSAFE, 280),
    "supabase": of("sbp_", HEX, 40),
    "replicate": of("r8_", ALNUM, 37),
    "groq": of("gsk_", ALNUM, 52),
    "perplexity": of("pplx-", ALNUM, 48),
    "xai": of("xai-", ALNUM, 80),
    "openrouter": of("sk-or-v1-", HEX, 64),
    "azure-client": lambda r: draw(r, ALNUM, 3) + "8Q~" + draw(r, ALNUM + "_.~-", 33) + "a",
    "jwt": jwt,
    "cloudflare-ca": lambda r: f"v1.0-{draw(r, HEX, 24)}-{draw(r, HEX, 146)}",
    "planetscale": of("pscale_tkn_", ALNUM, 43),
    "square": of("EAAA", URLSAFE, 60),
    "fly": of("FlyV1 fm2_", BASE64, 200),
    "email": email,
    "card": card,
    "spaced-card": spaced_card,
    "iban": iban,
}

LABELLED: dict[str, tuple[list[str], Make]] = {
    "aws-secret": (
        ["AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "secretAccessKey", "SecretAccessKey"],
        of("", BASE64, 40),
    ),
    "password": (
        words(
            "password DB_PASSWORD passwd dbPassword db_pass POSTGRES_PASSWORD passphrase "
            "Password MYSQL_ROOT_PASSWORD smtp_password keystorePassword ADMIN_PWD redis-password"
        ),
        password,
    ),
    "api-key": (
        ["api_key", "apiKey", "API_KEY", "x-api-key", "DATADOG_API_KEY", "apikey", "app_key", "ALGOLIA_ADMIN_KEY"],
        lambda r: draw(r, r.choice([HEX, ALNUM]), 32),
    ),
    "token": (
        words(
            "token access_token refresh_token authToken CLOUDFLARE_API_TOKEN FASTLY_API_TOKEN "
            "bot_token TWILIO_AUTH_TOKEN api_token accessToken NETLIFY_AUTH_TOKEN"
        ),
        lambda r: draw(r, r.choice([HEX, ALNUM, URLSAFE]), r.choice([32, 37, 40])) + "7",
    ),
    "secret": (
        ["client_secret", "clientSecret", "SECRET_KEY", "JWT_SECRET", "app_secret", "signing_secret", "SESSION_SECRET"],
        lambda r: draw(r, ALNUM, r.choice([20, 32, 48])),
    ),
    "heroku-key": (
        ["HEROKU_API_KEY"],
        lambda r: "-".join(draw(r, HEX, n) for n in (8, 4, 4, 4, 12)),
    ),
    "azure-key": (["AccountKey", "AZURE_STORAGE_KEY", "storage_account_key"], lambda r: b64(r.randbytes(64))),
    "hex-private-key": (["private_key", "PRIVATE_KEY", "ETH_PRIVATE_KEY", "privateKey"], of("0x", HEX, 64)),
}


def pem(r: Random, label: str) -> str:
    body = textwrap.wrap(b64(r.randbytes(r.randrange(200, 900))), 64)
    head = (
        ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC," + draw(r, HEX.upper(), 32), ""] if r.random() < 0.1 else []
    )
    return "\n".join([f"-----BEGIN {label}-----", *head, *body, f"-----END {label}-----"])


PEM_LABELS = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY",
              "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]  # fmt: skip
