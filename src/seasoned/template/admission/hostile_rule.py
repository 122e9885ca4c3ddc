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
    (
        "instruct guid rule prompt directive order command",
        (
            r"\b(?:previous|prior|above|earlier|preceding|original|existing|your"
            r"|all) (?:\w+ ){0,2}(?:instructions?|guidance"
            r"|guidelines?|rules|prompts?|directives?|orders|commands) (?:\w+ ){0,2}(?:no longer appl(?:y|ies)"
            r"|(?:is|are|were)"
            r" (?:now |hereby )?(?:void|cancell?ed|invalid|obsolete|overridden|superseded|revoked|lifted"
            r"|suspended|replaced))\b"
        ),
    ),
    (
        "aside away never mind",
        (
            r"\b(?:set|put|leave|throw|lay) (?:aside|away) (?:what(?:ever)?|everything|all"
            r"|any)\b(?: \w+){0,4} (?:instructed|told|said|asked)\b"
        ),
    ),
    (
        "ignor disregard forget",
        (
            r"\b(?:ignor\w*|disregard\w*|forget) (?:the |your |all the |all )?rules\b(?! (?:in|for|of|from)\b)"
            r"|\b(?:ignor\w*|disregard\w*)"
            r" (?:what(?:ever)? |everything )?(?:the |this |your )?user(?:'s)?(?: (?:request|question|message"
            r"|wish\w*|instructions?"
            r"|asked|said|wants?))+\b"
        ),
    ),
    # Another role.
    (
        "treat system override task",
        (
            r"\btreat (?:the following|this|what follows|the text) (?:\w+ ){0,3}as (?:your|an?"
            r"|the) (?:\w+ )?(?:system|instruction|command)"
            r"|\bsystem override\b|\b(?:begin|new|start|end)(?: of)?(?: new| the)? system (?:prompt|message"
            r"|instructions?)\b"
            r"|(?:^|[.!?;] ?)new task:"
        ),
    ),
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
    (
        "comply|obey|do as|do exactly|do what",
        (
            r"\byou (?:will|shall|should|are to) (?:now )?(?:comply|obey)\b|\b(?:comply|obey) (?:at once"
            r"|immediately|now|with the (?:next|following)"
            r"|the (?:text|line|message|note))\b|\bdo (?:exactly )?(?:as|what) (?:the |this )?(?:following|text"
            r"|next line|message|note)"
            r"(?: below)? (?:says|tells|asks)\b"
        ),
    ),
    (
        "assistant claude gpt gemini copilot codex agent ai llm",
        (
            rf"(?:^|[.!?;] ){READER}, (?:please |now |you |just |kindly )*(?:\w+) |\bread this(?: first)?,? {READER}\b"
            rf"|(?:<!--|//|/\*|#) ?(?:(?:todo|note|fixme) ?)?\(?{READER}\)? ?[:,] "
            rf"|\bhidden (?:instructions?|messages?|notes?) (?:for|to) (?:the |all )?(?:models?|{READER})\b"
        ),
    ),
    (
        "anthropic openai google creator developer",
        (
            r"\b(?:message|note|notice|order|instruction|request|update) (?:is )?from (?:anthropic|openai"
            r"|google|your (?:creators?|developers?))\b"
            r"|\b(?:anthropic|openai) (?:\w+ )?(?:policy|update|override|notice)\b"
        ),
    ),
    ("hidden", r"\bhidden (?:instructions?|messages?|notes?) (?:for|to) (?:the |all )?models?\b"),
    (
        "tool",
        (
            r"\b(?:use|call|invoke) the [\w ]{1,40}? tool to (?:send|forward|delete|upload|post|e-?mail"
            r"|transfer|remove|drop|leak|pay|publish)\b"
            r"|\b(?:call|invoke) the (?:tool|function) \w"
        ),
    ),
    ("rm ", r"\brm -[a-z]*r[a-z]* (?:--?[\w-]+ )*(?:~|/|\$home|\*|/\*)(?:[ `'\";.]|$)"),
    # Out with what is secret.
    (
        "curl wget http",
        (
            r"\b(?:curl|wget|nc) .{0,120}(?:\.ssh|\.aws|\.netrc|\.gnupg|id rsa|id_rsa|credentials|/etc/passwd"
            r"|/etc/shadow|\.env\b).{0,80}https?:"
            r"|https?://\S*[?&]\w+=[<{$(]*(?:contents?|secrets?|tokens?|passwords?|cat|env)\b"
        ),
    ),
    (
        "password secret token credential key env cookie",
        (
            r"\b(?:passwords?|secrets?|tokens?|credentials?|api keys?|environment variables?|env vars?"
            r"|private keys?|cookies?)\b,? (?:and|then|to)"
            r" (?:\w+ ){0,2}(?:send|post|upload|e-?mail|forward|leak) (?:them|it|those|everything)\b"
        ),
    ),
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
        "ask",
        (
            r"\b(?:don't|do not|no|never|needn't|not|without) (?:need to |have to "
            r"|needing to )?ask(?:ing)?(?: for)? (?:any |further |the |more )*"
            r"(?:permission|confirmation|approval|consent|user|human|first)\b|\bno need to ask\b|\bneed not ask\b"
        ),
    ),
    (
        "you",
        (
            r"\bi (?:hereby |now |fully )?(?:authori[sz]e|permit) you\b|\bi (?:hereby |now "
            r"|fully )?grant (?:you )?(?:\w+ ){0,2}(?:permission|access|approval)\b"
        ),
    ),
    (
        "human user operator admin owner",
        rf"\b{PERSON} (?:has |have )?(?:already )?(?:said yes|confirmed[:,;]? (?:proceed|go ahead|delet\w*))\b",
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
    (
        "above this|this line|reads this|comes next|what follows|simulation",
        (
            r"\b(?:nothing|everything|anything|all|text|output|print|repeat|what is"
            r"|what's) (?:\w+ )?above this\b|\bwhoever reads this\b"
            r"|\b(?:pay attention|listen|attend) only to (?:what|the)\b|\bconversation (?:so far )?(?:was"
            r"|is) (?:only )?a (?:simulation|test|game)\b"
        ),
    ),
    (
        "instruction prompt message rules guidelines",
        (
            r"\binstructions (?:that )?you (?:received|were given|got|have|had)\b|\bwhat (?:were"
            r"|are) your (?:\w+ )?(?:instructions|rules|guidelines)\b"
            r"|\b(?:translate|summari[sz]e|repeat|encode|quote)\b.{0,40}\b(?:system message|system prompt|text above)\b"
        ),
    ),
    (
        "your response|your answer|your reply|your output|your next",
        (
            r"\b(?:in|to|into|with) your (?:next )?(?:response|answer|reply|output)\b"
            r"|\byour (?:next )?(?:response|answer|reply|output)"
            r" (?:must|should|has to|will) (?:start|begin|end|contain|include|be)\b"
        ),
    ),
    (
        "character|nothing|safety|administrator|admin|boss|owner|creator|developer|says",
        (
            r"\bstay in character\b|\bact like nothing\b|\bwithout (?:any )?safety\b|\bi am (?:your"
            r"|the) (?:administrator|admin|owner|creator|boss|developer)\b"
            r"|\bnew boss\b|\b(?:admin|administrator|root|owner|security team) says\b"
        ),
    ),
    (
        "tool",
        (
            r"\bwhen(?:ever)? (?:this|any|the|a) (?:\w+ )?tool is (?:used|called|invoked)\b|\bbefore (?:using"
            r"|calling) any (?:other )?tool\b"
            r"|\balso (?:call|invoke|use) \w+ with\b"
        ),
    ),
    (
        "credential secret password key env token rsa",
        (
            r"\b(?:hand over|give up|turn over|append|attach|include|pass)\b.{0,40}\b(?:credentials?|passwords?"
            r"|api keys?|secrets?|\.env|tokens?|id rsa|id_rsa)\b"
            r".{0,30}\b(?:every|answer|url|reply|response|over|as)\b|\bhand over (?:the|your"
            r"|all) (?:credentials|passwords|keys|secrets)\b"
        ),
    ),
    (
        "approv mention granted",
        (
            r"\bapproved to (?:run|delete|execute|push|use|proceed)\b|\bapproval: granted\b|\bgranted by\b"
            r"|\bsafe and approved\b"
            r"|\b(?:do not|don't|never) mention (?:that|this|it)\b"
        ),
    ),
)
