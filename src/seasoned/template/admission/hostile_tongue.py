"""The same in other languages, with and without their accents."""

from __future__ import annotations

TONGUES: tuple[tuple[str, str], ...] = (
    (
        "anweisung instruktion befehl vorgabe regel prompt",
        (
            r"(?:ignorier\w*|vergiss|missachte|überschreibe|uberschreibe) (?:\w+ ){0,4}(?:vorherig|bisherig|obig"
            r"|früher|fruher|alle|deine|system)\w* (?:\w+ ){0,2}(?:anweisung|instruktion|befehl|vorgabe|regel|prompt)"
        ),
    ),
    (
        "du ab benutzer nutzer anwender",
        (
            r"\bdu (?:bist|wirst) (?:jetzt|nun|ab sofort)\b|\bab (?:jetzt|sofort) (?:bist|musst|sollst|antworte)"
            r"|\b(?:be)?nutzer\w* (?:hat|haben) (?:\w+ ){0,3}(?:genehmigt|zugestimmt|erlaubt|freigegeben|bestätigt"
            r"|bestatigt)|\bsag\w* (?:es |das )?(?:dem|der) (?:be)?nutzer\w* nicht"
        ),
    ),
    (
        "instruction consigne ordre directive maintenant utilisateur desormais",
        (
            r"(?:ignore[zr]?|oublie[zr]?|ne tene?z pas compte) (?:\w+['’ ]){0,5}(?:instructions?|consignes?|ordres?"
            r"|directives?)"
            r"|\b(?:tu es|vous [eê]tes) (?:maintenant|d[eé]sormais)|utilisateur a (?:\w+ ){0,2}(?:approuv[eé]"
            r"|autoris[eé]"
            r"|donn[eé] son accord|confirm[eé])|\bne (?:le )?(?:dis|dites|previens|pr[eé]venez) (?:rien"
            r"|pas) (?:[aà] )?l['’]utilisateur"
        ),
    ),
    (
        "instruccion orden indicacion regla eres ahora usuario",
        (
            r"(?:ignora|ignore|olvida|olvide|descarta) (?:\w+ ){0,4}(?:instrucci[oó]n\w*|[oó]rdenes|indicaciones"
            r"|reglas)|\bahora eres\b"
            r"|\ba partir de ahora,? (?:eres|debes|responde|ignora)|usuario (?:ya )?(?:ha )?(?:aprobado|autorizado"
            r"|aprob[oó]|autoriz[oó]"
            r"|dado permiso|confirmado)|\bno (?:se )?lo digas al usuario|\bno informes al usuario"
        ),
    ),
    (
        "istruzion ordini indicazion regole utente ora sei",
        (
            r"(?:ignora|dimentica|trascura) (?:\w+ ){0,4}(?:istruzioni|ordini|indicazioni|regole)|\bora sei (?:un"
            r"|una|il|la)\b"
            r"|utente ha (?:gi[aà] )?(?:approvato|autorizzato|confermato)|\bnon dirlo all['’]utente"
        ),
    ),
    (
        "instru ordens regras agora usu",
        (
            r"(?:ignore|esque[cç]a|desconsidere|ignora) (?:\w+ ){0,4}(?:instru[cç][oõ]es|ordens|regras)"
            r"|\bagora voc[eê] [eé]\b"
            r"|usu[aá]rio (?:j[aá] )?(?:aprovou|autorizou|confirmou)|\bn[aã]o (?:conte|diga) ao usu[aá]rio"
        ),
    ),
    (
        "instructies opdrachten aanwijzingen regels gebruiker je bent",
        (
            r"(?:negeer|vergeet) (?:\w+ ){0,4}(?:instructies|opdrachten|aanwijzingen|regels)|\bje bent (?:nu"
            r"|vanaf nu)\b|gebruiker heeft (?:\w+ ){0,2}(?:goedgekeurd|toegestaan|toestemming)"
        ),
    ),
    (
        "instrukcj polece zasad jeste uzytkownik użytkownik",
        (
            r"(?:zignoruj|ignoruj|zapomnij) (?:\w+ ){0,4}(?:instrukcj|polece|zasad)|jeste[sś] teraz"
            r"|u[zż]ytkownik (?:ju[zż] )?(?:zatwierdzi|zezwoli)"
        ),
    ),
    (
        "talimat komut yonerge yönerge artik artık kullan",
        (
            r"[oö]nceki (?:\w+ ){0,2}(?:talimat|komut|y[oö]nerge)\w* (?:\w+ ){0,2}(?:yok say|g[oö]rmezden|unut)"
            r"|art[iı]k sen"
            r"|kullan[iı]c[iı] (?:\w+ )?onaylad[iı]"
        ),
    ),
    (
        "инструкци указани команд правил сообщени ты пользовател",
        (
            r"(?:игнориру\w*|проигнориру\w*|забудь\w*|не обращай\w* внимания на"
            r"|пренебрег\w*) (?:\w+ ){0,4}(?:инструкци|указани|команд"
            r"|правил|сообщени)|теперь ты|ты теперь|отныне ты|пользователь (?:уже )?(?:одобрил|разрешил|подтвердил"
            r"|дал согласие)"
            r"|не говори\w* пользовател"
        ),
    ),
    (
        "令 示 说明 說明 规则 規則 现在 現在 用户 使用者 内容 对话 對話",
        (
            r"(?:忽略|无视|無視|忘记|忘記|不要理会|不要遵守)[^。\n]{0,12}(?:指令|指示|提示|说明|說明|规则|規則|命令"
            r"|内容"
            r"|對話|对话)"
            r"|你现在是|你現在是|从现在(?:开始|起)|從現在(?:開始|起)|用户(?:已经|已)?(?:批准|同意|授权|允许|确认)"
            r"|使用者(?:已經|已)?(?:批准|同意|授權)|不要告诉用户|系统提示"
        ),
    ),
    (
        "指示 命令 プロンプト フロンフト ルール あなた ユーザー",
        (
            r"(?:以前|これまで|前|上記|すべて)の?[^。\n]{0,8}(?:指示|命令|プロンプト|ルール)[^。\n]{0,6}(?:無視|忘れ)"
            r"|(?:指示|命令|プロンプト)を(?:すべて)?無視|あなたは(?:今|これ)から|ユーザーは?(?:既に|すでに)?(?:承認"
            r"|許可"
            r"|同意)"
            r"|ユーザーに(?:は)?(?:言わない|伝えない|知らせない)"
        ),
    ),
    (
        "지시 명령 지침 프롬프트 규칙 이제 사용자",
        (
            r"(?:이전|위의|모든|기존)[^.\n]{0,10}(?:지시|명령|지침|프롬프트|규칙)[^.\n]{0,8}(?:무시|잊)|(?:당신은"
            r"|너는) 이제"
            r"|사용자가 (?:이미 )?(?:승인|허용|동의)|사용자에게 (?:말하지|알리지)"
        ),
    ),
    (
        "التعليمات الأوامر السابقة أنت المستخدم",
        r"(?:تجاهل|انس|انسى)[^.\n]{0,20}(?:التعليمات|الأوامر|السابقة)|أنت الآن|وافق المستخدم|لا تخبر المستخدم",
    ),
    (
        "निर्देश आदेश अब उपयोगकर्ता",
        (
            r"(?:पिछले|पिछली|सभी|ऊपर)[^।\n]{0,15}(?:निर्देश|आदेश)[^।\n]{0,15}(?:अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज)"
            r"|अब (?:आप|तुम) (?:एक|हो)"
            r"|उपयोगकर्ता ने (?:अनुमति|मंजूरी|स्वीकृति)"
        ),
    ),
)
