"""Plain orders that name no instructions and no prompt: skip the question, pipe it to a shell, take it as verified."""

from __future__ import annotations

from seasoned.template.admission.hostile_rule import PERSON

_MODELS = (
    r"(?:ai |llm |language |coding |support |all |any |every )*(?:agents?|assistants?|models?|bots?|chatbots?|llms?)"
)
_SOMEBODY = (
    rf"(?:{PERSON}s?|boss|team lead|team|teams|colleagues?|support|security|headquarters|management|anyone|anybody)"
)
_DEEDS = (
    r"(?:exfiltrat|send|post|upload|forward|e-?mail|leak|reveal|share|disclos|delet|remov|wip|eras|push|approv"
    r"|accept|grant"
    r"|skip|ignor|bypass|disabl|overrid|trust|refund|transfer|pay|obey|follow|comply|install|download|hand|giv"
    r"|treat|assum"
    r"|disregard|forget|promis|offer|issu|execut|run)\w*"
)
_ASKING = r"(?:ask|confirm|verify|double-?check|check|re-?confirm)(?:ing)?|verifying"
_SERIOUS = (
    r"(?:push|delet|send|run|deploy|merg|commit|refund|pay|transfer|remov|execut|install|chang|cancel|proceed|publish"
    r"|overwrit|drop|charg|book|order|exchang|return|modif|ship|releas|you|anything|any)\w*"
)
_HELD = r"(?:verified|authenticated|approved|authori[sz]ed|trusted|confirmed|legitimate|eligible|vetted|cleared)"

