"""How programs refuse in a few words: one line or two, and nothing else."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# "No issues found" is good news, and so is whatever counts zero of something bad.
_GOOD = (
    r"(?!(?:[Nn]o|[Zz]ero|0|[Ff]ound 0|[Nn]othing) (?:[\w-]+ ){0,3}?(?:errors?|issues?|problems?|warnings?"
    r"|vulnerabilit\w+|differences?|diffs?|changes?|failures?|conflicts?|leaks?|violations?|updates?|findings?|diagnostics?|duplicates?"
    r"|regressions?|matches|results|references|to do|to be done|outdated|upgrades?)\b)"
    r"(?![^\n]*\b(?:[Ss]uccess(?:ful|fully)?|[Pp]assed|[Ff]ixed|[Rr]esolved|[Ii]gnoring|[Ss]kipp(?:ed|ing)|[Dd]eprecated"
    r"|[Ww]arning|WARN|(?:\d+ )?[Ww]arnings?|INFO|DEBUG|[Uu]sing)\b|[^\n]*: 0\b)"
)
# What may stand in front: a tag, the program's name, a bullet.
_LEAD = r"(?:\[[^\]\n]{1,40}\] |[\w./@+-]{1,60} ?: |[-*•›»>✗×Xx] |[A-Z]{2,10} {2,}){0,2}"
_NOT = (
    r"not (?:found|a|an|in|authori[sz]ed|authenticated|logged|signed|allowed|permitted|supported|enough|implemented"
    r"|connected|running|installed|configured|enabled|available|initiali[sz]ed|recogni[sz]ed|defined|specified|provided"
    r"|set|valid|match|exist|accessible|trusted|readable|writable|up[- ]to[- ]date|part of)\b"
)

TERSE = WordingRules(
    WordingRule(
        "a line begins with a refusal",
        "short",
        rf"\A\s*[\w./@+-]{{1,60}}: {_GOOD}[Nn]o (?:[\w-]+ ){{1,4}}found"
        rf"|\A\s*{_LEAD}{_GOOD}(?:(?:[Cc]annot|[Cc]an't|[Cc]an not|[Cc]ould not|[Cc]ouldn't|[Uu]nable to|[Ff]ailed to"
        r"|[Ff]ailed with|[Rr]efus(?:ing|ed) to|[Dd]id not|[Dd]oes not|[Mm]ust (?:be|have|specify|provide|set|run))"
        rf" ?\S|[Nn]{_NOT[1:]}|[Nn]o such |[Nn]o (?:[\w.'\"/@-]+ ){{1,5}}(?:available|configured|specified"
        r"|provided|defined|given|exists?|selected|set|installed|registered|running"
        r"|found(?= (?:matching|for|with|named|in|at|on)\b|[.:,;] ?\S))\b"
        r"|(?:[Uu]nknown|[Uu]nrecogni[sz]ed|[Uu]nsupported|[Uu]nexpected|[Ii]nvalid|[Ii]llegal|[Mm]issing|[Mm]alformed"
        r"|[Bb]ad|[Aa]mbiguous|[Cc]onflicting|[Ii]ncompatible|[Dd]uplicate|[Uu]ndefined|[Uu]nresolved|[Uu]nterminated"
        r"|[Ii]nsufficient|[Uu]nauthori[sz]ed) [\"'`<\[(]?[A-Za-z-]"
        r"|[Pp]ermission denied|[Aa]ccess (?:is )?denied|[Oo]peration not permitted|[Ff]orbidden\b"
        r"|[Cc]onnection (?:refused|reset|timed out|closed|error)|[Tt]ime(?:d )?-?out\b|[Aa]bort(?:ed|ing)\b"
        r"|[Aa]uthentication (?:failed|required|error)|[Ll]ogin required|[Tt]oo (?:many|few) |[Rr]equires "
        r"|[Nn]othing (?:matched|found|was \w+)|(?:An? |The )?(?:\w+ )?(?:error|exception) (?:occurred|was|has)\b)",
        "The program refused.",
        (
            "timeout waiting for server on port 8080",
            "can't find tests/x.py",
            "cannot find module 'left-pad'",
            'Invalid search query "x".\nThe search query contains invalid syntax.',
            "- not logged in: run `x login`",
            "no tasks defined in this folder",
            "app: missing DATABASE_URL",
            'no checkpoint or commit found matching "x"',
            "codesign: no identity found",
            " NX   Cannot find project 'app'",
        ),
        (
            "No issues found",
            "No ready work found.",
            "No migrations to apply.",
            "Missing translations: 0",
            "no changes to commit in 3 files",
            "Missing: 0",
            "found 12 files",
            "Unknown options are ignored; all tests passed",
            "no errors found in 3 files",
            "Cannot find x\n" + "many lines of output follow here\n" * 30,
        ),
    ),
    WordingRule(
        "a sentence of refusal",
        "short",
        rf"\A\s*{_LEAD}{_GOOD}(?![\w./-]+:\d+[:-])[\w`'\"@./<(][^\n{{}}|=;→]{{0,200}}?(?:"
        rf"\b(?:is|are|was|were|has|have|been|be|am) (?:{_NOT}|disabled\b|required\b|missing\b|invalid\b|unknown\b"
        r"|unsupported\b|incompatible\b|denied\b|forbidden\b|locked\b|ignored by\b|out of date\b|too (?:old|large|long"
        r"|small|short|new|many)\b|rejected\b|aborted\b|unavailable\b|unreachable\b|refused\b|expired\b|no longer \w+"
        r"|only (?:available|supported|allowed)\b)"
        r"|\b(?:does|do|did|has|have|can|could|is|was|are|were|would|should|must)(?: not|n't)\b|\bcannot\b"
        rf"|\b(?:{_NOT}|no such \w)"
        r"|\bfail(?:ed|s|ure)(?: to | with |:|\.?$)|\btim(?:ed|e) ?out\b|\btimeout (?:waiting|exceeded|of|after)"
        r"|\brequires? (?:login|authentication|auth|root|sudo|admin|at least|an?|the|one|either|exactly)\b"
        r"|\bmust (?:be|have|specify|provide|set|contain|match|start|include|run|not)\b"
        r"|\balready (?:exists|running|in use|defined|taken|registered|checked out)\b"
        r"|\b(?:[Pp]ermission|[Aa]ccess) (?:is )?denied\b|\bunable to\b|\bno longer (?:exists|supported|available)\b"
        # One sentence and perhaps a hint: a text of more lines has more to say than no.
        r"|\bexpected [^\n]{1,80}?(?:but |, )?(?:got|found|received)\b)[^\n]*(?:\n+[^\n]+)?\Z",
        "The program refused.",
        (
            "dispatch requires login — run `x login`",
            "The project is disabled. Run `x enable` to re-enable.",
            "stat /tmp/a/main.go: no such file or directory",
            "branch 'x' already exists",
            "The agent socket is not available",
        ),
        (
            "3 files were changed",
            "All files are up to date",
            "src/a.ts:3: it does not matter",
            "x = is not set",
            "It could not be simpler\nand so on\nand so on",
        ),
    ),
    WordingRule(
        "Windows says no",
        "edge",
        r"^(?:The system cannot find |Access is denied\.|The process cannot access |The filename, directory name, or "
        r"|The syntax of the command is incorrect|File Not Found$|The directory is not empty|Error code: \S+/"
        r"|The network (?:path|name) )",
        "Windows refused.",
        ("The system cannot find the path specified.", "Access is denied.", "Error code: Wsl/Service/E_ACCESSDENIED"),
        ("the system cannot find it, he said", "Error code: 0"),
        fault="none",
        needle=("The ", "Access is denied", "File Not Found", "Error code: "),
    ),
)
