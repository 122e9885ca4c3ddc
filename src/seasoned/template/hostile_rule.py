"""How texts speak to a model: a row for each way, behind words of which one must be there before it is looked for."""

from __future__ import annotations

READER = (
    r"(?:ai|a\.i\.|llms?|assistants?|agents?|ai agents?|language models?|ai models?|chatbots?|bots?|claude|chatgpt|gpt"
    r"|gemini|copilot|codex)"
)
PERSON = r"(?:user|human|operator|admin|administrator|owner|customer|developer|supervisor|manager|maintainer)"
_ORDERS = (
    r"(?:instruction|prompt|direction|directive|guideline|command|safeguard|guardrail|polic(?:y|ie)|system message)s?"
)
_GAP = r"[ ,;:'\"/.~-]{1,4}"
_FEW = rf"(?:[\w@]+{_GAP})"

# On a text in small letters on one line, without tricks of writing.
WORDS: tuple[tuple[str, str], ...] = (
    # Away with what was said before.
    (
        "instruction prompt direct guideline command safeguard guardrail polic system message",
        (
            r"\b(?:ignor\w*|disregard\w*|forget\w*|overrid\w*|overrul\w*|bypass\w*|discard|neglect|do not follow"
            r"|don't follow|stop following|pay no attention to|cancel|supersed\w*|replaces?|drop)"
            rf"{_GAP}{_FEW}{{0,5}}?(?:previous\w*|prior|above|earlier|preceding|foregoing|all|any|your|system|existing"
            rf"|original|initial|these|those|other){_GAP}{_FEW}{{0,3}}?{_ORDERS}\b"
        ),
    ),
    (
        "ignor disregard forget",
        (
            r"\b(?:ignor\w*|disregard\w*|forget) (?:all |everything |anything |what(?:ever)? )+(?:that )?"
            r"(?:was |is |you were |you have been |has been |i )?(?:said|told|above|before|previous\w*|you know)\b"
        ),
    ),
    (
        "ignor disregard forget overrid",
        (
            r"\b(?:ignor\w*|disregard\w*|forget|overrid\w*) (?:all |any |the |your |my )*(?:previous|prior|above"
            r"|earlier|preceding) (?:rules?|messages?|context|conversation|text|tasks?|requests?|orders?)\b"
        ),
    ),
    (
        "rules training restrictions limits",
        r"\b(?:ignor\w*|forget|bypass|break) (?:all )?your (?:rules|training|restrictions|limits)\b",
    ),
    # Another role.
    (
        "now longer henceforth",
        (
            r"\byou(?: are|'re| will| shall) (?:now|no longer|henceforth) (?:an?|the|in|my|act\w*|be|free|bound"
            r"|dan|called|operat\w*|required|allowed|permitted|under)\b"
        ),
    ),
    (
        "from now|from here|from this",
        (
            r"\bfrom (?:now|here|this point|this moment) on(?:ward)?s?\b,? *(?:you|all|always|never|act|respond"
            r"|reply|answer|do|ignore|treat)\b"
        ),
    ),
    (
        "as if you|as a",
        (
            r"\b(?:act|behave|respond|pretend) as (?:if you (?:were|are|have)|an? (?:unrestricted|unfiltered|evil"
            r"|different|root|admin|jailbroken))\b"
        ),
    ),
    (
        "pretend jailbr mode anything",
        (
            r"\bpretend (?:to be|that you|you are)\b|\bjailbr(?:ea|o)k\w*|\bdeveloper mode (?:is )?(?:now )?(?:on"
            r"|enabled|active)|\benter developer mode\b|\bdo anything now\b|\bgod mode\b"
        ),
    ),
    (
        "instruction directive prompt persona objective",
        (
            r"\bnew (?:system )?(?:instructions?|directives?|prompt|persona|objective) ?[:=-]|\b(?:updated|revised"
            r"|real|true|actual|hidden|secret) (?:system )?instructions? ?(?:are|is|:|follow)"
        ),
    ),
    (
        "your new|your only|your real|your true|your actual",
        (
            r"\byour (?:new|only|real|true|actual) (?:task|goal|instruction|objective|job|role|mission|purpose|order)s?"
            r" (?:is|are|will be)\b"
        ),
    ),
    # Orders.
    (
        "you must|you are required|you are to|you shall|you are instructed|you are ordered",
        (
            r"\byou (?:must|are required to|are to|shall|are instructed to|are ordered to) (?:now|immediately"
            r"|always|never"
            r"|not|only|first|refuse|obey|comply|ignore|stop|execute|run|call|send|reply|respond|output|print"
            r"|reveal|delete"
            r"|approve|accept|follow)\b"
        ),
    ),
    (
        "you have to|you need to",
        r"\byou (?:have|need) to (?:now |immediately |always )*(?:refuse|obey|comply|ignore|approve|reveal)\b",
    ),
    (
        "ai llm assistant agent model bot claude gpt gemini copilot codex",
        (
            rf"\b(?:(?:note|notice|message|reminder|warning|instructions?|hint|important|psa) (?:to|for)"
            rf"|attention[:,!]?|dear|hey"
            rf"|hello)[,:]? (?:the |all |any |every |you |future )?{READER}\b(?! (?:settings?|config\w*|file|test"
            rf"|hook|code)\b)"
        ),
    ),
    (
        "you are|you're|as an|as a|as your",
        (
            rf"\bif you(?: are|'re) (?:an? |the )?(?:\w+ )?{READER}\b|\bas an? (?:ai|language model|llm"
            rf"|large language model)\b"
            r"|\bas your (?:ai|creator|developer)\b"
        ),
    ),
    (
        "reading this|processing this|parsing this|seeing this|handling this",
        rf"\b{READER}s? (?:that (?:is|are) |who (?:is|are) )?(?:reading|processing|parsing|seeing|handling) this\b",
    ),
    (
        "must|shall|has to|is required|is instructed|should",
        (
            r"\b(?:ai|assistant|llm|language model) (?:must|shall|has to|is required to|is instructed to"
            r"|should (?:now|always|never|ignore))\b"
        ),
    ),
    (
        "only with|exactly with|just with|only the|exactly the|just the|stop what you|anything else|instead of",
        (
            r"\b(?:respond|reply|answer) (?:only|exactly|just) with\b|\b(?:say|output|print) (?:only|exactly"
            r"|just) the (?:word|phrase)\b"
            r"|\bstop what you(?: are|'re) doing\b|\bbefore (?:you )?(?:do(?:ing)?|answer\w*"
            r"|continu\w*) anything else\b|\binstead of (?:doing )?(?:your|what) (?:task|original|the user)\b"
        ),
    ),
    (
        "instruction directive command order",
        (
            r"\b(?:follow|obey|comply with|execute|carry out|perform) (?:the|these|those|my|this|all)(?: \w+){0,2}"
            r" (?:instructions?|directives?|commands?|orders)(?: (?:below|above|exactly|now|immediately|instead"
            r"|carefully|without)|[:.!])"
        ),
    ),
    # Out with what is secret.
    (
        "prompt instruction rule guideline training system message",
        (
            rf"\b(?:reveal|print|repeat|output|leak|disclose|dump|tell me|give me|show me|recite"
            rf"|write out){_GAP}{_FEW}{{0,4}}?"
            r"(?:system prompt|system message|hidden prompt|your (?:initial |hidden |secret |original |full "
            r"|own |system )*(?:instructions|prompt|rules|guidelines|training))\b"
        ),
    ),
    (
        "password secret token credential key env id_rsa history conversation session cookie memory",
        (
            rf"\b(?:send|post|upload|forward|exfiltrat\w*|e-?mail|leak|transmit|submit|deliver|report|copy"
            rf"|pipe){_GAP}{_FEW}{{0,8}}?"
            r"(?:passwords?|secrets?|tokens?|credentials?|api[ _-]?keys?|environment variables?|env vars?|ssh keys?"
            r"|private keys?|\.env|env file|id rsa|id_rsa|chat history|conversation|session data|memory|cookies?)\b"
            rf"{_GAP}{_FEW}{{0,8}}?(?:to|at|into|via){_GAP}{_FEW}{{0,3}}?(?:https?:|ftp:|www\.|[\w.-]+@|[\w-]+\.(?:com"
            rf"|net|org|io|xyz|ru|cn)\b"
            r"|this (?:url|address|server|endpoint)|(?:our|my|the following) )"
        ),
    ),
    (
        "user human operator admin owner customer develop supervisor manager maintainer anyone anybody",
        (
            r"\b(?:do not|don't|never|without|avoid) (?:tell\w*|inform\w*|mention\w*|alert\w*|notify\w*|reveal\w*"
            r"|disclos\w*|warn\w*)"
            rf"{_GAP}{_FEW}{{0,4}}?(?:{PERSON}|anyone|anybody)s?\b|\bwithout (?:the )?{PERSON}(?:'s)? (?:knowledge"
            rf"|knowing|consent"
            r"|permission|noticing)\b"
        ),
    ),
    (
        "keep secretly covertly silently",
        (
            r"\bkeep (?:this|it) (?:a )?(?:secret|hidden|confidential)\b(?: from)?|\b(?:secretly|covertly"
            r"|silently) (?:send|run|execute|delete|install|upload|call)\b"
        ),
    ),
    # What nobody approved.
    (
        "approv authori consent grant given signed okayed",
        (
            rf"\b{PERSON}s? (?:has |have |had )?(?:already |just |explicitly |previously |fully )*(?:approved"
            rf"|authori[sz]ed|consented"
            r"|pre-?approved|granted (?:you |full |all |the |this )*(?:permission|access|approval|consent)"
            r"|given (?:you |its |his |her |their |full |explicit )*(?:permission|approval|consent)|signed off"
            r"|okayed)\b"
        ),
    ),
    (
        "permission approval consent access authori",
        (
            r"\b(?:permissions?|approval|consent|full access|authori[sz]ation) (?:has |have |was |is |were )?(?:been )?"
            r"(?:already |hereby )?(?:granted|given|obtained|received|approved|waived)\b"
        ),
    ),
    (
        "confirmation approval permission consent",
        (
            r"\b(?:no|without(?: any| asking for)?|skip(?:ping)?(?: the| all| any)?|bypass(?:ing)?(?: the| all| any)?)"
            r" (?:further |user |human |additional |manual |more |explicit )*(?:confirmations?|approvals?"
            r"|permission prompts?|permissions?|consent)(?: checks?| dialogs?| prompts?)?"
            r"(?: (?:is|are|was) (?:needed|required|necessary)| needed| required| necessary|[.!,;]|$)"
        ),
    ),
    (
        "approv yolo permissions",
        (
            r"\bauto[- ]?approve (?:all|every|any|this|everything)|\byolo\b|\bdangerously[-_ ]skip[-_ ]permissions\b"
            r"|\bpre-?approved\b"
        ),
    ),
    (
        "you have|you are|you were|you now",
        (
            r"\byou (?:now )?(?:have|are|were)(?: been)? (?:now |full |given |granted |my |the user's "
            r"|explicit |hereby )*(?:permission|authori[sz]ed|approval|clearance|consent)\b"
        ),
    ),
    ("by the|by your|by admin|by an", rf"\b(?:approved|authori[sz]ed|signed off) by (?:the |your |an? )?{PERSON}\b"),
)

# On the text in small letters with its lines: signs of roles, of calls, and of our own blocks.
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
    ("tool_code to=functions", r"```tool_code|\bto=functions\.\w"),
    ("seasoned: warm template", r"\[/?seasoned:|\[warm session|\[warm pattern|session template loaded:|\bwarm_\d+_\w"),
)