ORDERS: tuple[tuple[str, str], ...] = (
    # To every model.
    (
        "agent assistant model bot llm",
        (
            rf"\b{_MODELS} (?:must|shall|should|always|have to|has to)"
            rf" (?:always |never |now |also |immediately |first |not |just |then )*{_DEEDS}\b"
            rf"|\b(?:important|attention|urgent|critical|warning|mandatory|notice)\b\W{{1,4}}{_MODELS}"
            r" (?:must|shall|should|always|have to|has to|need to|needs to)\b"
        ),
    ),
    # Do not ask.
    (
        "ask confirm verify check verifying",
        (
            r"\b(?:never|don't|do not|stop|without|instead of|needn't|no need to|need not)"
            rf" (?:bother |ever |first |even |to )*(?:{_ASKING})"
            r"(?: (?:in|with|for|or|and|\w+ing|permission|confirmation|questions|them|me|him|her|it|again))*"
            rf"(?: before (?:\w+ ){{0,2}}?{_SERIOUS}| with (?:the |your |an? |my )?{_SOMEBODY})\b"
            rf"|\b(?:never|don't|do not|stop|without) (?:bother |ever |first |even |to )*ask(?:ing)? (?:the "
            rf"|your )?{PERSON}s?\b"
            r"(?! ?(?:id|name|account|input|data|prompt|model|interface)\b)"
            # "Never push without asking" asks for the question, so nothing may deny the clause before.
            r"|(?:^|[.!?;:,] ?)(?:(?!\b(?:never|don't|do not|not|avoid|cannot|can't|must not)\b)[^.!?;:,]){0,120}?"
            r"\bwithout (?:ever |first |even )?(?:asking|confirming|verifying)(?: (?:first|again|anyone|anybody"
            r"|me|anything))?"
            r"(?:[.!;]|$)"
        ),
    ),
    (
        "confirmation approval verification authentication consent identity permission sign-off signoff review",
        (
            r"(?:^|[.!?;:,\"'(>] ?|\b(?:always|please|must|should|can|may|then|and|just|simply|to) )"
            r"(?:skip|bypass|omit|waive|forgo|suppress|leave out)"
            r" (?:the |all |any |every |each |user |human |customer |manual |further |usual |explicit |your )*"
            r"(?:confirmations?|approvals?|verifications?|authentication|consent|identity (?:check|verification)s?"
            r"|permission (?:check|prompt|request)s?|permissions?|sign-?offs?|security review)"
            r"(?: (?:steps?|prompts?|dialogs?|checks?|questions?))? (?:for|when|whenever|if|before|during) "
            r"(?:all |any |every |the |these |this |that |his |her |their |my |large |small )*"
            r"(?:refunds?|pay\w*|orders?|cancel\w*|exchanges?|returns?|transfers?|delet\w*|push\w*|deploy\w*"
            r"|customers?|users?"
            r"|accounts?|purchases?|merg\w*|commits?|commands?|tools?|calls?|actions?|requests?|changes?"
            r"|everything|you)\b"
        ),
    ),
    # Into a shell.
    (
        "curl wget iwr fetch invoke-webrequest",
        (
            r"\b(?:run|running|execute|executing|paste|type|invoke|call|do|use|try|start with|first|please|now"
            r"|must|should)\b"
            r"[^|\n]{0,40}?\b(?:curl|wget|iwr|fetch|invoke-webrequest)\b[^|\n]{1,200}\| ?(?:sudo )?"
            r"(?:(?:ba|z|da|k|fi)?sh|python3?|perl|node|ruby|iex)\b"
            r"|\b(?:run|execute|paste|type|invoke)\b[^|\n]{0,40}?\b(?:bash|sh|eval|source) "
            r"(?:-c )?[\"'`]?[<$]\((?:curl|wget)\b"
        ),
    ),
    (
        "before answer|before respond|before reply|before continu|before proceed|before you",
        (
            r"\bbefore (?:you (?:answer|respond|reply|continue|proceed|start|begin)|answering|responding|replying"
            r"|continuing"
            r"|proceeding)\b[^.;\n]{0,30}?[, ]+(?:please |always |first |you must |also |just )*"
            r"(?:run|execute|call|open|fetch|send|visit|download|install|upload|post|curl|invoke)\b"
        ),
    ),
    # Verified, they say.
    (
        "treat consider regard assume mark",
        (
            r"\b(?:treat|consider|regard|assume|mark|count)(?: that)? (?:every|all|each|any|this|the|that|these"
            r"|those|me|him|her"
            rf"|us|them)(?: \w+){{0,3}}? (?:as|to be|is|are|be)? ?(?:already |fully |being |pre-?|as )*{_HELD}\b"
        ),
    ),
    (
        "confirmed verified cleared agree spoke discuss checked arranged approved said promised allowed waived signed",
        (
            r"\b(?:i|we)(?:'ve| have| had)? (?:already |just |previously |personally )*(?:confirmed|verified"
            r"|cleared|agreed|spoken"
            r"|spoke|discussed|checked|arranged|approved)(?: (?:this|it|that|everything|all of (?:it|this)|my \w+"
            r"|the \w+))?"
            rf" (?:with|by|through) (?:your|the|an?|my|one of your) (?:\w+ )?{_SOMEBODY}\b"
            rf"|\byour (?:\w+ )?(?:{_SOMEBODY}) (?:has |have |had )?(?:already |just |personally )*(?:confirmed"
            rf"|verified|agreed"
            r"|allowed|promised|cleared|ok'?d|okayed|approved|authori[sz]ed|signed off|waived|said (?:yes|it|that"
            r"|i|you|to))\b"
        ),
    ),
    (
        "verified vetted cleared authenticated",
        (
            r"\b(?:already|previously|hereby|pre-?)(?: been)? ?(?:verified|vetted|cleared|authenticated)"
            rf" (?:by|with) (?:your |the |an? |my )?(?:\w+ )?{_SOMEBODY}\b"
            rf"|\b{PERSON}(?:'s identity|'s account)? (?:has|have|is|was) (?:already |hereby )(?:been )?"
            r"(?:verified|authenticated|vetted|cleared)\b"
        ),
    ),
)
