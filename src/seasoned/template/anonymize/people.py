"""Names of people and firms in a text: by how they are written, by what stands before them, and by common names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex
from seasoned.template.anonymize.word_lists import ANYONE, FAMILY, GIVEN, KEPT, TOOLS

_STAND_INS = names(GIVEN) | names(FAMILY)
COMMON = names(
    "aaron abigail adam adrian ahmed aisha alan albert alejandro alessandro alex alexander alexandra alexis"
    " alfred alice alicia alison allison amanda amelia amina amy ana anders andre andrea andreas andrew andrey"
    " angela anita anja anna anne annette arjun arthur ashley audrey barbara beatrice ben benjamin bernard"
    " bernd beth betty björn bob brandon brenda brian bridget bruce bryan carl carla carlos caroline catherine"
    " cathy cecilia chandra charles charlie chen cheryl chloe chris christina christine christoph christopher"
    " cindy clara claudia colin connor courtney craig cristina cynthia daisuke dan daniel daniela danielle danny"
    " darren dave david deborah debra denise dennis derek diana diane dieter dimitri dmitri dmitry dominik"
    " donald donna dorothy doug douglas duncan dylan eduardo edward eileen elaine elena eli elias elizabeth ella"
    " ellen emily emma eric erica erik erika esther ethan eugene eva evan evelyn fatima fabian felipe fernando"
    " fiona francesca francesco francis franz fred frederick frieda gabriel gabriela gareth gary"
    " geoffrey george gerald gerhard gianni giovanni giulia gloria gordon graham greg gregory guillaume günter"
    " gustav hannah hans harold harriet harry hassan heather hector heidi heike heinrich helen helena helga henrik"
    " henry herbert hiroshi holger howard hussein ian ibrahim igor irene irina isaac isabel isabella isabelle ivan"
    " jacob jacqueline jacques jakob james jamie jan jane janet janice jason javier jeff jeffrey jens jennifer"
    " jeremy jessica jill jim joachim joan joanna joao joe joel johan johann johannes john johnny jonathan jorge"
    " joseph josef josh joshua juan judith judy julian juliana julie jun jürgen justin kaori kamal karen"
    " karin karl karol kate katherine kathleen kathryn katie katja katrin keith kelly ken kenji kenneth kevin"
    " khalid kim kimberly klaus konrad krishna kristen kristin kumar kurt kyle larry laura lauren laurent leah"
    " lena leo leon leonard leonardo leslie liam lillian linda lisa lisbeth liz lois lorena lothar louis louise"
    " lucas lucia lucy ludwig luigi luis luisa lukas luke lydia lynn magdalena manfred manuel marc marcel marcia"
    " marco marcus margaret maria marian marianne marie marina mario marion marjorie markus marlene martha martin"
    " martina mary massimo mathias matt matteo matthew matthias maureen maurice maximilian megan mei melanie"
    " melissa meredith michael michaela michelle miguel mike mikhail ming miriam mohamed mohammad mohammed mona"
    " monica monika moritz muhammad mustafa nancy naomi natalia natalie natasha nathan neil nicholas nick nicola"
    " nicolas nicole nigel nikolai nikita nina noah norbert norman oleg oliver olivia oscar oskar pablo pamela"
    " paolo patricia patrick paul paula paulo pavel pedro peggy penelope pete peter philip philipp philippe"
    " phillip phyllis pierre priscilla rachel rahul rainer raj rajesh ralf ralph ramon raphael raymond rebecca"
    " regina reinhard renate rene ricardo richard rita rob robert roberta roberto rodrigo roger roland ronald"
    " rosemarie roy rudolf russell ruth ryan sabine sabrina sally salvador samantha samir samuel sandeep sandra"
    " sanjay sara sarah satoshi scott sean sebastian sergei sergey sergio sharon shaun shawn sheila shirley"
    " siegfried silvia simon simone sofia sonia sophia sophie stacy stanley stefan stefanie stephan stephanie"
    " stephen steve steven stuart sunil susan susanna susanne suzanne svetlana sylvia takashi takeshi tamara tanja"
    " tanya tatiana ted teresa terrence theodor theodore theresa thomas thorsten tiffany tim timothy tina todd tom"
    " tomasz tony tracy trevor tyler ulrich ulrike ute uwe valentina valerie vanessa vera veronica vicki vicky"
    " victoria vijay vikram vincent virgil vivian vladimir volker walter wei wendy werner wilhelm william wolfgang"
    " xiao yasmin yuki yuri yusuf yves yvonne zachary zoe zuzana"
)
"""Given names that are hardly ever anything else."""
_IN_PAIRS = COMMON | names("diego antonio jose francisco")
"""Those that stand alone in names of towns are names of people only before a family's."""
_FAMILIES = names(
    "adams ahmed allen alvarez andersen anderson andersson bailey bauer becker bennett bernard bianchi brooks"
    " brown carter chen chopra clark collins cooper cox cruz davies davis diaz dubois edwards evans fernandez"
    " ferrari fischer fisher flores foster garcia gomez gonzalez gray green gupta gutierrez hall hansen harris"
    " hernandez hill hoffmann howard huang hughes ito ivanov jackson jansen jenkins jensen jimenez johansson"
    " johnson jones kaya kelly khan kim klein kovacs kowalski kumar lambert larsen lee lewis lopez martin martinez"
    " mehta meier mendoza meyer miller mitchell moore morales moreno morgan morris muller müller murphy myers"
    " nakamura nelson nguyen nielsen olsen ortiz parker patel perez petersen peterson petrov phillips popov powell"
    " ramirez ramos reed reyes richardson richter rivera roberts robinson rodriguez rogers romano ross rossi roux"
    " ruiz russo sanchez sanders santos sato schmidt schneider schulz schwarz scott sharma silva singh smirnov"
    " smith stewart sullivan suzuki taylor thomas thompson torres turner wagner walker wang ward watanabe watson"
    " weber white williams wilson wolf wood wright yamamoto yang yilmaz young zhang zhao zimmermann"
)
FAMILY_ONLY = (
    _FAMILIES
    - names(
        "brown cooper fisher foster gray green hall hill martin reed white wolf wood young ward walker cox lee"
        " kim ross bailey turner parker wright cruz jenkins carter diaz allen"
    )
    - COMMON
)
"""Family names that are hardly ever anything else."""
_SURE = COMMON | FAMILY_ONLY
_NOT_NAMES = names(
    "pending active inactive open closed shipped delivered cancelled canceled done failed paid unpaid draft"
    " published approved rejected new old high low medium critical normal yes no monday tuesday wednesday thursday"
    " friday saturday sunday january february march april may june july august september october november december"
    " january completed processing enabled disabled success failure warning unknown other male female english"
    " german french spanish united states america germany france china japan india standard premium basic free pro"
    " enterprise mr mrs ms dr content type accept authorization bearer basic host agent begin update patch"
)
_NAME = r"[A-ZÀ-ÖØ-Þ][^\W\d_A-Z]+(?:[-'’][A-ZÀ-ÖØ-Þ][^\W\d_]+)?"
_PAIR = LazyRegex(rf"(?<![\w/.-])({_NAME})(?: [A-Z]\.)? ({_NAME})(?![\w/])")
_TITLED = LazyRegex(rf"\b(?:Mr|Mrs|Ms|Dr|Prof|Herr|Frau|Mme|Monsieur|Señora?)\.? ({_NAME})(?: ({_NAME}))?")
_FIRM = LazyRegex(
    rf"(?<![\w/.-])({_NAME})(?: ({_NAME}))?,? (?:Inc|GmbH|Ltd|LLC|Corp|Corporation|Limited|Pty|S\.A|B\.V|Oy|AB|AG|KG)\b"
    rf"|\b(?:[Cc]ustomer|[Cc]lient|[Cc]ompany|[Tt]enant|[Vv]endor|[Ss]upplier|[Ee]mployer)s? ({_NAME})\b"
)
_WHO = (
    r"(?:user(?:name|_name)?|login|author|committer|assignee|reviewer|owner|customer|client|company|tenant|vendor|supplier"
    r"|organi[sz]ation|contact|(?:first|last|full|given|family|customer|company|client|display)_?name|surname|name)"
)
_VALUE = r"(?P<quote>['\"]|\\\"|)(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})(?P=quote)"
_OPTION = LazyRegex(
    r"(?:(?<=\s)|\A)(?:--(?:user(?:name)?|author|committer|assignee|reviewer|owner|login|customer|client|tenant"
    rf"|add-assignee|add-reviewer|mention)[= ]|(?:[A-Z]+_?)?USER(?:NAME)?=|user\.name[= ])(?:{_VALUE})(?![\w(/:@.])"
)
_FLAG = LazyRegex(
    r"\b(?:(?:psql|pg_\w+|createdb|dropdb|sqlcmd)\b[^|;&\n]{0,200}?\s-U ?"
    r"|(?:mysql\w*|mariadb|sudo)\b[^|;&\n]{0,80}?\s-u ?"
    rf"|ssh\b[^|;&\n]{{0,80}}?\s-l ?|\b(?:su -|passwd|chown) ?){_VALUE}(?![\w(/.])"
)
_HELD = LazyRegex(
    rf"(?<![A-Za-z0-9-]){_WHO}\\?[\"']?\s*(?:=|:|==|<>|!=|\bi?like\b)\s*(?P<quote>['\"]|\\\")%?"
    r"(?P<who>[^\W\d_][\w.'’-]*(?: [^\W\d_][\w'’-]+){0,2})%?(?P=quote)",
    re.IGNORECASE,
)
_SQL = LazyRegex(
    r"\bselect\b.{1,400}\bfrom\b|\binsert\s+into\b|\bupdate\b.{1,80}\bset\b|\bdelete\s+from\b",
    re.IGNORECASE | re.DOTALL,
)
_LITERAL = LazyRegex(rf"(?<![\w'])'%?({_NAME}(?: {_NAME}){{0,2}})%?'(?!\w)")
_QUOTED = LazyRegex(rf"(?P<quote>['\"])({_NAME}(?: {_NAME}))(?P=quote)")
# One of these must be there before a closer look is worth its time.
_TITLES = ("Mr", "Ms", "Dr", "Prof", "Herr", "Frau", "Mme", "Monsieur", "Señor")
_FORMS = (
    *("Inc", "GmbH", "Ltd", "LLC", "Corp", "Limited", "Pty", "S.A", "B.V", "Oy", "AB", "AG", "KG"),
    *("ustomer", "lient", "ompany", "enant", "endor", "upplier", "mployer"),
)
_ACCOUNTS = (
    "user",
    "--author",
    "--committer",
    "assignee",
    "reviewer",
    "--owner",
    "--login",
    "--c",
    "--tenant",
    "--mention",
)
_PROGRAMS = (
    "psql",
    "pg_",
    "createdb",
    "dropdb",
    "sqlcmd",
    "mysql",
    "mariadb",
    "sudo",
    "ssh",
    "su -",
    "passwd",
    "chown",
)
_HOLDERS = (
    *("name", "user", "login", "author", "committer", "assignee", "reviewer", "owner", "customer", "client", "company"),
    *("tenant", "vendor", "supplier", "organi", "contact"),
)
_LETTERS = LazyRegex(r"[^\W\d_]{2,}")


