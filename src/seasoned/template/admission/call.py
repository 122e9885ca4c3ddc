"""Which calls may be shown to other sessions, as examples, repairs, hints or sheet lines.

What a call can do decides, not how it sounds. The table of commands says what is dangerous, and no call is shown that
changes where code comes from, where traffic goes, or what runs before a program.
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
from seasoned.template.admission.injection import encodes_text, holds_injection, is_injection
from seasoned.template.admission.sentence import is_named_plainly, tells_in_command, words_in

# Marks of a value that was redacted or shortened for the store: such a call would not work.
_INCOMPLETE = ("[redacted:", " characters]")
# A word that mixes alphabets imitates another word. Greek is left out: it is common in names of quantities.
_MIXED = LazyRegex(r"[A-Za-z][\u0400-\u052f\u13a0-\u13ff]|[\u0400-\u052f\u13a0-\u13ff][A-Za-z]")
# Letters that stand for others: those of mathematics, in circles, small or wide ones, dots for the blind, flags, parts
# of Korean syllables, letters struck through. Three of them write something.
_DECORATED = LazyRegex(
    r"(?:[\u0335-\u0338\u1100-\u11ff\u1d00-\u1d7f\u0299\u029c\u029f\u0262\u026a\u0274\u0280\u2460-\u24ff\u2801-\u28ff"
    r"\uff21-\uff3a\uff41-\uff5a\uff65-\uff9f\U0001d400-\U0001d7ff\U0001f110-\U0001f1ff][\w\s]?){3}"
)
# Letters by their numbers, with a sign behind each, or as long and short.
_SPELLED = LazyRegex(
    r"(?i)(?:&#x?[0-9a-f]{2,6};\s?){3}|(?:\\u00[4-7][0-9a-f]|\\x[4-7][0-9a-f]){4}|(?<![\w.*|-])(?:[a-z][.*|-]){4,}[a-z](?![\w.*|-])"
    r"|(?<!\S)(?:[.-]{1,5}(?:\s+|\s*/\s*)){6}|(?<!\S)(?:[2-7][0-9a-f]\s){8}"
    r"|(?:\w{2,}[\u2190-\u21ff\u2600-\u2bff\U0001f300-\U0001faff]\ufe0f?){3}"
)


# Variables that choose where packages, commands and traffic come from, or load code into every program.
_VARIABLES = (
    r"(?:(?:[a-z]+_)?proxy|(?:\w*_)?(?:PROXY|INDEX_URL|REGISTRY\w*|MIRROR\w*|CA_BUNDLE|ENDPOINT(?:_URL)?|BASE_URL|API_BASE)"
    r"|GOPROXY|GONOSUMDB|GOSUMDB|GOFLAGS|CARGO_(?!TARGET_DIR=[\"']?(?![/~$]|\.\.)|TERM_|INCREMENTAL=|BUILD_JOBS=)\w+|(?:GIT|SSH|XDG|SEASONED|PIP|UV|npm_config|NPM_CONFIG|CORECLR|COR)_\w+"
    r"|(?:LD|DYLD)_(?!LIBRARY_PATH=[\"']?(?![/~$]|\.\.))\w+|\w+_(?:HOOKS?|PRELOAD|INIT_SCRIPT|PLUGINS?)|LUA_INIT|OPENSSL_CONF|ZDOTDIR"
    r"|NODE_OPTIONS(?!=[\"']?--max-old-space-size=\d+[\"']?(?:\s|$))|NODE_EXTRA_CA_CERTS|PERL5OPT"
    # Python reads many variables that name code; these do not.
    r"|PYTHON(?!PATH|UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|HASHSEED|WARNINGS=[\"']?[a-z:,A-Z]+(?:\s|[\"'])|FAULTHANDLER"
    r"|DEVMODE|ASYNCIODEBUG|TRACEMALLOC|MALLOC|NOUSERSITE|SAFEPATH|PROFILEIMPORTTIME|LEGACY\w+|OPTIMIZE|VERBOSE|\w*_)\w+"
    r"|RUBYOPT|\w*JAVA_(?:TOOL_)?OPTIONS|BASH_ENV|ENV|PROMPT_COMMAND|PATH|PS4|IFS|SHELL|EDITOR|VISUAL|PAGER"
    r"|BROWSER(?!=[\"']?[a-z]+\b(?![./]))|SSL_CERT_\w+|CURL_HOME|HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|HERMES_HOME"
    r"|RUSTC_WRAPPER|MAVEN_OPTS|GRADLE_OPTS"
    r"|(?:PYTHONPATH|NODE_PATH|PERL5LIB|RUBYLIB|CLASSPATH|LUA_C?PATH|R_LIBS\w*|KUBECONFIG)(?==[\"']?(?:/|~|\$HOME|\.\.)))"
)
# Variables that switch a check off.
_UNCHECKED = (
    r"(?:NODE_TLS_\w+|PYTHONHTTPSVERIFY|\w*(?:SSL|TLS)\w*VERIFY\w*|\w*NO_VERIFY\w*|HUSKY|LEFTHOOK\w*|PRE_COMMIT_\w+|SKIP"
    r"|\w*(?:PERMISSION|APPROVAL|SANDBOX|CONFIRMATION|YOLO)\w*"
    r"|\w*(?:SKIP|DISABLE|BYPASS|IGNORE)_(?:\w+_)?(?:TESTS?|CHECKS?|HOOKS?|VERIFY|VALIDATION|LINT|SSL|TLS|AUTH)\w*)"
)
# Folders of this machine that no checkout holds: anyone may have put a file there before the next session runs it.
_ELSEWHERE = (
    r"[\"']?(?:/tmp|/var/tmp|/private/tmp|/dev/shm|/run/user|~|\$\{?HOME\}?|\$\{?TMPDIR\}?"
    r"|%(?:TEMP|TMP|USERPROFILE)%)[/\\]"
)
# Options and variables are named after what they load: code or settings.
_LOADING = (
    r"(?:plugin|rule|conf|init|setup|hook|agent|require|import|load|script|exec|runner|wrapper|launcher|compiler|interpreter"
    r"|module|lib|extension|settings|shell|toolchain|transform|reporter|env-?file|include|policy)"
)
# … or after where they put something; everything else that gets such a file loads it.
_KEEPING = (
    r"(?:out|tmp|temp|cache|log|report|result|dest|target|dir|prefix|cov|trace|dump|save|store|state|scratch|work|data|db"
    r"|sock|pid|home|root|body|message|input|archive|backup|profile|screenshot|video|artifact|junit|html|csv|json|xml"
    r"|repo|file|path|source|from)"
)
# Variables that keep something; `GRADLE_USER_HOME` and `CLASS_PATH` are where a program takes its code from.
_KEEPING_VARIABLE = (
    r"(?:out|tmp|temp|cache|log|report|result|dest|target|dir|cov|trace|dump|save|store|state|scratch|work|data|db|sock|pid"
    r"|body|message|input|archive|backup|screenshot|video|artifact|junit|html|csv|json|xml|(?<!pro)file)"
)
# Files that hold code or a package. An option that names one elsewhere loads it, whatever the option is called.
_CODE_FILE = (
    r"\.(?:jar|so|dylib|dll|jsa?|[cm]js|ts|py[cz]?|rb|pl|pm|php|lua|sh|ps1|cmake|mk|gradle|kts|whl|gem|deb|rpm|vsix|tgz|crx|nse"
    r"|wasm|ini|cfg|cnf|rc|specs)\b"
)
_SCRATCH = r"[\"']?(?:/tmp|/var/tmp|/private/tmp|/dev/shm|\$\{?TMPDIR\}?|%(?:TEMP|TMP)%|(?:~|\$\{?HOME\}?)(?=/\.))[/\\]"
_RUNS = r"(?:source|exec|(?:ba|da|z|k|fi)?sh|python[\d.]*|node|bun|deno\s+run|ruby|perl|php|lua|Rscript|pwsh|tclsh)"
_PACKAGES = "npm|pnpm|yarn|bun|pip3?|uv|poetry|pdm|conda|bundle|gem|cargo|go|composer|nuget|helm|brew|apt|cpan|docker"
_REDIRECTS: tuple[tuple[str, LazyRegex], ...] = tuple(
    (why, LazyRegex(rf"(?m){pattern}"))
    for why, pattern in (
        ("it sets a variable that redirects programs", rf"(?:^|[\s;&|(`'\"])(?:export\s+)?{_VARIABLES}="),
        ("it sets a variable that redirects programs", rf"\b(?:setenv|set -gx|set -x|export)\s+{_VARIABLES}\b"),
        (
            "it adds options that load something",
            (
                r"(?:^|[\s;&|(`'\"])[A-Z_]*(?:OPTS|OPTIONS|FLAGS|ARGS)=[\"'][^\"'\n]*(?:-p\s+(?!no:)|--(?:plugins?|eval|require|import"
                r"|rootdir|config\S*|load\S*)[=\s]|-javaagent)"
            ),
        ),
        (
            # Compilers, wrappers and runners usually come from the project or the system.
            "it names a program from outside the project",
            (
                r"(?:^|[\s;&|(`'\"]|-D)(?:HOST)?(?:CC|CXX|CPP|LD|AR|AS|NM|FC|LEX|YACC|RUSTC|MAKE|PYTHON|NODE|RUBY|JAVA|[A-Z_]+_(?:WRAPPER"
                r"|COMPILER|LAUNCHER|COMMAND|CMD|BIN|EXE|RUNNER|PROGRAM|TOOL))=(?:[\"'][^\"'\n]*\s)?[\"']?(?:~|\$HOME|\.\./|/(?!usr/|opt/|bin/|nix/))"
            ),
        ),
        (
            "it starts another program by an option",
            (
                r"\s-{1,2}toolexec(?:[=\s]|$)|\bgo\s+(?:test|run)\b[^;&|\n]*\s-exec\b|\bg?make\b[^;&|\n]*\s(?:--eval|-E)\b"
                r"|\bgradlew?\b[^;&|\n]*\s(?:-I|--init-script)\b|\bcargo\b[^;&|\n]*\s--config[=\s]\s*[\"']?(?!(?:net|term|profile)\.)|"
                r"\s--(?:checkpoint-action|to-command|use-compress-program|compress-program|rsh|rsync-path|unzip-command"
                r"|info-script|new-volume-script|split-filter|post-renderer|run[-_]under)(?:[=\s]|$)|\bg?sed\b[^\n]*?[\"']s([/|#,@!])(?:(?!\1).)*\1(?:(?!\1).)*\1[gIp0-9]*e[gIpw0-9]*[\"';]"
                r"|\s--(?:import|loader|experimental-loader|require)[=\s][\"']?(?:data|https?):|\b(?:split\b[^;&|\n]*\s--filter|tar\b[^;&|\n]*\s-I)\b"
            ),
        ),
        (
            "it changes git's configuration, remotes or hooks",
            (
                r"\bgit\b[^;&|\n]*\s(?:config\s(?!(?:--\S+\s+)*(?:--get\S*|-l\b|--list|get\b|list\b))"
                r"|remote\s+(?:add|set-\w+|rename|remove|rm)\b|submodule\s+(?:add|set-url)\b|--config-env|--exec-path"
                r"|--upload-pack|--receive-pack)|\bgit(?:\s+-\S+(?:\s+[^-\s]\S*)?)*?\s+-c\s+"
                # These change only what is printed.
                r"(?![\"']?(?:core\.quote[pP]ath=(?:false|off|true)|core\.pager=cat[\"'\s]|(?:color|advice|column|log)\.[\w.]+=\w+))"
            ),
        ),
        (
            "it installs something that runs later",
            (
                r"(?i)\.git/hooks|hookspath|\.husky|\bhusky\b|\bpre-commit\s+(?:un)?(?:install|init-templatedir)"
                r"|\blefthook\s+install|\.envrc|\bdirenv\s+allow|\bcrontab\b(?!\s+-l\b)|\bat\s+-f|\bsystemd-run\b"
                r"|\b(?:systemctl|launchctl)\b(?!(?:\s+--\S+)*\s+(?:status|show|cat|is-\w+|list\S*|print)\b)|\bschtasks\b(?!\s+/query)"
            ),
        ),
        (
            "it hands a home or the whole machine to a container",
            (
                r"\b(?:docker|podman|nerdctl)\b[^;&|\n]*\s(?:-v|--volume|--mount)[=\s]\s*[\"']?(?:[^\s:]*(?:src|source)=)?"
                r"(?:~|\$\{?HOME\}?|/)/?[\"']?[:,]|docker\.sock\b"
            ),
        ),
        (
            "it changes what the build runs",
            r"\b(?:npm|pnpm|yarn|bun)\s+(?:pkg\s+(?:set|delete|fix)|set-script)\b",
        ),
        (
            "it changes where packages come from",
            (
                rf"\b(?:{_PACKAGES})(?:\s+-\S+)*\s+(?:config\b(?!\s+(?:get|list|ls)\b)|env\s+-w|sources?\b|repo\s+add|tap\b|mirror\b|login\b|adduser\b"
                r"|set\s+registry)"
            ),
        ),
        (
            "it changes where packages or answers come from",
            (
                r"\s--?(?:registry|index-url|extra-index-url|default-index|index|find-links|trusted-host|proxy|socks5\S*"
                r"|endpoint\S*|base-url|api-url|server|kubeconfig|repository|repo-url|git|require|import-map|preload"
                r"|init-command|(?:rcfile|init-file)(?![=\s][\"']?(?![/~$]|\.\.)\w)|cert|cacert|insecure|no-verify-ssl|resolve|connect-to|allow-scripts)"
                r"(?:[=\s]|$)|\s-[ifx]\s+\S*://"
            ),
        ),
        (
            # A name that is one letter off is another package. What the project needs is in its manifest.
            "it installs a package by its name",
            (
                r"\b(?:(?:pip3?|conda|mamba|brew|apt(?:-get)?|gem|cargo|go)\s+(?:install|get)|(?:npm|pnpm|bun)\s+(?:install|i|add)"
                r"|(?:yarn|uv|poetry|pdm)\s+add)\s+(?![^;&|\n]*(?:-r|-e|-c|-C|-w|--(?:requirements?|editable|constraint|path|file"
                r"|prefix|workspace|filter|dir|cwd))\b)(?:-\S+\s+)*[\"']?[A-Za-z@]"
            ),
        ),
        (
            # Without a question, so it is none of the project's own.
            "it downloads a program by its name",
            r"\bnpx\s+(?:-\S+\s+)*(?:-y|--yes)\s|\b(?:pnpm|yarn)\s+dlx\s|\bgh\s+extension\s+install\b",
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
        ("it writes blanks so that no one sees them", r"\$\{?IFS\b"),
        (
            "it hands secrets to a program",
            (
                r"(?:\$\(|`)\s*(?:cat|head|tail|e?grep|base64|xxd|od|sed|awk|cut|<)\s*[^)`\n]*(?:(?<![\w])[\w.-]*\.(?:env|pem|key|p12|pfx|keystore)|id_(?:rsa|ed25519))\b(?!\.)[^)`\n]*[)`]"
                r"|/proc/(?:self|\d+)/environ|\*\.(?:pem|key|p12|pfx)\b[^;&|\n]*-exec\s+(?:cp|mv|cat|tar|curl)\b"
                r"|(?:^|[;&|(]\s*)(?:env|printenv|export\s+-p)\s*(?:\|[^;&\n]*)?(?:>\s*[^&\s/]|\|\s*tee\s)"
                r"|(?:^|[;&|(]\s*)(?:printenv|env|history|set)\b[^;&\n]*\|\s*e?grep\b[^;&\n]*(?i:token|secret|passw|api_?key|cred)"
                r"|\b(?:echo|printf)\b[^;&|\n]*\$\{?\w*(?:SECRET|TOKEN|PASSWORD|API_?KEY|CREDENTIAL)\w*"
                r"|(?:^|[;&|(]\s*)(?:xxd|base64|od|strings|hexdump)\s[^;&|\n]*\.(?:env|pem|key)\b"
                r"|\.env\b[^;&\n|]*\|\s*(?:logger|nc|curl|mail|ssh|wget|ncat|socat)\b"
            ),
        ),
        (
            "it sends data elsewhere",
            r"(?i)\bcopy\b[^;\n]*\bto\s+'(?:s3|gs|gcs|az|abfss?|https?)://",
        ),
        (
            "it turns a check off",
            rf"(?:^|[\s;&|(`'\"])(?:export\s+)?{_UNCHECKED}=|\s--no-gpg-sign\b|(?i:[\w.-]*insecure[\w.-]*=[\"']?(?:true|1|yes|on)\b)",
        ),
        # Such a call always succeeds, so its success proves nothing.
        (
            "it hides whether it worked",
            (
                r"\|\|\s*(?:true\b|:(?=\s|;|$)|exit\s+0\b|echo\b|printf\b)|;\s*(?:true|:|exit\s+0)\s*$"
                r"|(?:\A|(?:;|&&)\s*)!\s+(?!(?:e?grep|rg|test|\[|git|command|which|diff|cmp|find|ls|type)\b)[\w./-]+\s+[\w./-]"
                r"|/dev/null(?:\s+2>&1)?\s*(?:;|&&)\s*(?:echo|printf)\b|\bset\s+\+e\b|\bg?make\b[^;&|\n]*\s-[a-zA-Z]*i\b"
                r"|\s--(?:ignore-errors|passWithNoTests|fail-never|no-fail)(?=[=\s]|$)|\s-D(?:skipTests|maven\.test\.\S+)"
                # It leaves out what failed, or makes what is expected from what the code does.
                r"|\s--(?:deselect|allowOnly|update-?snapshots?|snapshot-update|update-golden\S*)(?=[=\s]|$)"
                r"|\b(?:jest|vitest|ava|playwright\s+test)\b[^;&|\n]*\s-u\b"
            ),
        ),
        # An edit that repaired the code then would be made blindly now, and it may have changed the test instead.
        ("it edits files in place", r"\b(?:g?sed|perl|ruby)\b[^;&|\n]*\s(?:-[a-zA-Z]*i\b|-i\S|--in-place)"),
        (
            "it holds code for a template",
            r"\.__(?!(?:version|name|file|doc|all)__)[a-z]+__\b|\{[{%][^{}]*\([^{}]*[}%]\}",
        ),
        (
            "it opens code as if it were a page",
            (
                r"(?i)(?:\A|\b(?:open|start|chrome|firefox)\s+[\"']?)\s*(?:javascript:|vbscript:"
                r"|data:(?:text|application)/[\w+-]*(?:html|script|svg))"
            ),
        ),
        (
            # Code of languages that nothing here reads.
            "it starts a program from code",
            (
                r"\b(?:System\.(?:cmd|shell)|:?os[.:](?:cmd|execute)|io\.popen|e?syscmd|shell-command|call-process|xp_cmdshell"
                r"|load_extension|sys\.process)\b|\b(?:system|exec|qx)\s*\(?\s*[\"']?\$_|\bloads?\(\s*(?:bytes|base64|codecs|zlib|marshal)\b|[\"']\s*\.(?:execute\(|!)|\\write18|-shell-escape\b"
            ),
        ),
        (
            # What is called like a check then does something else.
            "it replaces a program",
            (
                r"\b(?:cp|mv|ln|install)\s[^;&|\n]*(?:\s[\"']?(?:/usr)?/bin/(?:true|false|echo)\s|\s[\"']?[^\s;&|]*"
                r"(?:node_modules/\.bin|venv/(?:bin|Scripts)|vendor/bin)/[\w.-]*[\"']?\s*(?:$|[;&|]))"
            ),
        ),
        (
            "it writes outside the project",
            (
                r"(?:^|[\s\d&;|])>{1,2}\s*[\"']?(?:/(?!dev/(?:null|stdout|stderr|tty)\b|tmp/|private/tmp/)|~|\$HOME)"
                r"|\b(?:cp|mv|ln|install)\s[^;&|\n]*\s[\"']?(?:~|\$HOME)/(?:\.\S+/)?s?bin/\S*"
            ),
        ),
    )
)
_NAMES_ELSEWHERE = LazyRegex(
    r"(?i)tmp|temp%|~|\$\{?HOME|/dev/shm|/run/user|userprofile|-agent|javaagent|bootclasspath|auto_"
)
# Files that no checkout holds, run or loaded by a command; a tool that reads or writes such a file does neither.
_RUN_ELSEWHERE = (
    (
        "it runs a file from outside the project",
        LazyRegex(
            rf"(?m)(?:^|[\s;&|(`'\"!={{]){_RUNS}\s+(?:-[\w-]+\s+)*{_ELSEWHERE}"
            rf"|\b(?:run_path|CDLL|dlopen|dofile|execfile|require|import)\s*\(\s*{_SCRATCH}|\bansible-playbook\s[^;&|\n]*\s{_SCRATCH}"
            r"|(?:^|(?:[;&|]|\b(?:sudo|nohup|time|nice|stdbuf|setsid|exec|env|script|command|timeout)(?:\s+-\S+)*(?:\s+\d\w*)?)"
            r"\s+)[\"']?(?:(?:/tmp|/var/tmp|/private/tmp|/dev/shm)/\S|(?:~|\$HOME)/\.(?!\S*/bin/)\S)"
            rf"|\bcd\s+{_SCRATCH}\S*\s*(?:&&|;)\s*(?:\./\w|{_RUNS}\s+[\w./])"
        ),
    ),
    (
        "it installs a package from outside the project",
        LazyRegex(
            rf"(?m)(?:^|[\s;&|(])(?:{_PACKAGES}|dpkg|rpm|dnf|yum|apk|pacman|snap|flatpak|pipx|mix|luarocks|cpanm|code|cursor|apt-get|pod)"
            r"\s[^;&|\n]*?(?<![\w-])(?:install|i|add|link|use|-[iUe]|--install\S*|localinstall)\s(?:[^;&|\n]*\s)?"
            r"(?<!--target )(?<!--prefix )(?<!--root )(?<!--dir )(?<!--cache-dir )(?<!-t )(?<!-d )(?<!-C )"
            rf"(?:file:)?(?:{_SCRATCH}|(?:~|\$HOME)/Downloads/)"
        ),
    ),
    (
        "it loads code or settings from outside the project",
        LazyRegex(
            rf"(?im)(?:^|[\s\"'(])(?:--?[\w.:-]*{_LOADING}[\w.:-]*(?:=|\s+)|\w*{_LOADING}\w*=){_ELSEWHERE}"
            r"|\b(?:mvnw?|gradlew?|node|ruby|perl|php|pytest|eslint|jest|vitest|webpack|vite|mocha|g?make|ansible-playbook"
            r"|psql|docker(?:-compose|\s+compose|\s+build)?|podman|vim?|emacs|man|gdb|redis-cli|cmake|ninja)\b[^;&|\n]*\s"
            rf"-(?:[Irspcftux]|gs|im|[lPC](?=\s*{_SCRATCH}))\s*{_ELSEWHERE}|(?:^|[\s\"'=])-(?:javaagent|agentpath|agentlib):"
            # What is behind these letters is read as code or settings by every program that does not just show or copy.
            r"|(?:^|[;&|(]\s*)(?!(?:tail|head|rm|e?grep|rg|tar|test|ls|ln|cp|mv|git|cut|wc|stat|du|ps|mkdir|diff|touch|cat|jq|sort|sha\w+"
            r"|md5\w*|chmod|find|tee|file|xxd|unzip|zip|gzip|nl|sed|awk|less|echo|printf|ssh|scp|rsync|kill|sqlite3|rmdir|install|cmp|bat|tree|while|until|if|elif|open)\b)"
            rf"(?-i:[\w./-]+\s(?:[^;&|\n\"'{{}}]*\s)?-(?:[cflrIxKzM]|cp|classpath)\s+{_SCRATCH})"
            rf"|(?:^|[\s\"'(])--?(?![\w.:/-]*{_KEEPING})[a-z][\w.:/-]{{2,}}[=:]{_SCRATCH}"
            rf"|\b(?:apply|fsi|script|provision|execute)\s+{_SCRATCH}\S|\bpacker\s+\w+\s+{_SCRATCH}|\s/[a-zA-Z]\w*[:=][^\s;&|]*?(?<=[:=]){_SCRATCH}"
            r"|\b(?:npm|pnpm|yarn|bun|g?make|cargo|uv|poetry|just|task|mage|act)\b[^;&|\n]*\s(?:--prefix|-[CdW]|--cwd|--dir(?:ectory)?|--project"
            rf"|--manifest-path)[=\s]{_SCRATCH}"
            # `--override_repository=rules=/tmp/x` puts something in the place of what it names.
            rf"|\s--?[\w.-]*(?:override|replace|subst|overlay|patch|include)[\w.-]*[=\s][\w.@/-]*=?{_SCRATCH}"
            rf"|\s--?(?!o|[\w.-]*(?:out|report|log|dest))(?:[a-zA-Z][\w.:-]*=|-[\w-]+\s+){_SCRATCH}[^\s;&|\"']*{_CODE_FILE}"
            rf"|\s--(?![\w-]*{_KEEPING})[a-z][\w-]+(?<!--files)\s+{_SCRATCH}"
            rf"|(?-i:(?:^|[;&|(]\s*)(?!\w*(?i:{_KEEPING_VARIABLE}))[A-Z_]{{3,}}={_SCRATCH}[^\s;&|]*[\"']?[ \t]+[\w./])"
            rf"|[A-Z_]*(?:GEM|MAKE)FILES?={_SCRATCH}|\s-d\s+auto_\w+=|\blinker={_SCRATCH}|-Xbootclasspath|\s-O{_SCRATCH}"
        ),
    ),
)
# What a command builds itself is the project's, wherever it lies.
_BUILT = LazyRegex(r"\b(?:go\s+(?:build|test)|gcc|g\+\+|cc|clang(?:\+\+)?|rustc|swiftc)\b[^;&|\n]*\s-o[= ]?(/\S+)")
# Settings of shells, ssh and agents. Reading such a file is fine; a shell command that names one may change it.
_SETTINGS = LazyRegex(
    r"\.(?:bashrc|zshrc|profile|bash_profile|zprofile|npmrc|yarnrc\S*|pypirc|netrc|gitconfig|curlrc|wgetrc)\b"
    r"|(?<![\w.])\.(?:ssh|gnupg|aws|kube|docker)(?=[/\s\"':]|$)|\.config/|/etc/|\.claude/|\.codex/|\.gemini/|\.hermes/|\.seasoned"
    r"|pip\.conf\b|\.pth\b|sitecustomize|authorized_keys|known_hosts"
    r"|\b(?:AGENTS|CLAUDE|GEMINI|SKILL|MEMORY)\.md\b|\.cursor|\.windsurf|copilot-instructions|\.mcp\.json|\.vscode/"
    r"|\.(?:zshenv|zlogin|vimrc|inputrc|tmux\.conf)\b|(?:>\s*|(?:^|[;&|(]\s*)(?:tee|cp|mv|rsync|install|ln|tar|unzip)\s(?:[^;&|\n]*\s)?)[\"']?"
    r"[^\s;&|]*\.(?:github|circleci|gitlab-ci|agents|aider|clinerules|roo|continue|goose|junie|kiro|opencode|qwen|amazonq|trae)\b"
)

_PAGE_CODE = LazyRegex(r"(?i)<[a-z][^<>]*\son[a-z]{3,}\s*=|<script\b|\bdocument\.cookie\b")
# Files that decide what runs for everyone, and who must agree.
_CONTROLS = LazyRegex(
    r"(?m)(?:\A|^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ ))(?:\S*/)?"
    r"(?:\.github/(?!ISSUE_TEMPLATE|PULL_REQUEST_TEMPLATE)|\.circleci/|\.buildkite/|\.gitlab-ci|azure-pipelines|bitbucket-pipelines|Jenkinsfile|CODEOWNERS|\.pre-commit-config|lefthook\.)\S*$"
    r"|\"(?:pre|post)?(?:install|prepare|pack|publish)\"\s*:"
)


_URL = LazyRegex(r"(?i)\b([a-z][a-z0-9+.-]{1,30})://([^\s\"'`<>|;)\]}]+)")
_SCP = LazyRegex(r"(?<![\w/@.-])[\w.-]{1,40}@([\w-]+(?:\.[\w-]+)+)(?::([\w./~-]*))?")
_IMAGE = LazyRegex(r"(?:^|[\s\"'=])((?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/[\w./-]+(?:[:@][\w.-]+)?)(?=[\s\"']|$)")
# Programs that take hosts as plain arguments.
_CLIENTS = LazyRegex(
    r"(?:^|[;&|(]\s*|\b(?:sudo|time|do|then|else|exec|nohup|xargs)\s+)(?:ssh|scp|sftp|rsync|telnet|nc|ncat|netcat|socat|ping6?|dig|host|nslookup|whois"
    r"|traceroute|mtr|nmap|curl|wget|http|https|xh|ftp|lftp|aria2c|openssl\s+s_client|drill|kdig|mosh|websocat|grpcurl|kcat|kafkacat|nats|mosquitto_(?:pub|sub))\s"
    r"([^;&|\n]*)"
)
_HOST_OPTION = LazyRegex(
    r"\s(?:-h|--host|--hostname|--server|-H|--address|--url|--broker|--bootstrap-server)[=\s]\s?[\"']?([\w.-]+)"
)
# `GH_HOST=…`: the address is the whole value.
_HOST_VARIABLE = LazyRegex(
    r"(?:^|[\s;&|(`'\"])\w*(?:HOST|HOSTNAME|SERVER|ADDR|ADDRESS|URL|URI|ENDPOINT|BROKERS?|DOMAIN)=[\"']?"
    r"((?:[\w-]+\.)+[a-z]{2,24})(?=[:/\s\"']|$)"
)
# A name server is asked for what another command prints: `host $(whoami).x.example`.
_ASKED_NAME = LazyRegex(
    r"\b(?:dig|host|nslookup|drill|kdig|ping6?|getent|resolvectl)\s[^;\n]*(?:\$\([^()\n]*\)|`[^`\n]*`)"
    r"\.((?:[\w-]+\.)+[a-z]{2,24})\b"
)
# A repository by its short name, as package managers take it.
_FORGE = LazyRegex(r"(?<![\w./-])(github|gitlab|bitbucket|gist):([\w.-]+(?:/[\w.-]+)?)")
# An address without its scheme, as pages name what they load.
_SCHEMELESS = LazyRegex(
    r"(?i)(?:\b(?:src|href|action|url|import)\s*[=(:]?\s*[\"']?|\(\s*[\"'])//((?:[\w-]+\.)+[a-z]{2,24})\b"
)
_VARIABLE = LazyRegex(r"\$?\{[^{}]*\}|\$\w+")
_PRIVATE_ENDINGS = (".local", ".internal", ".localdomain", ".localhost")
_DOMAIN = LazyRegex(r"(?:[a-z0-9_$(){}-]+\.)+[a-z]{2,24}\.?\Z", re.IGNORECASE)
# A text that is only a host. Endings that files also have (`py`, `sh`, `md`) are left out.
_HOST = LazyRegex(
    r"(?i)\s*(?:[a-z0-9_-]+\.)+(?:com|net|org|io|dev|app|co|info|biz|xyz|online|site|top|cloud|ai|click|link|live|store|tech"
    r"|icu|example|invalid|onion|su|cn|ru|de|fr|uk|nl|eu|us|in|br|jp|kr|it|es|ch|at|ca|au|me|tv|cc|tk|pw)\.?(?::\d+)?(?:/\S*)?\s*\Z"
    r"|\s*(?:[a-z0-9_-]+\.)+[a-z]{2,24}:\d{2,5}(?:/\S*)?\s*\Z"
)
# The same with a port, among the words of a command.
_HOST_PORT = LazyRegex(
    r"(?<![\w./@:-])((?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|co|info|xyz|online|site|top|cloud|ai|example|onion)):\d{2,5}\b"
)
# A text that is only an address, as an argument of a tool.
_IP = LazyRegex(
    r"(?i)\s*(?:\[[0-9a-f:]{3,}\]|[0-9a-f]{1,4}:[0-9a-f:]*::[0-9a-f:]*|(?:\d{1,3}\.){3}\d{1,3})(?::\d+)?\s*\Z"
)
_ADDRESS = LazyRegex(r"\d{1,3}(?:\.\d{1,3}){3}\Z|\[?[0-9a-f:]*:[0-9a-f:]+\]?\Z")
_LOCAL = ("localhost", "host.docker.internal", "0.0.0.0", "::1", "[::1]")
# Documentation hosts, from which placeholders are made. Their subdomains, `.test` and `.example` do not count: a name
# server or a hosts file may resolve them.
_RESERVED = ("example.com", "example.org", "example.net", "www.example.com")
_HERE = ("file", "unix", "sqlite", "data")


def admit_call(tool: str, arguments: Mapping[str, Any], *, project: str = "") -> Admission:
    """Whether a call that worked may be shown to another session of this project (its key; empty for none)."""
    why = _unfit(tool, arguments) or _redirects(tool, arguments) or _foreign(tool, arguments, project)
    return Admission(why)


def _unfit(tool: str, arguments: Mapping[str, Any]) -> str | None:
    """Why a call cannot be shown anywhere: it is incomplete, dangerous, or carries orders."""
    texts = list(texts_in(arguments))
    if any(map(hidden_character, texts)):
        return "it contains an invisible character"
    if any(mark in text for text in texts for mark in _INCOMPLETE):
        return "a part of it was redacted or cut"
    if any(_MIXED.compiled.search(text) for text in texts if not text.isascii()):
        return "it mixes letters of alphabets that look alike"
    if any(_SPELLED.compiled.search(text) or _DECORATED.compiled.search(text) for text in texts):
        return "it spells something with other signs than letters"
    if any(map(encodes_text, texts)) and tool_of(tool).form not in ("file_read", "file_write", "search"):
        return "it encodes a text"
    if not is_named_plainly(tool, is_tool=True):
        return "the name of its tool is not plain"
    names = list(_names(arguments))
    if not all(map(is_named_plainly, names)):
        return "the name of an argument is not plain"
    command = command_of(ToolCall("", tool, dict(arguments)))
    if command is not None and tells_in_command(command):
        return "it contains a sentence besides what it runs"
    if holds_injection(dict(arguments)) or is_injection(" ".join(map(words_in, names))):
        return "it gives orders to its reader"
    found = why_not_example(tool, arguments)
    return None if found is None else f"it {found.why}"


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
    form = tool_of(tool).form
    only_reads = form in ("file_read", "search")
    for text in map(_without_built, texts_in(arguments)):
        # The path of a file that is written runs nothing; what is written into it may.
        runs = not only_reads and (form != "file_write" or any(sign in text for sign in " \n"))
        # Most texts name no such folder, and the rules about them are the slowest.
        runs = runs and _NAMES_ELSEWHERE.compiled.search(text) is not None
        for why, pattern in (*_REDIRECTS, *_RUN_ELSEWHERE) if runs else _REDIRECTS:
            if pattern.compiled.search(text):
                return why
        if not only_reads and _SETTINGS.compiled.search(text):
            return "it names settings of a shell, of ssh or of an agent"
        if form == "api" and _PAGE_CODE.compiled.search(text):
            return "it holds code for a page"
        if form == "file_write" and _CONTROLS.compiled.search(text):
            return "it changes what is built or who reviews"
    return None


def _without_built(text: str) -> str:
    """The text with programs that it builds itself as if they were in the project: `go build -o /tmp/x && /tmp/x`."""
    for built in _BUILT.compiled.findall(text) if "/tmp/" in text else ():
        text = text.replace(built, "./built")
    return text


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
    """The hosts in a text, each with its path."""
    for url in _URL.compiled.finditer(text):
        if url[1].lower() not in _HERE:
            yield _place(url[0])
    for found in _SCP.compiled.finditer(text):
        yield f"{found[1]}/{(found[2] or '').lstrip('/~')}".lower()
    for found in _IMAGE.compiled.finditer(text):
        yield found[1].lower()
    for found in _SCHEMELESS.compiled.finditer(text):
        yield found[1].lower()
    if tool_of(tool).form != "shell":
        # Arguments of file and search tools are full of words with dots.
        if tool_of(tool).form == "api" and (_HOST.compiled.match(text) or _IP.compiled.match(text)):
            yield text.strip().lower()
        return
    for pattern in (_HOST_OPTION, _HOST_VARIABLE, _HOST_PORT, _ASKED_NAME):
        yield from (found[1].lower() for found in pattern.compiled.finditer(text))
    for found in _FORGE.compiled.finditer(text):
        yield f"{found[1]}.{'org' if found[1] == 'bitbucket' else 'com'}/{found[2]}".lower()
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
    """Whether a host is this machine, a name without a domain (a neighbouring service), or the project's own."""
    host = place.partition("/")[0].partition(":")[0] if not place.startswith(("[", ":")) else place
    if not host or host in _LOCAL or host.startswith("127.") or host.endswith(".localhost") or host in _RESERVED:
        return True
    # An IP address written as one number.
    if host.isdigit() or host.startswith("0x"):
        return False
    if "$(" in host or "`" in host:
        return False
    # A variable names a host of the machine that runs the command, unless a domain stands behind it.
    fixed = _VARIABLE.compiled.sub("", host)
    if fixed != host and "." in fixed.strip(".") and not fixed.endswith(_PRIVATE_ENDINGS):
        return False
    if "$" in host or "{" in host or ("." not in host and ":" not in host):
        return True
    # Many projects share a forge: only the project's own repository there is its own.
    return bool(own) and (place.removesuffix(".git") + "/").startswith(own + "/")


def admit_path(path: str) -> bool:
    """Whether the path of a file may be shown: anyone can put a sentence into the name of a file."""
    is_plain = path.isprintable() and not any(mark in path for mark in _INCOMPLETE)
    return is_plain and not is_injection(path) and not is_injection(words_in(path))


@lru_cache(maxsize=4096)
def admit_written(tool: str, text: str, project: str = "") -> bool:
    """Whether a stored call may be shown: the command of a shell, or the JSON of its arguments."""
    given: dict[str, Any] = {"command": text} if tool == "shell" else msgspec.json.decode(text)
    return bool(admit_call("Bash" if tool == "shell" else tool, given, project=project))
