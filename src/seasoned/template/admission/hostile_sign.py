"""Signs of roles, of calls and of our own blocks, on a text in small letters with its lines."""

from __future__ import annotations

SIGNS: tuple[tuple[str, str], ...] = (
    ("<", r"<\|[a-z_ ]{1,30}\|>|<<\s*/?\s*sys\s*>>|</?(?:system|assistant|developer|human)(?:[-_]\w{1,20})?\s*>"),
    (
        "inst]|[system|[assistant|[developer|[admin|[user",
        r"\[/?inst\]|(?:^|\n)\s*\[(?:system|assistant|developer|admin|user)(?: \w+)?\]",
    ),
    (
        "system|assistant|developer",
        (
            r"(?:^|\n)\W{0,6}(?:system|assistant|developer)(?: (?:message|prompt|override|note|instructions?|update"
            r"|notice|alert))?\W{0,4}:\s*(?:[^\s:=]+\s+){3}[^\s:=]"
        ),
    ),
    ("system|assistant|instruction", r"(?:^|\n)\s*#{1,4}\s*(?:system|assistant|instructions? (?:to|for))\b"),
    ("assistant|ai|bot", r"(?:^|\n)\s*(?:human|user)\s*:[^\n]{1,400}\n\s*(?:assistant|ai|bot)\s*:"),
    (
        "<",
        (
            r"</?(?:[a-z]{2,8}:)?(?:function_calls?|invoke|tool_calls?|tool_use|tool_results?|tool_response"
            r"|function_results?|tool_code)\b[^>\n]{0,80}>|<function=|<\|?python_tag\|?>"
        ),
    ),
    (
        "tool_calls|function_call|tool_use|tool_result|tool_call_id",
        (
            r"\\?\"(?:tool_calls|function_call|tool_use_id|tool_call_id)\\?\"\s*:"
            r"|\\?\"type\\?\"\s*:\s*\\?\"(?:tool_use|tool_result|function_call)\\?\""
        ),
    ),
    (
        "arguments parameters input args params",
        (
            r"\{\s*\\?[\"'](?:name|tool|function|action|tool_name)\\?[\"']\s*:\s*\\?[\"'][\w.:-]{1,80}\\?[\"']\s*,"
            r"\s*\\?[\"'](?:arguments|parameters|input|args|action_input|tool_input|params)\\?[\"']\s*:"
        ),
    ),
    ("action", r"(?:^|\n|\. )\s*action\s*:\s*(?:\{|[\w.]+\s*\n\s*action input\s*:)"),
    (
        "role",
        (
            r"\\?[\"']role\\?[\"']\s*:\s*\\?[\"'](?:system|assistant|developer|tool)\\?[\"']|(?:^"
            r"|\n)\s*role: (?:system|assistant|developer)\b"
        ),
    ),
    ("</user>|</human>", r"<(user|human)>[^<]{1,400}</\1>"),
    ("functions.", r"\bfunctions\.\w+\(\s*\{"),
    ("tool_code to=functions", r"```tool_code|\bto=functions\.\w"),
    ("seasoned: warm template", r"\[/?seasoned:|\[warm session|\[warm pattern|session template loaded:|\bwarm_\d+_\w"),
    (
        "instructions> important> directive> command> policy>",
        r"</?(?:instructions?|important|directives?|policy|priority|critical|override)>",
    ),
    ("observation|thought|final answer", r"(?:^|\n)\s*(?:observation|thought|final answer)\s*:\s*\S"),
    (
        "end of|end user|end context|new context|begin",
        (
            r"(?:#{2,}|-{2,}|={2,}|\*{2,})\s*(?:end|begin|new|start)(?: of)?(?: the)? (?:user |system "
            r"|new )?(?:context|input|prompt|instructions?|conversation|message)\b"
        ),
    ),
    (
        "tool result|tool output|tool response|function result",
        r"(?:^|\n)\s*(?:tool (?:result|output|response)|function result)\s*:",
    ),
)
