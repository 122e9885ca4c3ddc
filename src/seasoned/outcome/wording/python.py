"""How Python and other interpreters speak when a program ends with an exception."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

_NAME = (
    r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failed|NotFound|Timeout|Iteration"
    r"|Group|DoesNotExist|NotExist)"
)

INTERPRETER = WordingRules(
    WordingRule(
        "traceback at the end",
        # At most five lines may follow: a program that caught and logged the exception goes on talking.
        "tail",
        rf"Traceback \(most recent call last\):\n(?:[ \t|+].*\n|\n)*[ \t|]*{_NAME}(?::.*)?(?:\n.*){{0,5}}\Z",
        "The program ended with an exception.",
        (
            'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: bad',
            'Traceback (most recent call last):\n  File "a", line 1\nmodule.SomeError: x\nmore detail',
        ),
        ("No errors", "Traceback (most recent call last):\n  File x\nValueError: x\n1\n2\n3\n4\n5\n6\n7"),
        needle="Traceback (most recent call last)",
    ),
    WordingRule(
        "exception on the last line",
        # `| tail` leaves the end of a traceback.
        "tail",
        rf"^{_NAME}: \S[^\n]*\Z",
        "The program ended with an exception.",
        (
            '    return io.open(self, mode)\nFileNotFoundError: [Errno 2] No such file or directory: "x"',
            "requests.exceptions.ConnectionError: refused",
        ),
        ("ValueError: x\nwent on", "see ValueError: x", "DeprecationWarning: old"),
        needle=("Error: ", "Exception: ", "Exit: ", "NotFound: ", "Failed: ", "Timeout: ", "Exist: "),
    ),
    WordingRule(
        "traceback of a notebook",
        "tail",
        rf"Traceback \(most recent call last\)\n[\s\S]*\n{_NAME}(?::.*)?(?:\n.*){{0,3}}\Z",
        "The cell ended with an exception.",
        ("ValueError     Traceback (most recent call last)\nCell In[1], line 1\n----> 1 f()\n\nValueError: x",),
        ("a Traceback (most recent call last) is shown",),
        needle="Traceback (most recent call last)",
    ),
    WordingRule(
        "uncaught in the main program",
        # A frame `in <module>` that comes first shows that nothing caught it, wherever stdout then ends up.
        "line",
        r"^Traceback \(most recent call last\):\n(?:  File \"<frozen runpy>\".*\n)*"
        r"  File \"[^\"\n]+\", line \d+, in <module>$",
        "The program ended with an exception.",
        (
            'Traceback (most recent call last):\n  File "x.py", line 385, in <module>\n    main()\nValueError: '
            "x\nstdout follows\n" + "line\n" * 9,
        ),
        (
            'Traceback (most recent call last):\n  File "x.py", line 3, in work\n    g()\nValueError: x\nwent on\n'
            + "line\n" * 9,
        ),
        needle="Traceback (most recent call last)",
    ),
    WordingRule(
        "syntax error",
        "end",
        r"^[ \t]*(?:SyntaxError|IndentationError|TabError): ",
        "The program could not be parsed.",
        ('  File "<string>", line 1\n    x =\n      ^\nSyntaxError: invalid syntax',),
        ("a SyntaxError happened",),
        needle=("SyntaxError", "IndentationError", "TabError"),
    ),
    WordingRule(
        "no such module or script",
        # The interpreter says this before it runs anything, or last when a wrapper printed first.
        "edge",
        r"^(?:\S*python[\d.]*: (?:can't open file|No module named|Error while finding module)|/\S+: No module named "
        r"|Error: Cannot find module|node:internal/modules"
        r"|\S*ruby: No such file|Can't open perl script|Error: Could not find or load main class)",
        "The script or module does not exist.",
        (
            "python: can't open file '/a/x.py': [Errno 2] No such file or directory",
            "/usr/bin/python3: No module named pytest",
            "node:internal/modules/cjs/loader:1143\n  throw err;",
        ),
        ("No module named x was used",),
        needle=(
            "ython",
            "No module named",
            "Cannot find module",
            "node:internal",
            "ruby:",
            "perl script",
            "main class",
        ),
    ),
    WordingRule(
        "uncaught in node",
        "end",
        r"^(?:Uncaught (?:\w+)|Node\.js v\d+|error: Uncaught |Bun v[\d.]+ \()",
        "The program ended with an uncaught error.",
        ("/a/x.js:3\n    throw new Error('x')\n\nError: x\n    at f (x.js:3)\n\nNode.js v20.1.0",),
        ("node v20",),
        needle=("Uncaught", "Node.js v", "Bun v"),
    ),
    WordingRule(
        "ends in a stack trace",
        # Only frames up to the very end: a program that caught the error and went on says something after them.
        "tail",
        r"(?:^[ \t]+at [^\n]+(?:\n|\Z)){2,}(?:[ \t]*\{?[^\n]{0,80}\}?\s*)?\Z|^\S+\.rb:\d+:in [^\n]*\(\w+\)$",
        "The program ended with an exception.",
        (
            "Error: boom\n    at f (x.js:3:1)\n    at main (x.js:9:1)\n",
            "Exception: boom\n\tat a.b.C.f(C.java:3)\n\tat a.b.C.main(C.java:9)",
            "x.rb:1:in 'f': undefined local variable (NameError)",
        ),
        ("  at home (x)\nfine", "Error: boom\n    at f (x.js:3:1)\n    at g (x.js:4:1)\nretrying\ndone"),
        needle=(" at ", "\tat ", ".rb:"),
    ),
    WordingRule(
        "panic",
        # Go prints the panic first and the goroutines after it; Rust and the shell print it last.
        "edge",
        r"^(?:panic: |thread '[^']*' (?:\(\d+\) )?panicked at |fatal error: (?:all goroutines|runtime)"
        r"|Exception in thread \"|Unhandled exception\b|Segmentation fault|Aborted \(core dumped\)|Killed$"
        r"|Terminated$|Bus error"
        r"|Illegal instruction|zsh: (?:killed|segmentation fault|abort)|runtime error: )",
        "The program crashed.",
        (
            "panic: runtime error: index out of range",
            "thread 'main' panicked at src/main.rs:2:5:",
            "Segmentation fault (core dumped)",
        ),
        ("don't panic: it is fine", "  panic: x"),
        needle=(
            "panic",
            "fatal error",
            "xception",
            "fault",
            "Aborted",
            "Killed",
            "Terminated",
            "Bus error",
            "Illegal",
            "killed",
            "abort",
            "runtime error",
        ),
    ),
)
