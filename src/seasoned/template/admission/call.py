"""Admission of calls: which call of a session may be shown to another one, as example, repair, hint or sheet line.

What a call can do decides, not how its words sound: the table of commands says what is dangerous, and nothing is shown
that changes where code comes from, where traffic goes, or what runs before a program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import msgspec

from seasoned.command.risk import why_not_example
from seasoned.command.tool import command_of, tool_of
from seasoned.lazy_regex import LazyRegex
from seasoned.session import ToolCall
from seasoned.template.admission.admit import Admission, hidden_character
from seasoned.template.admission.hostile import arguments_speak, speaks_to_reader
from seasoned.template.admission.sentence import is_named_plainly, tells_in_command

# How a value looks that was redacted, or shortened for the store: the call would not work as it stands.
_INCOMPLETE = ("[redacted:", " characters]")

# A word with letters of two alphabets looks like another word; Greek letters are common in names of quantities.
_MIXED = LazyRegex(r"[A-Za-z][\u0400-\u052f\u13a0-\u13ff]|[\u0400-\u052f\u13a0-\u13ff][A-Za-z]")

# -- what redirects -----------------------------------------------------------------------------------------------

# Variables that choose where packages, commands and traffic come from, or load code into every program.
_VARIABLES = (
    r"(?:(?:[a-z]+_)?proxy|(?:\w*_)?(?:PROXY|INDEX_URL|REGISTRY\w*|MIRROR\w*|CA_BUNDLE|ENDPOINT(?:_URL)?|BASE_URL|API_BASE)"
    r"|GOPROXY|GONOSUMDB|GOSUMDB|GOFLAGS|(?:GIT|SSH|LD|DYLD|XDG|SEASONED|PIP|UV|CARGO|npm_config|NPM_CONFIG)_\w+"
    r"|NODE_OPTIONS(?!=[\"']?--max-old-space-size=\d+[\"']?(?:\s|$))|NODE_EXTRA_CA_CERTS|PYTHONSTARTUP|PYTHONHOME|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS|BASH_ENV|ENV"
    r"|PROMPT_COMMAND|PATH|PS4|IFS|SHELL|EDITOR|VISUAL|PAGER|BROWSER|SSL_CERT_\w+|CURL_HOME|HOME|CLAUDE_CONFIG_DIR"
    r"|CODEX_HOME|HERMES_HOME|RUSTC_WRAPPER|MAVEN_OPTS|GRADLE_OPTS|PYTHONPATH(?==[\"']?(?:/|~|\$HOME|\.\.)))"
)
# Variables that switch a check off.
_UNCHECKED = (
    r"(?:NODE_TLS_\w+|PYTHONHTTPSVERIFY|\w*(?:SSL|TLS)\w*VERIFY\w*|\w*NO_VERIFY\w*|HUSKY|LEFTHOOK\w*|PRE_COMMIT_\w+|SKIP"
    r"|\w*(?:SKIP|DISABLE|BYPASS|IGNORE)_(?:\w+_)?(?:TESTS?|CHECKS?|HOOKS?|VERIFY|VALIDATION|LINT|SSL|TLS|AUTH)\w*)"
)
_PACKAGES = "npm|pnpm|yarn|bun|pip3?|uv|poetry|pdm|conda|bundle|gem|cargo|go|composer|nuget|helm|brew|apt|cpan|docker"
_REDIRECTS: tuple[tuple[str, LazyRegex], ...] = tuple(
    (why, LazyRegex(rf"(?m){pattern}"))
    for why, pattern in (
        ("it sets a variable that redirects programs", rf"(?:^|[\s;&|(`'\"])(?:export\s+)?{_VARIABLES}="),
        ("it sets a variable that redirects programs", rf"\b(?:setenv|set -gx|set -x|export)\s+{_VARIABLES}\b"),
        (
            # The compiler of a build, a wrapper, a runner: a program of the project or of the system is usual.
            "it names a program from outside the project",
            (
                r"(?:^|[\s;&|(`'\"])(?:HOST)?(?:CC|CXX|CPP|LD|AR|AS|NM|FC|LEX|YACC|RUSTC|MAKE|PYTHON|NODE|RUBY|JAVA|[A-Z_]+_(?:WRAPPER"
                r"|COMPILER|LAUNCHER|COMMAND|CMD|BIN|EXE|RUNNER|PROGRAM|TOOL))=[\"']?(?:~|\$HOME|\.\./|/(?!usr/|opt/|bin/|nix/))"
            ),
        ),
        (
            "it starts another program by an option",
            (
                r"\s--(?:checkpoint-action|to-command|use-compress-program|compress-program|rsh|rsync-path|unzip-command"
                r"|info-script|new-volume-script|split-filter)(?:[=\s]|$)|\b(?:split\b[^;&|\n]*\s--filter|tar\b[^;&|\n]*\s-I)\b"
            ),
        ),
        (
            "it changes git's configuration, remotes or hooks",
            (
                r"\bgit\b[^;&|\n]*\s(?:config\s(?!(?:--\S+\s+)*(?:--get\S*|-l\b|--list|get\b|list\b))"
                r"|remote\s+(?:add|set-\w+|rename|remove|rm)\b|submodule\s+(?:add|set-url)\b|--config-env|--exec-path"
                r"|--upload-pack|--receive-pack)|\bgit(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+-c\s"
            ),
        ),
        (
            "it installs something that runs later",
            (
                r"(?i)\.git/hooks|hookspath|\.husky|\bhusky\b|\bpre-commit\s+(?:install|init-templatedir)"
                r"|\blefthook\s+install|\.envrc|\bdirenv\s+allow|\bcrontab\b|\bat\s+-f|\bsystemctl\b|\blaunchctl\b"
            ),
        ),
        (
            "it changes where packages come from",
            (
                rf"\b(?:{_PACKAGES})(?:\s+-\S+)*\s+(?:config\b|env\s+-w|sources?\b|repo\s+add|tap\b|mirror\b|login\b|adduser\b"
                r"|set\s+registry)"
            ),
        ),
        (
            "it changes where packages or answers come from",
            (
                r"\s--?(?:registry|index-url|extra-index-url|default-index|index|find-links|trusted-host|proxy|socks5\S*"
                r"|endpoint\S*|base-url|api-url|server|kubeconfig|repository|repo-url|git|require|import-map|preload"
                r"|init-command|rcfile|init-file|cert|cacert|insecure|no-verify-ssl|resolve|connect-to|allow-scripts)"
                r"(?:[=\s]|$)|\s-[ifx]\s+\S*://"
            ),
        ),
        (
            # A name that is one letter off is another package; what the project needs stands in its manifest.
            "it installs a package by its name",
            (
                r"\b(?:(?:pip3?|conda|mamba|brew|apt(?:-get)?|gem|cargo|go)\s+(?:install|get)|(?:npm|pnpm|bun)\s+(?:install|i|add)"
                r"|(?:yarn|uv|poetry|pdm)\s+add)\s+(?![^;&|\n]*(?:-r|-e|-c|-C|-w|--(?:requirements?|editable|constraint|path|file"
                r"|prefix|workspace|filter|dir|cwd))\b)(?:-\S+\s+)*[\"']?[A-Za-z@]"
            ),
        ),
        (
            "it runs a file from outside the project",
            r"(?:^|[;&|(]\s*)(?:source|\.)\s+[\"']?(?:/(?!dev/null)|~|\$HOME|\.\./)",
        ),
        (
            "it gives a name to another command",
            r"(?:^|[;&|(]\s*)(?:alias\s|function\s|\w+\s*\(\)\s*\{|trap\s|complete\s|enable\s|hash\s+-p)",
        ),
        ("it evaluates what it reads", r"(?:^|[;&|(]\s*)eval\s"),
        ("it turns a check off", rf"(?:^|[\s;&|(`'\"])(?:export\s+)?{_UNCHECKED}="),
        # Whatever the first program did, the call has worked: that proves nothing.
        (
            "it hides whether it worked",
            (
                r"\|\|\s*(?:true\b|:(?=\s|;|$)|exit\s+0\b|echo\b|printf\b)|;\s*(?:true|:|exit\s+0)\s*$"
                r"|/dev/null(?:\s+2>&1)?\s*(?:;|&&)\s*(?:echo|printf)\b|\bset\s+\+e\b|\bg?make\b[^;&|\n]*\s-[a-zA-Z]*i\b"
                r"|\s--(?:ignore-errors|passWithNoTests|fail-never|no-fail)(?=[=\s]|$)|\s-D(?:skipTests|maven\.test\.\S+)"
            ),
        ),
        # A change of the code repaired it then, and would be made blindly now; it may also have been one of the test.
        ("it edits files in place", r"\b(?:g?sed|perl|ruby)\b[^;&|\n]*\s(?:-[a-zA-Z]*i\b|-i\S|--in-place)"),
        ("it holds code for a template", r"\.__[a-z]+__\b|\{[{%][^{}]*\([^{}]*[}%]\}"),
        (
            "it writes outside the project",
            r"(?:^|[\s\d&;|])>{1,2}\s*[\"']?(?:/(?!dev/(?:null|stdout|stderr|tty)\b|tmp/|private/tmp/)|~|\$HOME)",
        ),
    )
)
# Settings of shells, of ssh and of agents: a file that is only read may be one; a shell that names it may change it.
_SETTINGS = LazyRegex(
    r"\.(?:bashrc|zshrc|profile|bash_profile|zprofile|npmrc|yarnrc\S*|pypirc|netrc|gitconfig|curlrc|wgetrc)\b"
    r"|\.ssh/|\.gnupg/|\.aws/|\.kube/|\.docker/|\.config/|/etc/|\.claude/|\.codex/|\.gemini/|\.hermes/|\.seasoned"
    r"|pip\.conf\b|\.pth\b|sitecustomize|authorized_keys|known_hosts"
    r"|\b(?:AGENTS|CLAUDE|GEMINI|SKILL|MEMORY)\.md\b|\.cursor|\.windsurf|copilot-instructions|\.mcp\.json|\.vscode/"
)

# -- hosts --------------------------------------------------------------------------------------------------------

_URL = LazyRegex(r"(?i)\b([a-z][a-z0-9+.-]{1,30})://([^\s\"'`<>|;)\]}]+)")
_SCP = LazyRegex(r"(?<![\w/@.-])[\w.-]{1,40}@([\w-]+(?:\.[\w-]+)+)(?::([\w./~-]*))?")
_IMAGE = LazyRegex(r"(?:^|[\s\"'=])((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/[\w./-]+(?:[:@][\w.-]+)?)(?=[\s\"']|$)")
# Programs whose plain words are hosts.
_CLIENTS = LazyRegex(
    r"(?:^|[;&|(]\s*|\bsudo\s+|\btime\s+)(?:ssh|scp|sftp|rsync|telnet|nc|ncat|netcat|socat|ping6?|dig|host|nslookup|whois"
    r"|traceroute|mtr|nmap|curl|wget|http|https|xh|ftp|lftp|aria2c|openssl\s+s_client|drill|kdig|mosh|websocat|grpcurl)\s"
    r"([^;&|\n]*)"
)
_HOST_OPTION = LazyRegex(
    r"\s(?:-h|--host|--hostname|--server|-H|--address|--url|--broker|--bootstrap-server)[=\s]\s?[\"']?([\w.-]+)"
)
_DOMAIN = LazyRegex(r"(?:[a-z0-9_$(){}-]+\.)+[a-z]{2,24}\.?\Z", re.IGNORECASE)
# A text that is a host and nothing else. Endings that files have as well (`py`, `sh`, `md`) say nothing.
_HOST = LazyRegex(
    r"(?i)\s*(?:[a-z0-9_-]+\.)+(?:com|net|org|io|dev|app|co|info|biz|xyz|online|site|top|cloud|ai|click|link|live|store|tech"
    r"|icu|example|invalid|onion|su|cn|ru|de|fr|uk|nl|eu|us|in|br|jp|kr|it|es|ch|at|ca|au|me|tv|cc|tk|pw)\.?(?::\d+)?(?:/\S*)?\s*\Z"
    r"|\s*(?:[a-z0-9_-]+\.)+[a-z]{2,24}:\d{2,5}(?:/\S*)?\s*\Z"
)
_ADDRESS = LazyRegex(r"\d{1,3}(?:\.\d{1,3}){3}\Z|\[?[0-9a-f:]*:[0-9a-f:]+\]?\Z")
_LOCAL = ("localhost", "host.docker.internal", "0.0.0.0", "::1", "[::1]")
# Hosts of documentation, of which placeholders are made. Below them, and below `.test` or `.example`, anyone may have
# put a host into a name server or a file of this machine.
_RESERVED = ("example.com", "example.org", "example.net", "www.example.com")
_HERE = ("file", "unix", "sqlite", "data")


def admit_call(tool: str, arguments: Mapping[str, Any], *, project: str = "") -> Admission:
    """Whether a call that worked may be shown to another session of this project (its key; empty outside of any)."""
    why = _unfit(tool, arguments) or _redirects(tool, arguments) or _foreign(tool, arguments, project)
    return Admission(why)


def _unfit(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """Why a call cannot be shown anywhere: incomplete, dangerous, or a carrier of words to the reader."""
    texts = list(texts_in(arguments))
    if any(map(hidden_character, texts)):
        return "it holds an invisible character"
    if any(mark in text for text in texts for mark in _INCOMPLETE):
        return "a part of it was redacted or cut"
    if any(_MIXED.compiled.search(text) for text in texts if not text.isascii()):
        return "it mixes letters of alphabets that look alike"
    if not is_named_plainly(tool, is_tool=True) or speaks_to_reader(_words(tool)):
        return "the name of its tool is not plain"
    names = list(_names(arguments))
    if not all(map(is_named_plainly, names)):
        return "the name of an argument is not plain"
    command = command_of(ToolCall("", tool, dict(arguments)))
    if command is not None and tells_in_command(command):
        return "it holds a sentence beside what it runs"
    if arguments_speak(dict(arguments)) or speaks_to_reader(" ".join(map(_words, names))):
        return "it speaks to its reader"
    found = why_not_example(tool, arguments)
    return None if found is None else f"it {found.why}"


def _words(name: str) -> str:
    """A name as the words that it joins: `ignore_previous_instructions`, `ignorePreviousInstructions`."""
    return re.sub(r"[_.:/$-]+|(?<=[a-z])(?=[A-Z])", " ", name)


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name)
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)


def _redirects(tool: str, arguments: Mapping[str, Any]) -> str | None:
    only_reads = tool_of(tool).form in ("file_read", "search")
    for text in texts_in(arguments):
        for why, pattern in _REDIRECTS:
            if pattern.compiled.search(text):
                return why
        if not only_reads and _SETTINGS.compiled.search(text):
            return "it names settings of a shell, of ssh or of an agent"
    return None


def _foreign(tool: str, arguments: Mapping[str, Any], project: str) -> str | None:
    own = project.lower()
    for text in texts_in(arguments):
        for place in _places(tool, text):
            if not _is_own(place, own):
                return "it names a host that is not the project's"
    return None


def names_foreign_host(tool: str, arguments: Mapping[str, Any], *, project: str = "") -> bool:
    """Whether a call names a host that is neither this machine nor the project's own."""
    return _foreign(tool, arguments, project) is not None