def is_name(low: str) -> bool:
    """Whether a word in small letters is a name of people and hardly ever anything else."""
    return low in _SURE


def pair_of_names(text: str) -> str | None:
    """A pair of names in a text that looks like a person, and is no stand-in."""
    for first, last in _pairs(text):
        if not {first.lower(), last.lower()} <= _STAND_INS:
            return f"{first} {last}"
    return None


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while (found := _PAIR.compiled.search(text, at)) is not None:
        first, last = found.groups()
        given, family = first.lower(), last.lower()
        is_given = given in _IN_PAIRS or given in _STAND_INS
        if (is_given and _could_be(family)) or (family in _FAMILIES and _could_be(given)):
            yield first, last
            at = found.end()
        else:
            at = found.end(1)


def _could_be(low: str) -> bool:
    return low not in KEPT and low not in TOOLS and low not in ANYONE and low not in _NOT_NAMES


def people_in(text: str, *, is_code: bool = False, is_command: bool = False) -> Iterator[tuple[str, str]]:
    """Words of a text that name people or firms, each with the kind of stand-in that it needs."""
    for first, last in _pairs(text):
        yield first, "given"
        yield last, "family"
    for pattern, signs in ((_TITLED, _TITLES), (_FIRM, _FORMS)):
        if not any(sign in text for sign in signs):
            continue
        for found in pattern.compiled.finditer(text):
            for word in found.groups():
                if word and _could_be(word.lower()):
                    yield word, "family" if pattern is _TITLED else ""
    if is_code or is_command:
        yield from _held_in_code(text, is_command)


