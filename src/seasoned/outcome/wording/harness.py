"""How agents themselves say that a call could not be made, was declined, cancelled or interrupted."""

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


# The agent writes a refusal in the place of the result, so it stands at the very start.
REFUSALS = WordingRules(
    WordingRule(
        "user rejected",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:The user doesn't want to (?:proceed with this tool use|take this action)"
        r"|User rejected|The user (?:has )?(?:rejected|declined|denied)|User (?:denied|declined|cancelled|canceled)"
        r"|Tool use (?:was )?rejected|\[?User chose to reject)",
        "The user declined the call.",
        (
            "The user doesn't want to proceed with this tool use. The tool use was rejected",
            "User rejected the edit",
            "The user rejected this tool call.",
        ),
        ("The user wants to proceed", "User guide"),
        fault="user_declined",
    ),
    WordingRule(
        "interrupted",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:\[Request interrupted by user|Request interrupted by user|aborted by user"
        r"|\[Tool execution was interrupted|Tool (?:call|execution) (?:was )?interrupted|Interrupted by user"
        r"|Operation (?:was )?(?:cancelled|canceled|aborted) by (?:the )?user|Command (?:was )?aborted by user"
        r"|The user interrupted)",
        "The user interrupted the call.",
        ("[Request interrupted by user for tool use]", "aborted by user after 3.2s", "Command aborted by user"),
        ("Interrupted system call",),
        fault="interrupted",
    ),
    WordingRule(
        "broken off",
        # The one exception: what the command printed until then comes first.
        "end",
        r"^(?:<error>)?Command was aborted before completion(?:</error>)?$",
        "The command was broken off before it was done.",
        ("....\n<error>Command was aborted before completion</error>",),
        ("Command was aborted before completion of the report, says the log\nok",),
        fault="interrupted",
    ),
    WordingRule(
        "sibling cancelled",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:Sibling tool call errored|Cancelled: parallel tool call"
        r"|Canceled: parallel tool call|Skipped because (?:a|another) (?:parallel|sibling)"
        r"|Tool call (?:was )?skipped (?:because|due to))",
        "Cancelled because a call made beside it failed.",
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "Cancelled: parallel tool call Bash errored"),
        ("Cancelled order #12",),
        fault="sibling_cancelled",
    ),
    WordingRule(
        "permission not granted",
        # The words of agents only: "Permission denied" alone is what an operating system says.
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:Claude requested permissions? to |Permission to use \S+ "
        r"|Permission (?:for|to) .{1,200} (?:has been |was )?denied|[^\n]{1,300} needs approval\. "
        r"|This (?:command|Bash command|operation|tool)[^\n]{0,120} requires (?:approval|permission|confirmation)"
        r"|Tool (?:use|call|execution)? ?(?:was )?(?:denied|blocked|not permitted)"
        r"|\w+ operation (?:in|on) '[^\n]{1,300}' was blocked)",
        "Permission for the call was not given.",
        (
            "Claude requested permissions to write to /a/b, but you haven't granted it yet.",
            "touch in '/a/b' needs approval. The path is inside",
            "Permission to use Bash with command rm -rf has been denied.",
            "This command requires approval",
        ),
        ("Permission denied", "bash: ./x: Permission denied"),
        fault="user_declined",
    ),
    WordingRule(
        "blocked by a hook",
        "start",
        r"(?:<tool_use_error>)?(?:Error: )?(?:PreToolUse:[^\n]{0,80} (?:hook )?(?:error|blocked|\[)"
        r"|Command blocked by PreToolUse hook|Execution stopped by PreToolUse hook|[^\n]{0,80}blocked by (?:a )?hook\b"
        r"|Hook PreToolUse[^\n]{0,80} denied this tool)",
        "A hook forbade the call.",
        ("PreToolUse:Bash hook error: no", "Command blocked by PreToolUse hook: no. Command: ls"),
        ("PostToolUse:Edit hook additional context: fine",),
        fault="user_declined",
    ),
    WordingRule(
        "rejected by policy",
        "start",
        r"(?:approval policy is \w+; reject command|(?:patch|command|exec_command) rejected[: ]"
        r"|[^\n]{0,200}rejected by user(?: approval settings)?\b"
        r"|[^\n]{0,60}failed: CreateProcess \{ message: \"Rejected\("
        r"|[^\n]{0,300}rejected: policy forbids|BLOCKED\b[ :(]|Command (?:was )?(?:denied|blocked|rejected"
        r"|not allowed) "
        r"|Command not allowed|This command is (?:blocked|not allowed|forbidden)|Action (?:was )?(?:denied|blocked)\b)",
        "A policy forbade the call.",
        (
            "approval policy is Never; reject command — you cannot ask",
            "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings",
            'exec_command failed: CreateProcess { message: "Rejected(\\"`/bin/bash` rejected: policy forbids x',
            "BLOCKED (hardline): recursive delete of root filesystem.",
            "exec command rejected by user",
        ),
        ("Blocked tasks: 3", "Commander"),
        fault="user_declined",
    ),
)