def _places(tool: str, text: str) -> Iterator[str]:
    """The hosts that a text names, each with the path behind it."""
    for url in _URL.compiled.finditer(text):
        if url[1].lower() not in _HERE:
            yield _place(url[0])
    for found in _SCP.compiled.finditer(text):
        yield f"{found[1]}/{(found[2] or '').lstrip('/~')}".lower()
    for found in _IMAGE.compiled.finditer(text):
        yield found[1].lower()
    if tool_of(tool).form != "shell":
        # What a file or a search is given is full of words with dots.
        if tool_of(tool).form == "api" and _HOST.compiled.match(text):
            yield text.strip().lower()
        return
    for found in _HOST_OPTION.compiled.finditer(text):
        yield found[1].lower()
    for client in _CLIENTS.compiled.finditer(text):
        for word in client[1].split():
            bare = word.strip("\"'").lower()
            if _DOMAIN.compiled.match(bare.partition("/")[0].partition(":")[0]) or _ADDRESS.compiled.match(bare):
                yield bare


def _place(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{(parts.hostname or '').lower()}{parts.path.lower()}"
    except ValueError:
        return url.lower()


def _is_own(place: str, own: str) -> bool:
    """Whether a host is this machine, a name without a domain (a service beside the program), or the project's own."""
    host = place.partition("/")[0].partition(":")[0] if not place.startswith(("[", ":")) else place
    if not host or host in _LOCAL or host.startswith("127.") or host.endswith(".localhost") or host in _RESERVED:
        return True
    # An address as one number.
    if host.isdigit() or host.startswith("0x"):
        return False
    # A variable names a host of the machine that runs the command.
    if "$" in host or "{" in host or ("." not in host and ":" not in host):
        return "$(" not in host and "`" not in host
    # Many projects share a forge: only the project's own repository there is its own.
    return bool(own) and (place.removesuffix(".git") + "/").startswith(own + "/")


def admit_path(path: str) -> bool:
    """Whether the path of a file may be shown: anyone can put a sentence into the name of a file."""
    is_plain = path.isprintable() and not any(mark in path for mark in _INCOMPLETE)
    return is_plain and not speaks_to_reader(path) and not speaks_to_reader(_words(path))


@lru_cache(maxsize=4096)
def admit_written(tool: str, text: str, project: str = "") -> bool:
    """The same for a call as it is kept: a command of a shell, or the JSON of its arguments."""
    given: dict[str, Any] = {"command": text} if tool == "shell" else msgspec.json.decode(text)
    return bool(admit_call("Bash" if tool == "shell" else tool, given, project=project))
