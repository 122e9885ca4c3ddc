"""Places that hold nothing but a secret, and twins of them that hold none."""

from __future__ import annotations

import pytest

from seasoned.redact import Redactor, detector
from tests.each_case import each_case

# Each text, and the part of it that must go.
SECRETS = (
    ('proxy_set_header Authorization "Basic Z3JlYmU6Y3Jlc3Q=";', "Z3JlYmU6Y3Jlc3Q="),
    ('"Name": "/prod/mq/pass", "Type": "SecureString", "Value": "drawbridge_down"', "drawbridge_down"),
    ('carla : PSK "two tunnels, one hill"', "two tunnels, one hill"),
    (': RSA gw.key "gatekeeper"', "gatekeeper"),
    ('network={\n  ssid="Tent 4"\n  psk="carpet flies"\n}', "carpet flies"),
    ("<auth-user-pass>\ndriver12\nLoading-Dock\n</auth-user-pass>", "Loading-Dock"),
    ('PlainLoginModule required\n  user_shop="samsa_beetle";', "samsa_beetle"),
    ("# /etc/ppp/chap-secrets\nl2tpuser l2tpd gull_harbour *", "gull_harbour"),
    ('cat > /etc/ppp/pap-secrets <<END\n"t-88120@isp.example" * "barnowl" *\nEND', "barnowl"),
    ("realm=alp.example\nuser=turn:wryneck\n", "wryneck"),
    ("cache_peer up.example parent 3128 0 login=alp:cuttle-fish", "cuttle-fish"),
    ("BASIC_AUTH=ops:Sourdough!", "Sourdough!"),
    ("set :ssh_password, 'wood&meadow'", "wood&meadow"),
    ("rocommunity moonscape 10.0.0.0/8", "moonscape"),
    ('createUser monitor SHA "authphrase-one" AES "x"', "authphrase-one"),
    ("set snmp community nightwatch authorization read-only", "nightwatch"),
    ("listen stats\n  stats auth statsadmin:balance_beam", "balance_beam"),
    ('new X509Certificate2("x.pfx", "gravelpit")', "gravelpit"),
    ('DriverManager.getConnection(url, "sa", "gravelpit")', "gravelpit"),
    ('let db = open("localhost", "nimuser", "crown-and-anchor", "todo")', "crown-and-anchor"),
    ('new PasswordAuthentication("a@mill.example", "windmill")', "windmill"),
    ('ldap_bind($ldap, "cn=web,dc=lan", "usher");', "usher"),
    ('signInWithEmailAndPassword("a@b.example", "lime-tree")', "lime-tree"),
    ('mqttc.username_pw_set("scale", "honeypot")', "honeypot"),
    ('ks.load(new FileInputStream("client.p12"), "p12forever".toCharArray());', "p12forever"),
    ("crypto.scryptSync('correct mule battery', 'salt', 32)", "correct mule battery"),
    ("SELECT pgp_sym_decrypt(iban, 'a castle at the lake') FROM c", "a castle at the lake"),
    ("PRAGMA key = 'moth in the lamp';", "moth in the lamp"),
    ('cookies.set("PHPSESSID", "ywt90yi8b8g6ht25elt9os5aeh")', "ywt90yi8b8g6ht25elt9os5aeh"),
    ('If InputBox("Password:") <> "liverwurst" Then', "liverwurst"),
    ('ActiveWorkbook.Unprotect "pantry"', "pantry"),
    ('01  WS-DB-PASSWORD    PIC X(12) VALUE "KONTO77X".', "KONTO77X"),
    ("MOVE 'BLUEBERRY' TO LOGON-PASSWORD", "BLUEBERRY"),
    ("Send, hgrube{Tab}Gr0ssglockner{Enter}", "Gr0ssglockner"),
    ("static const uint8_t aes_key[16] = { " + "0x3a, " * 15 + "0xf0 };", "0x3a, 0x3a"),
    ("private static final char[] PWD = {'m','o','s','t','f'};", "'m','o','s'"),
    (
        'let secret_key: [u8; 32] = hex!("80cc3990e73ec477e2c8fb210ac15ea3b965381c3811046f2e8f5aca6db0ce11");',
        "80cc3990",
    ),
    ("'password' => Hash::make('stethoscope-5'),", "stethoscope-5"),
    ('{default_user, <<"broker">>},\n{default_pass, <<"rabbit-rabbit-hare">>},', "rabbit-rabbit-hare"),
    ('parser.add_argument("--password", default="chisel", help="of the db")', "chisel"),
    ("CREATE USER scott IDENTIFIED BY tigerlilly DEFAULT TABLESPACE users;", "tigerlilly"),
    ("cryptsetup luksOpen /dev/sdb1 data <<< 'old swede what a weather'", "old swede what a weather"),
    ('echo -n "mole is right" | cryptsetup luksOpen /dev/sdb2 usb', "mole is right"),
    ("[sudo] password for manu: patatas bravas\n", "patatas bravas"),
    ("Enter passphrase for /dev/nvme1n1p3: seven sleepy badgers\n", "seven sleepy badgers"),
    ('Content-Disposition: form-data; name="password"\r\n\r\nbracken\r\n--X', "bracken"),
    ("impacket-psexec 'htb.local/backup:call_of_hills@10.10.10.52'", "call_of_hills"),
    ("lpadmin -p HR -E -v smb://CORP/svc_cups:paper.jam@printsrv/HR", "paper.jam"),
    ("pkcs11-tool --login --pin 271828 --list-objects", "271828"),
    ('AT+CPIN="7302"', "7302"),
    ("$ john --show hashes.txt\nwendy:peterpan:1002:1002::/home/wendy:/bin/bash", "peterpan"),
    ("\t * NTLM     : d6b9f5d625ee8dbfdcfb691493dcac52", "d6b9f5d625ee8dbfdcfb691493dcac52"),
    ("./config.sh --token AHGWDWZAKAMSUFPTTETHZVWB4HL7F --labels gpu", "AHGWDWZAKAMSUFPTTETHZVWB4HL7F"),
)
HARMLESS = (
    'proxy_set_header Authorization "";',
    '"Type": "SecureString", "Value": "<hidden>"',
    "chap-secrets is read by pppd\nclient server secret addresses\n",
    "docker run --user=1000:1000 app",
    "user=1000:1000\n",
    "rocommunity public localhost",
    "users are identified by their address",
    "a row is identified by name",
    'f = open("a.txt", "w", encoding="utf-8")',
    'char[] digits = "0123456789abcdef".toCharArray();',
    'const name = prompt("Name?")',
    "[sudo] password for crane: Connection to 10.2.2.2 closed by remote host.",
    'Content-Disposition: form-data; name="file"\r\n\r\nreadme\r\n--X',
    "uint8_t table[16] = { " + "0x3a, " * 15 + "0xf0 };",
    'parser.add_argument("--password", default="", help="asked for if empty")',
    "gpio --pin 13 high",
    "MOVE 'READY' TO STATUS-TEXT",
    "FTP --token TOKEN --key KEY",
)


@pytest.fixture(autouse=True)
def _rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector, "find_scored", lambda *given: iter(()))


@each_case(("text", "secret"), SECRETS)
def test_what_stands_there_is_gone(text: str, secret: str) -> None:
    assert secret not in Redactor(b"k" * 32).text(text)


@each_case("text", HARMLESS)
def test_a_twin_without_a_secret_is_left_alone(text: str) -> None:
    assert Redactor(b"k" * 32).text(text) == text