def _held_in_code(text: str, is_command: bool) -> Iterator[tuple[str, str]]:
    low = text.lower()
    if any(word in low for word in _ACCOUNTS):
        for found in _OPTION.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if any(word in low for word in _PROGRAMS):
        for found in _FLAG.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=True)
    if "'" not in text and '"' not in text:
        return
    if any(word in low for word in _HOLDERS):
        for found in _HELD.compiled.finditer(text):
            yield from _words(found.group("who"), any_case=False)
    if ("select" in low or "insert" in low or "update" in low or "delete" in low) and _SQL.compiled.search(text):
        for found in _LITERAL.compiled.finditer(text):
            yield from _words(found.group(1), any_case=False)
    # In a command such a pair is a message or a title more often than a value.
    for found in () if is_command else _QUOTED.compiled.finditer(text):
        if all(_could_be(word.lower()) for word in found.group(2).split()):
            yield from _words(found.group(2), any_case=False)


def _words(value: str, *, any_case: bool) -> Iterator[tuple[str, str]]:
    found = [word for word in _LETTERS.compiled.findall(value) if word.istitle() or any_case or is_name(word.lower())]
    is_person = any_case or any(is_name(word.lower()) for word in found)
    for at, word in enumerate(found):
        if _could_be(word.lower()):
            yield word, ("family" if at else "given") if is_person else ""
