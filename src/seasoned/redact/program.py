"""Programs that take a secret as an argument, as data, and where in their arguments it stands.

A word alone (`-P`, `psk`): the next argument. `-p*`: the rest of the same word. `-u:`: what follows `user:` (or another
sign) in the next argument. `@2`: the second argument that is not an option; `@-1`: the last; `@1:`: what follows the
sign in it. Options whose name says it (`--db-password`) are found everywhere and need no row here.
"""

from __future__ import annotations

from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.value import TIDY, Hit, Promise, is_made, is_placeholder, is_plain, is_random, is_secret

# The beginnings of commands, which may go on (`mysqldump`), and their arguments.
TABLE = """
mysql, mariadb, 7z a, 7z x, 7za, rar, unrar: -p*
mongo, cqlsh, cypher-shell, hdbsql, cme smb, beeline, ncftp, openfortivpn: -p
rdesktop, docker login, podman login, az login, oc login, psexec, certutil, kcadm: -p
redis-cli, valkey-cli: -a --pass
sqlcmd, bcp, ipmitool, mosquitto_, zip, unzip: -P
sqlplus, expdp, impdp, rman target: @1/
ldap: -w -s -a
etcdctl: --user:
sshpass: -p -p*
plink, pscp: -pw
curl: -u: -U: --user: --proxy-user: -E: --pass --proxy-pass --oauth2-bearer
http -a: @1:
lftp: -u,
smb, rpcclient: -U%
evil-winrm: -p -H
snmp: -A -X -c
xfreerdp: /p:*
vncpasswd, mkpasswd, rclone obscure, vault login: @1
kinit, openssl passwd: @-1
nmcli: password wifi-sec.psk wifi.psk 802-1x.password
wpa_passphrase, rabbitmqctl add_user, rabbitmqctl change_password, net user, b2 authorize-account: @2
radtest: @2 @5
htpasswd -b: @3 @2
slappasswd: -s
openssl enc: -k -K
ssh-keygen: -N -P
security: -p -P -w
oathtool: -b @-1
mc alias set: @4
swaks: -ap
schtasks: /rp
signtool: /p
slmgr: /ipk
aws configure set: aws_secret_access_key aws_session_token
"""
LONGEST = 1200
MOST_WORDS = 60
ARGUMENT = LazyRegex(
    r"""(?:[ \t]|\\{1,2}\r?\n)+(\\{0,4}(?P<q>["'])(?P<quoted>[^"'\n]*?)\\{0,4}(?P=q)(?=[\s"'\\|;&),\]]|$)"""
    r"""|(?P<bare>(?:[^\s"'`|;&)\\]|\\(?![nr"'\\])|\\\\(?=\w))+))(?P<rest>\\{0,4}["'](?P<joined>[^"'\n\\]+)\\{0,4}["'])?"""
)
WHOLE = LazyRegex(r"[\w.\-]*")


class Arguments(NamedTuple):
    """Where a program takes its secrets."""

    following: frozenset[str]
    joined: tuple[str, ...]
    paired: dict[str, str]  # option to the sign between user and password
    places: dict[int, str]  # which argument, and the sign before the secret in it


def _arguments(row: str) -> Arguments:
    words = row.split()
    places = {int(word[1:].rstrip(":/")): "" if word[-1].isdigit() else word[-1] for word in words if word[0] == "@"}
    options = [word for word in words if word[0] != "@"]
    paired = {word[:-1]: word[-1] for word in options if word[-1] in ":%,"}
    joined = tuple(word[:-1] for word in options if word[-1] == "*")
    return Arguments(frozenset(word for word in options if word[-1] not in "*:%,"), joined, paired, places)


PROGRAMS = {
    name: _arguments(row)
    for names, _, row in (line.partition(": ") for line in TABLE.strip().splitlines())
    for name in names.split(", ")
}


def find_arguments(text: str, low: str, name: str, at: int, hits: list[Hit]) -> int:
    """Add the secrets among the arguments of the program whose name begins here. Returns how far they were read."""
    if at and (low[at - 1].isalnum() or low[at - 1] in "_.-"):
        return at
    known = PROGRAMS[name]
    end = WHOLE.compiled.match(low, at + len(name)).end()  # type: ignore[union-attr]
    limit = min(len(text), end + LONGEST)
    plain: list[tuple[int, int]] = []
    seen: set[str] = set()
    option = ""
    for _ in range(MOST_WORDS):
        match = ARGUMENT.compiled.match(text, end, limit)
        if match is None:
            break
        end = match.end()
        quoted = match["quoted"] is not None
        start, stop = match.span("quoted" if quoted else "bare")
        word = text[start:stop]
        if option:
            if option not in seen:
                hits += _given(text, start, stop, quoted, known.paired.get(option, ""))
                seen.add(option)
            option = ""
        elif quoted:
            plain.append((start, stop))
        elif known.joined and word.startswith(known.joined) and (word not in known.joined or match["joined"]):
            start += next(len(begin) for begin in known.joined if word.startswith(begin))
            span = (start, stop) if match["joined"] is None else match.span("joined")
            hits += _given(text, *span, match["joined"] is not None, "")
        elif word in known.following or word in known.paired:
            option = word
        elif word[0] not in "-/<>" or len(word) > 24:
            plain.append((start, stop))
    for place, sign in known.places.items():
        index = place - 1 if place > 0 else place
        if -len(plain) <= index < len(plain):
            start, stop = plain[index]
            hits += _given(text, start, stop, False, sign) if sign else _placed(text, start, stop)
    return end


def _given(text: str, start: int, stop: int, quoted: bool, sign: str) -> list[Hit]:
    """The value of an option: anything but a placeholder, a path and another option."""
    word = text[start:stop]
    if sign:
        name, found, word = word.partition(sign)
        start += len(name) + 1
        if (
            not found
            or ("/" in name and sign == ":")
            or is_placeholder(word)
            or word.isdigit()
            or len(word) < 3
            or word[0] in "$/ "
        ):
            return []
        if sign == "/":
            word = word.rpartition("@")[0] or word
        return [Hit("password", start, start + len(word))]
    if not word or word[0] in "-$/~(<" or (word.isdigit() and len(word) < 6) or word.endswith((".txt", ".lst")):
        return []
    secret = is_secret(word, Promise.PASSWORD, quoted, True)
    return [Hit("password", start, stop)] if secret else []


def _placed(text: str, start: int, stop: int) -> list[Hit]:
    """An argument known by its place alone: it must look like a password."""
    word = text[start:stop]
    if len(word) < 5 or word[0] in "-$<" or ("/" in word and not is_random(word)) or TIDY.compiled.fullmatch(word):
        return []
    if is_placeholder(word) or not (is_made(word) or is_plain(word) or is_random(word)):
        return []
    return [Hit("password", start, stop)]
