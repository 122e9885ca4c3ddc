"""How agents themselves say that a call could not be made or did not come through."""

from __future__ import annotations

from seasoned.outcome.wording.rule import WordingRule, WordingRules

HARNESS = WordingRules(
    WordingRule(
        "no such tool",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:No such tool(?: available)?\b|unsupported call: |[Uu]nknown tool\b"
        r"|Tool ['\"`]?[\w.:-]+['\"`]? (?:does not exist|not found|is not available|is unknown)"
        r"|Function ['\"`]?[\w.:-]+['\"`]? not found(?:\.|\s*\Z| in )"
        r"|Agent type '[^'\n]{1,80}' not found|No (?:task|shell|process|session|agent) (?:found )?with (?:ID|id)\b)",
        "There is no such tool.",
        (
            "<tool_use_error>Error: No such tool available: X</tool_use_error>",
            "unsupported call: mcp__demo__recall",
            "Tool 'cronjob' does not exist. Available tools: clarify",
            'Tool "write" not found in registry.',
            "Agent type 'x' not found. Available agents: a",
            "No task found with ID: x",
        ),
        ("Tool box inventory", "Function main not found! Instead, here is another"),
    ),
    WordingRule(
        "wrong arguments",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:InputValidationError|Invalid tool (?:input|parameters|arguments)"
        r"|Input validation error|failed to parse function arguments|Failed to parse (?:tool )?arguments"
        r"|Invalid arguments (?:for|to) |Missing required (?:parameter|argument|field)s?\b"
        r"|params must have required property|Tool parameter|Argument Validation Error"
        r"|\d+ validation errors? for )",
        "The arguments did not fit the tool.",
        (
            "<tool_use_error>InputValidationError: Read failed due to the following issue",
            "failed to parse function arguments: missing field `cmd`",
            "params must have required property 'path'",
            "Argument Validation Error",
            "2 validation errors for call[search]",
        ),
        ("Arguments in favour",),
    ),
    WordingRule(
        "tool use error",
        # After the two rules above, which know more about the same tag.
        "start",
        r"<tool_use_error>",
        "The agent reported a tool error.",
        ("<tool_use_error>File does not exist.</tool_use_error>",),
        ("see <tool_use_error>",),
    ),
    WordingRule(
        "failed and explained",
        # Claude Code adds this behind the error of the tool itself, so the fault is read from the rest.
        "tail",
        r"^This tool's input schema was not in your prompt when you called it",
        "The agent explains why the call may have failed.",
        ("no\n\nThis tool's input schema was not in your prompt when you called it. The input schema is: {}",),
        ("the input schema was not in your prompt",),
        fault="none",
        needle="This tool's input schema was not",
    ),
    WordingRule(
        "patch refused before it ran",
        "start",
        r"apply_patch (?:verification failed|failed|handler received)",
        "The patch did not fit the file.",
        ("apply_patch verification failed: Failed to find expected lines in /a/b:\nx",),
        ("apply_patch worked",),
    ),
    WordingRule(
        "failed in the sandbox",
        # No fault: the sandbox passes on both a wrong command and its own limits.
        "start",
        r"(?:failed in sandbox|Script failed\b|execution error: |(?:exec_command|write_stdin|shell|view_image"
        r"|apply_patch) failed: |exec_command failed for "
        r"|sandbox error: |Sandbox(?:ed)? (?:execution )?(?:error|denied)|codex sandbox error)",
        "The sandbox could not run it.",
        (
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2",
            "write_stdin failed: Unknown process id 3",
            "Script failed\nWall time 0.1 seconds\nOutput:\n\nScript error:\nReferenceError: x is not defined",
            'exec_command failed: CreateProcess { message: "No such file" }',
        ),
        ("failed in production",),
        fault="none",
    ),
    WordingRule(
        "timed out",
        "start",
        r"(?:Error: )?(?:command timed out after|Command timed out|Command (?:was )?(?:killed|terminated) (?:after"
        r"|due to) "
        r"|Tool (?:call|execution) timed out|EXECUTION TIMED OUT|Execution timed out"
        r"|The (?:last )?command (?:timed out|was cancelled because it took))",
        "It took too long and was stopped.",
        ("command timed out after 10000 milliseconds", "Command timed out after 2m 0.0s", "EXECUTION TIMED OUT"),
        ("Timeouts are set in config.yaml", "Request timed out after 3 s: a line of a log"),
        fault="environment",
    ),
)
