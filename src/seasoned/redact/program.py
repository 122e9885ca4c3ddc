"""Programs that take a secret as an argument, as data, and where in their arguments it stands.

A word alone (`-P`, `psk`): the next argument. `-p*`: the rest of the same word. `-u:`: what follows `user:` (or another
sign) in the next argument. `@2`: the second argument that is not an option. `@2:`: what follows the colon in it.
`@-1`: the last. `~-m`: an option whose value is not secret. `<<<`: what the shell hands in. Options whose name says it
(`--db-password`) are found everywhere and need no row here.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from functools import cache
from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex
from seasoned.redact.assignment import AssignedValue, read_value
from seasoned.redact.hit import Hit
from seasoned.redact.literal import TIDY, is_made, is_placeholder, is_plain_password, is_random, is_secret
from seasoned.redact.name import Promise

TABLE = """
# archives and documents
zip, unzip, zipinfo: -P
7z, 7za, 7zr, 7zz, rar, unrar: -p* -hp*
qpdf --encrypt: @1 @2
pdftk: user_pw owner_pw input_pw
pdftotext, pdfinfo, pdftoppm, pdfimages, pdftohtml, pdftocairo, pdfseparate: -upw -opw
msoffcrypto-tool, mutool draw, aescrypt, veracrypt, truecrypt: -p
ccrypt, ccencrypt, ccdecrypt, pk12util: -K -W
# keys, keychains and hashes
ssh-keygen: -N -P
openssl enc, openssl aes-256-cbc: -k -K
openssl dgst, openssl sha256: -hmac
openssl passwd: @-1
mkpasswd: ~-m ~-S ~-R @1
security unlock-keychain, security create-keychain: -p
security set-keychain-password: -o -p
security import: -P
security set-key-partition-list: -k
security add-generic-password, security add-internet-password: -w
altool, notarytool, certutil, osslsigncode: -p -pass
signtool: /p
pvk2pfx: -pi -po
slappasswd: -s
doveadm pw, caddy hash-password, useradd, usermod, register_new_matrix_user: -p --plaintext
doveadm auth test, doveadm auth login: @2
oathtool: -b @-1
ansible-vault encrypt_string: @1
eyaml encrypt: -s
encrypt_string, set-initial-password, reset-admin-password, set-root-password: @1
# networks, devices and remote desktops
nmcli: password wifi-sec.psk wifi.psk 802-11-wireless-security.psk 802-1x.password wep-key
wpa_cli: psk password
wpa_passphrase: @2
iwconfig: key
networksetup -setairportnetwork, networksetup -setairportpower: @3
snmpwalk, snmpget, snmpset, snmpbulkwalk, snmptable, snmpgetnext, snmptrap, snmpstatus: -A -X -c
ipmitool: -P
user set password: @2
racadm, ipmipower, ipmi-chassis, redfishtool, openfortivpn, rdesktop, vncdo: -p
xfreerdp, wlfreerdp, sdl-freerdp, xfreerdp3: /p:*
vncpasswd, kinit, smbpasswd, pveum passwd, snowsql, trino, presto, pass insert, gopass insert, secret-tool store: <<<
keepassxc-cli, keyring set, secret put, store-secret, logstash-keystore add, env add, llm keys set, gh auth login: <<<
x11vnc: -storepasswd -passwd
radtest: @2 @5
ngrok authtoken, add-authtoken: @1
lftp: -u,
ncftp, ncftpput, ncftpget: -p
smbclient, smbget, rpcclient, winexe, net ads join, smbcacls: -U%
nxc smb, netexec, crackmapexec, evil-winrm, bloodhound-python, ldapdomaindump, hydra, medusa, smbmap: -p -H
sshpass: -p -p*
plink, pscp, psftp, putty, nodetool, kadmin, kadmin.local, addprinc: -pw
curl: -u: -U: --user: --proxy-user: --cert: -E: --pass --proxy-pass --oauth2-bearer
http -a, http --auth, https -a, https --auth, xh -a, xh --auth: @1:
ttyd, gotty: -c: --credential:
ss-local, ss-server, sslocal, ssserver, ss-redir: -k
microsocks: -P
chisel client, chisel server, transmission-remote, etcdctl: --auth: -n: --user:
etcdctl user add, addauth digest: @1:
steamcmd, +login: @2
mcrcon, rcon, fs_cli, mpc: -p -P
sipp: -ap
kamctl add, kamctl passwd, opensipsctl add, create-user, create_user: @2
tacacs-server key, radius-server key, isakmp key, psk set ascii, wpa-psk ascii, vtp password: @1
chap password, masterauth, key-string: @1
username: secret password pass
message-digest-key: @3
pre-shared-key, authentication-key: ascii-text local remote
locksettings set-pin, locksettings set-password: @-1
pihole -a -p, pihole setpassword: @1
# databases
mysql, mariadb, mysqldump, mysqladmin, mysqlimport, mysqlsh, mysqlcheck, mysqlshow, mysqlbinlog, mariadb-dump: -p*
mydumper, myloader, mycli: -p
mongosh, mongo, mongodump, mongorestore, mongoexport, mongoimport, mongostat, mongotop, mongofiles: -p
redis-cli, keydb-cli, valkey-cli, redis-benchmark: -a --pass
config set requirepass, config set masterauth: @1
sqlcmd, bcp, osql, tsql, mssql-cli: -P
sqlplus, sqlcl, sqlldr, expdp, impdp, rman target: @1/
cqlsh, cypher-shell, hdbsql, beeline, couchbase-cli, cbq, cbimport, cbexport, dsbulk: -p
hdbuserstore set: @-1
influx setup: -p
influx config create, influx auth, influx query, influx write: -t
isql, isql-fb, gbak, gsec: -pas -pw -pa
db2 connect: using
vsql, nzsql, odoo, odoo-bin: -w -pw
elasticsearch-users useradd, elasticsearch-users passwd: -p
splunk, jenkins-cli.jar, solr auth: -auth: -credentials:
pg_md5: @1
ldapsearch, ldapadd, ldapmodify, ldapdelete, ldapwhoami, ldapmodrdn, ldapcompare, ldapvi: -w
ldappasswd: -w -s -a
net user: @2
isql: @3
requirepass, masterauth, key-string, insecure-password: @1
neighbor: password
radius-server, tacacs-server: key
rocommunity, rwcommunity, rocommunity6, rwcommunity6, bindpw, wpa-passphrase: @1
stats auth: @1:
createuser: sha md5 aes des
mvn --encrypt-master-password, mvn --encrypt-password: @1
conan remote login, conan user, airdecap-ng: -p
impacket-secretsdump, impacket-psexec, impacket-wmiexec, secretsdump.py, psexec.py, wmiexec.py: -hashes
winrs: -p:*
htpasswd -b -c, htpasswd -bc, htpasswd -b, htpasswd -cb: @3
samba-tool user create, samba-tool user add: @2
# messages and mail
rabbitmqctl add_user, rabbitmqctl change_password, rabbitmqctl authenticate_user: @2
rabbitmqadmin, seaf-cli, nextcloudcmd, owncloudcmd: -p
mosquitto_pub, mosquitto_sub, mosquitto_rr: -P
mosquitto_passwd -b, mosquitto_passwd -c -b, ejabberdctl register, prosodyctl register: @3
ejabberdctl change_password: @3
nats, nats-server: --pass --auth
swaks: -ap
sendemail: -xp
nickserv identify, nickserv :identify, nickserv register, nickserv :register: @1
weechat, /secure set: @2
# backups, clouds and registries
rclone obscure: @1
rclone config create, rclone config update: pass password
mc alias set, mc config host add: @4
mc admin user add, chamber write: @3
b2 authorize-account, b2 account authorize, bw login, mega-login, cf auth, credstash put: @2
bw unlock, snyk auth, wandb login, cargo login, vault login, vault unwrap, vault operator unseal, unseal: ~--registry @1
conjur variable set: -v
az login, az acr login, az sql server create, ibmcloud login, cf login, oc login, airflow users create, twine upload: -p
docker login, podman login, buildah login, skopeo login, crane auth login, registry login, oras login, nerdctl login: -p
skopeo, buildah, podman, oras: --creds: --src-creds: --dest-creds:
doctl auth init, rancher login, glab auth login, gitlab-runner register, vercel, uv publish: -t -r
netlify, hatch publish: --auth -a
codecov, codecovcli: -t
netlify env:set, pulumi config set --secret, drush user:password, drush upwd: @2
keyvault secret set, ssm put-parameter, gh secret set, gh variable set: --value --body -b
secret-set-value: --base64 --value
nuget push, nuget delete: -k -apikey
nuget setapikey: @1
hex.organization auth, hex.user auth: --key
poetry config, composer config: @3 @2
poetry publish: -p
bundle config set, bundle config: @-1:
kcadm.sh: -P -p
schtasks: /rp /p
sc config, sc create: password=
psexec, winrs, wmic: -p
bitsadmin /setcredentials: @-1
vmrun: -gp -vp
yt-dlp, youtube-dl: -p -2
walletpassphrase, encryptwallet, importprivkey: @1
walletpassphrasechange: @1 @2
rootpw: --plaintext --iscrypted @1
"""
LONGEST = 1200
COMMAND = LazyRegex(r"(?:^|[$#>%;&|(`\"'+]|→|sudo)[ \t]{0,4}(?:sudo )?[\w./\-]{2,30}(?: [\w\-:./]{1,40}){0,5}$")
PHRASE = LazyRegex(r"[A-Za-z]{2,20}(?: [A-Za-z0-9]{1,20}){1,6}")
WORD_LISTS = (".txt", ".lst", ".dict")  # what is tried, one after the other
MOST_WORDS = 60
ENDS = "|;&)\n\r`"


class Arguments(NamedTuple):
    """Where a program takes its secrets."""

    following: frozenset[str]
    joined: tuple[str, ...]
    paired: dict[str, str]  # option to the sign between user and password
    skipped: frozenset[str]
    places: dict[int, str]  # which argument, and the sign before the secret in it
    handed_in: bool
    needed: tuple[
        str, ...
    ]  # in lower case; none of them in a line: no secret; empty: an argument is known by its place

    def may_stand(self, low: str, at: int) -> bool:
        """A quick look before the line is read word by word."""
        line = low[at : at + LONGEST].partition("\n\n")[0]
        return not self.needed or any(word in line for word in self.needed)


def _arguments(row: str) -> Arguments:
    words = row.split()
    places = {}
    for word in words:
        if word[0] == "@":
            sign = "" if word[-1].isdigit() else word[-1]
            places[int(word[1:].rstrip(":/"))] = sign
    options = [word for word in words if word[0] not in "@~" and word != "<<<"]
    paired = {word[:-1]: word[-1] for word in options if word[0] == "-" and word[-1] in ":%,"}
    joined = tuple(word[:-1] for word in options if word[-1] == "*")
    following = frozenset(word for word in options if word[-1] != "*" and word[:-1] not in paired)
    skipped = frozenset(word[1:] for word in words if word[0] == "~")
    handed_in = "<<<" in words
    options = [word.lower() for word in (*following, *joined, *paired)]
    needed = () if places else (*options, *(["<<<"] if handed_in else []))
    return Arguments(following, joined, paired, skipped, places, handed_in, needed)


@cache
def programs() -> dict[str, Arguments]:
    """The table: the words that begin a command, with a space behind them, and its arguments."""
    table = {}
    for line in TABLE.strip().splitlines():
        if not line.startswith("#"):
            names, _, row = line.partition(": ")
            for name in names.split(", "):
                table[name + " "] = _arguments(row)
    return table


def find_in_programs(text: str, low: str, marks: Set[str]) -> Iterator[Hit]:
    """Secrets among the arguments of programs that the table knows."""
    table = programs()
    for mark in marks:
        if mark not in table:
            continue
        at = low.find(mark)
        while at >= 0:
            end = at + len(mark)
            begins = at == 0 or not (low[at - 1].isalnum() or low[at - 1] in "_.-")
            if begins and table[mark].may_stand(low, end):
                command = _CommandLine(text, end - 1, table[mark])
                yield from command.secrets()
                end = max(end, command.at)  # one look at each part of a text, however often the name stands in it
            at = low.find(mark, end - 1)


class _CommandLine:
    """One command from behind its name to its end."""

    def __init__(self, text: str, at: int, arguments: Arguments) -> None:
        self.text, self.at, self.known = text, at, arguments
        self.limit = min(len(text), at + LONGEST)
        line = text[max(0, at - 80) : at]
        line = line[max(line.rfind("\n"), line.rfind("\\n") + 1) + 1 :]
        # Not a sentence that names the program.
        name = line.rpartition(" ")[2]
        self.is_command = not name.istitle() and COMMAND.compiled.search(line) is not None

    def _next(self) -> AssignedValue | None:
        text, at = self.text, self.at
        while at < self.limit and (text[at] in " \t" or text.startswith(("\\\n", "\\\\\n"), at)):
            at += 1 if text[at] in " \t" else 2
        if at >= self.limit or text[at] in ENDS or text.startswith(("\\n", "\\r"), at):
            self.at = at
            return None
        if text.startswith("<<<", at):
            self.at = at + 3
            return AssignedValue(at, at + 3, False)
        value = read_value(text, at)
        if value is None and text[at] == "\\":
            # A share of Windows.
            end = at + len(text[at : at + 200].split(None, 1)[0])
            value = AssignedValue(at, end, False)
        if value is None:
            self.at = at
            return None
        # Behind the closing quote, however deep it is escaped.
        end = value.end
        while value.quoted and end < self.limit and text[end] in "\\\"'`":
            end += 1
        self.at = max(end, at + 1)
        return value

    def secrets(self) -> Iterator[Hit]:
        known, text = self.known, self.text
        plain: list[AssignedValue] = []
        for _ in range(MOST_WORDS):
            value = self._next()
            if value is None:
                break
            word = text[value.start : value.end]
            if word == "<<<":
                handed = self._next()
                yield from self._given(handed) if known.handed_in else ()
            elif value.quoted:
                plain.append(value)
            elif word in known.following or word.lower() in known.following:
                # A keyword may also be a word of a sentence; then only the look of the value decides.
                following = self._next()
                if word[0] in "-/":
                    yield from self._given(following)
                elif following is not None:
                    if text[following.start : following.end] in ("0", "7", "5"):
                        following = self._next() or following  # how it is encrypted
                    yield from self._placed(following)
            elif word in known.paired:
                yield from self._after_sign(self._next(), known.paired[word])
            elif word in known.skipped:
                self._next()
            elif word.startswith(known.joined) and known.joined:
                option = next(o for o in known.joined if word.startswith(o))
                rest = AssignedValue(value.start + len(option), value.end, False)
                # `-p"..."`: the quote begins right behind the option.
                quoted = rest.end == rest.start and text[self.at : self.at + 1] in ("'", '"', "\\")
                yield from self._given(self._next() if quoted else rest)
            elif word[0] not in "-/" or len(word) > 24:
                plain.append(value)
        for place, sign in known.places.items():
            index = place - 1 if place > 0 else place
            if -len(plain) <= index < len(plain):
                value = plain[index]
                yield from self._after_sign(value, sign) if sign else self._placed(value)

    def _given(self, value: AssignedValue | None) -> Iterator[Hit]:
        """The value of an option: anything but a placeholder, a path and another option."""
        if value is None or value.end <= value.start or self._is_name(value):
            return
        word = self.text[value.start : value.end]
        if word[0] in "-$/~(<" or (word.isdigit() and len(word) < 6) or word.endswith(WORD_LISTS):
            return
        phrase = value.quoted and PHRASE.compiled.fullmatch(word) is not None and not is_placeholder(word)
        if phrase or is_secret(word, Promise.PASSWORD, value.quoted, True):
            yield Hit("password", value.start, value.end)

    def _after_sign(self, value: AssignedValue | None, sign: str) -> Iterator[Hit]:
        if value is None:
            return
        name, found, word = self.text[value.start : value.end].partition(sign)
        if (
            found
            and len(word) > 3
            and word[0] not in "$ "
            and "/" not in name
            and "${" not in word
            and not (sign == "/" and ("@" in name or is_placeholder(word.partition("@")[0])))
            and not is_placeholder(word)
            and not word.isdigit()
        ):
            yield Hit("password", value.start + len(name) + 1, value.end)

    def _is_name(self, value: AssignedValue) -> bool:
        """Whether what follows in quotes is the next name of an object, rather than an argument."""
        return value.quoted and self.text[value.end : value.end + 4].lstrip("\\\"'").startswith(":")

    def _placed(self, value: AssignedValue) -> Iterator[Hit]:
        """An argument known by its place alone: it must look like a password."""
        word = self.text[value.start : value.end]
        if len(word) < 5 or self._is_name(value):
            return
        path = "/" in word and not is_random(word)
        if path or word[0] in "-$<" or TIDY.compiled.fullmatch(word) or is_placeholder(word):
            return
        phrase = value.quoted and PHRASE.compiled.fullmatch(word) is not None
        plain = self.is_command and (phrase or is_plain_password(word))
        if plain or is_made(word) or is_random(word) or (value.quoted and not word.isalpha() and " " not in word):
            yield Hit("password", value.start, value.end)
