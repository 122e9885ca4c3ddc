"""How tools that read, write and search files speak."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

# What agents put in front of an error; the words behind it are the tool's own.
_OPEN = r"(?:<tool_use_error>)?(?:(?:Error|ERROR|error):\s|Error [a-z]+ing [a-z]+: ?)?"

_DOING = (
    r"[Ee]rror (?:reading|writing|opening|creating|editing|executing|parsing|loading|accessing|searching|applying"
    r"|calling|running|processing|finding|listing|deleting|moving)\b"
)

# Nearly all look at the very start: what follows may be the file, and files are full of such sentences.
FILE_FAILURES = WordingRules(
    WordingRule(
        "patch did not apply",
        "start",
        _OPEN + r"(?:apply_patch (?:verification )?failed|apply_patch handler received|Failed to (?:find expected lines"
        r"|find context|apply|read file to update)"
        r"|[Ii]nvalid (?:patch|hunk)\b|Patch (?:validation|application|failed|does not|could not)|patch (?:failed"
        r"|does not apply|rejected)"
        r"|Hunk #\d+ FAILED|Error applying patch)",
        "The patch did not fit the file.",
        (
            "apply_patch verification failed: Failed to find expected lines in /a/b:\nx",
            "error: Failed to find expected lines in README.md:",
            "error: invalid hunk at line 4, '' is not a valid hunk header.",
            "Patch validation failed (no files were modified)",
        ),
        ("Patched 3 files",),
    ),
    WordingRule(
        "path refused",
        "start",
        _OPEN + r"(?:(?:File )?[Pp]ath must be |Invalid `?path`?\b|(?:File )?[Pp]ath (?:is )?(?:outside|not in"
        r"|not within)"
        r"|No file (?:is )?open\b|The `?\w+`? parameter )",
        "The tool would not take the path.",
        (
            "File path must be absolute, but was relative: x.",
            "ERROR:\nInvalid `path` parameter: /a. The path /a does not exist.",
            "No file open. Use the open command first.",
        ),
        ("Paths must be checked", "No files open"),
    ),
    WordingRule(
        "no such file",
        "start",
        _OPEN + r"(?:(?:File|Path|Directory|Folder|Notebook)(?: path)? (?:does not exist|not found|doesn't exist"
        r"|could not be found)"
        r"|(?:No such (?:file|directory)|ENOENT|ENOTDIR|EISDIR|EACCES|EPERM|EMFILE|ENOSPC|EROFS)\b"
        r"|(?:File|Path|Directory)[: ]['\"`]?[^\n]{1,400}?['\"`]? (?:does not exist|not found|doesn't exist"
        r"|is not a (?:file|directory))"
        r"|The (?:path|file|directory) ['\"`]?[^\n]{1,400}?['\"`]? (?:does not exist|was not found|is not a (?:file"
        r"|directory))"
        r"|Could not (?:find|open|read) (?:file|path)|Cannot (?:open|read|find|access) "
        r"|Failed to (?:read (?!file to update)|open|find (?!expected|context)|access|list|stat)"
        r"|[Uu]nable to (?:locate|read|open|find|access) (?:image|file|path|directory)\b"
        r"|Folder [^\n]{1,300} not found|Ripgrep error|rg: |ripgrep (?:exited|failed))",
        "The path could not be read.",
        (
            "<tool_use_error>File does not exist.</tool_use_error>",
            "Path does not exist: /a/b",
            "ENOENT: no such file or directory, open '/a/b'",
            "EISDIR: illegal operation on a directory, read",
            "File not found: /a/b.txt",
            "The path /a/b.py does not exist. Please provide a valid path.",
            "File src/x.py not found",
            "ERROR: File /a/b does not exist",
            "unable to locate image at `/tmp/x.png`: No such file or directory (os error 2)",
        ),
        ("     1\tENOENT: no such file or directory", "File handling in Go", "Files found: 3"),
    ),
    WordingRule(
        "too large or binary",
        "start",
        _OPEN + r"(?:File content \([\d.,]+ ?\w*\) exceeds|File (?:is )?too large|File content exceeds"
        r"|This tool cannot read binary|Binary file\b.{0,40}cannot|Cannot display content of binary file|(?:File"
        r"|Image|PDF) .{0,200}exceeds maximum)",
        "The file cannot be shown by this tool.",
        (
            "File content (412.5KB) exceeds maximum allowed size (256KB).",
            "File content (28161 tokens) exceeds maximum allowed tokens (25000).",
            "Error: This tool cannot read binary files.",
        ),
        ("File content follows",),
    ),
    WordingRule(
        "text to replace not found",
        "start",
        _OPEN
        + r"(?:String to replace not found|No (?:match|changes?|replacement|edit)s? (?:was |were )?(?:found|performed"
        r"|made|to make)\b"
        r"|No replacement was performed|Found \d+ matches of the string to replace|old_string (?:not found"
        r"|is not unique|and new_string)"
        r"|(?:Could not|Failed to|Cannot|Can't) (?:find|edit|apply|locate|replace|match)\b"
        r"|Failed to edit, (?:0 occurrences|expected)|(?:The )?(?:specified )?(?:old_str|old_string|search string"
        r"|text to replace)\b[^\n]{0,200}(?:not found|did not appear|no match|multiple)"
        r"|No changes to make|Invalid (?:context|hunk|patch)\b|Multiple occurrences)",
        "The text to replace did not fit the file.",
        (
            "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
            "Found 2 matches of the string to replace, but replace_all is false.",
            "No replacement was performed, old_str `x` did not appear verbatim in /a/b.",
            "Failed to edit, 0 occurrences found for old_string in /a.",
            "No changes to make: old_string and new_string are exactly the same.",
            "Could not find a match for old_string in the file",
        ),
        ("Found 2 matches\na.go:3: x", "No files found"),
    ),
    WordingRule(
        "not read first",
        "start",
        _OPEN + r"(?:File has (?:not been read|been (?:modified|unexpectedly modified|changed))"
        r"|File has been unexpectedly modified"
        r"|File must be read first|You must (?:read|use)|Read it first|Cannot (?:create|write|edit|overwrite)\b"
        r"|Failed to write|(?:Error )?[Ww]riting (?:to )?file failed"
        r"|File already exists|The file (?:already exists|[^\n]{1,300} already exists)|Notebook cell|Cell with ID"
        r"|Invalid cell)",
        "The file was not in the state that the call expected.",
        (
            "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
            "File has been modified since read, either by the user or by a linter.",
            "Error: File already exists at: /a/b. Cannot overwrite files using command `create`.",
        ),
        ("File has 3 lines",),
    ),
    WordingRule(
        "edit broke the file",
        "start",
        r"Your (?:proposed )?edit (?:has introduced new syntax error|was not applied|command)",
        "The edit was refused because it broke the file.",
        ("Your proposed edit has introduced new syntax error(s). Please understand the fixes",),
        ("Your edits are welcome",),
    ),
    WordingRule(
        "search pattern wrong",
        "start",
        _OPEN + r"(?:Invalid (?:regular expression|regex|glob|pattern)\b|regex parse error|Error during (?:grep|glob"
        r"|search)|(?:Search|Grep|Glob) (?:failed|error))",
        "The search could not be made.",
        ("Invalid regular expression pattern provided: (", "regex parse error:\n    (foo"),
        ("Invalid entries: 0",),
    ),
    WordingRule(
        "plain error alone",
        # A log file may begin with "Error: "; a tool that failed says one line and stops.
        "whole",
        rf"(?:(?:Error|ERROR|error): |{_DOING})[^\n]*",
        "The tool answered with an error.",
        ("Error: EACCES: permission denied, open '/a'", "Error reading file: x"),
        ("Errors: 0", "Error handling guide", "     1\tError: x", "Error: a log\nthat goes on"),
        fault="none",
    ),
)

# A tool that writes never answers with the content of a file, so the start alone is enough here.
WRITE_FAILURES = WordingRules(
    *FILE_FAILURES,
    WordingRule(
        "plain error",
        "start",
        rf"(?:Error|ERROR|error): |{_DOING}",
        "The tool answered with an error.",
        ("Error: No replacement was made\nfor a reason", "Error editing file: x"),
        ("Errors: 0", "Error handling guide\n===="),
        fault="none",
    ),
)

# Asked before the failures: numbered lines are a file, whatever the file says.
FILE_SUCCESSES = WordingRules(
    WordingRule(
        "numbered lines",
        "start",
        r"(?:<file>\s*)?\d{1,7}(?:→|\t|\||:)",
        "The answer is numbered lines of a file.",
        ("1→package main", "12\timport x", "1|def f():"),
        ("12 monkeys",),
        verdict="ok",
        fault="none",
    ),
    WordingRule(
        "file was written",
        "start",
        r"(?:File (?:created|written|edited|updated|saved)\b|The file \S[^\n]{0,400} has been (?:updated|edited"
        r"|created)|Success\. Updated the following files"
        r"|Successfully (?:created|overwrote|modified|wrote|edited|replaced|updated|deleted)|Wrote \d+"
        r"|Applied \d+ edits?|Updated cell|Inserted cell|Deleted cell"
        r"|Done!?\s*\Z|\[File: |Created file|Modified \d+ file|Todos have been)",
        "The tool says that the file was written.",
        (
            "File created successfully at: /a/b",
            "The file /a/b.go has been updated successfully.",
            "Success. Updated the following files:\nM a.py",
            "Successfully overwrote file: /a/b.",
            "Done",
            "[File: /x/y.py (15 lines total)]",
        ),
        ("The file was not written",),
        verdict="ok",
        fault="none",
    ),
)

# Finding nothing is an answer, not a failure.
SEARCH_SUCCESSES = WordingRules(
    WordingRule(
        "search answered",
        "start",
        r"(?:Found \d+ |No (?:files|matches|results|content|entries) found|No (?:files|matches)\b|Found no |\d+ match)",
        "The search was made.",
        ("Found 3 files", "No matches found", "No files found"),
        ("Foundation",),
        verdict="ok",
        fault="none",
    ),
)
