"""The published formats of keys and tokens, as data."""

# ruff: noqa: E501 - a rule is one line, however long its format

from __future__ import annotations

from typing import NamedTuple

from seasoned.lazy_regex import LazyRegex


class Rule(NamedTuple):
    """The format of one kind of secret: `group` contains it; `check` names a further test.

    It is tried only where one of its anchors stands, whatever their case and their figures (`1//0` finds `3//0`), and
    begins there, or at most `back` characters before.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: LazyRegex
    group: int = 0
    check: str = ""
    back: int = 0


def _rule(kind: str, anchors: str, source: str, group: int = 0, check: str = "", back: int = 0) -> Rule:
    if source.startswith("(?<!"):
        # In JSON the letter of an escaped line end, or the code of a quote, stands before the word.
        before, rest = source[: (end := source.index(")") + 1)], source[end:]
        source = rf"(?:{before}|(?<=\\[nrtbf])|(?<=\\u00\w\w)){rest}"
    return Rule(kind, tuple(anchors.split(" ")), LazyRegex(source), group, check, back)


RULES: tuple[Rule, ...] = (
    _rule("aws-key-id", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])", check="mixed"),
    _rule("github", "ghp_ gho_ ghs_ ghu_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}", check="mixed"),
    _rule("github", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,255}", check="mixed"),
    _rule("gitlab", "glpat- gldt- glrt- glptt- glft- gloas- glcbt- glimt- glagent- glsoat- glffct- glrtr- glwt-", r"gl(?:pat|dt|rt|ptt|ft|oas|cbt|imt|agent|soat|ffct|rtr|wt)-[A-Za-z0-9_\-]{20,300}(?:\.[a-z0-9.]{9,20})?", check="mixed"),
    _rule("gitlab", "GR1348941", r"GR1348941[A-Za-z0-9_\-]{20,50}"),
    _rule("slack", "xox", r"xox[a-z](?:\.xox[a-z])?-(?=[A-Za-z\-]{0,20}\d)[A-Za-z0-9\-]{10,400}", check="mixed"),
    _rule("slack", "xapp-", r"xapp-\d-[A-Za-z0-9]{8,20}-\d{8,20}-[a-f0-9]{32,128}"),
    _rule("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/\-]{20,200})", 1, "mixed"),
    _rule("stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,250}", check="mixed"),
    _rule("webhook-secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,128}", check="mixed"),
    _rule("anthropic", "sk-ant-", r"sk-ant-[a-z0-9]{3,12}-[A-Za-z0-9_\-]{20,400}", check="mixed"),
    _rule("openrouter", "sk-or-", r"sk-or-v1-[a-f0-9]{40,128}", check="mixed"),
    _rule("openai", "sk-", r"(?<![A-Za-z0-9])sk-(?:[a-z]{2,12}-)?[A-Za-z0-9_\-]{20,400}", check="random"),
    _rule("google-api", "AIza", r"(?<![A-Za-z0-9/])AIza[A-Za-z0-9_\-]{35}", check="mixed"),
    _rule("google-oauth", "ya29.", r"ya29\.[A-Za-z0-9_\-.]{20,2048}"),
    _rule("google-oauth", "1//0", r"(?<![A-Za-z0-9/])1//0[A-Za-z0-9_\-]{28,200}", check="mixed"),
    _rule("google-client", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_\-]{20,64}"),
    _rule("firebase", ":APA91", r"AAAA[A-Za-z0-9_\-]{7}:APA91[A-Za-z0-9_\-]{100,200}", back=11),
    _rule("npm", "npm_", r"npm_[A-Za-z0-9]{36,64}", check="mixed"),
    _rule("npm", "NpmToken.", r"NpmToken\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    _rule("pypi", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_\-]{50,1000}"),
    _rule("huggingface", "hf_ api_org_", r"(?<![A-Za-z0-9])(?:hf_|api_org_)[A-Za-z0-9]{30,40}(?![A-Za-z0-9_])", check="mixed"),
    _rule("sendgrid", "SG.", r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{16,64}"),
    _rule("mailgun", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("mailchimp", "-us1", r"(?<![0-9a-f])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])", back=32),
    _rule("telegram", "1234567:A", r"\d{7,11}:A[A-Za-z0-9_\-]{34}(?![A-Za-z0-9_\-])", back=4),
    _rule("discord", "mfa.", r"mfa\.[A-Za-z0-9_\-]{80,90}"),
    _rule("discord-webhook", "discord.com/api discordapp.com/api", r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{15,22}/([A-Za-z0-9_\-]{40,100})", 1),
    _rule("teams-webhook", "/IncomingWebhook/", r"/IncomingWebhook/([a-f0-9]{32}/[a-f0-9\-]{36})", 1),
    _rule("shopify", "shpat_ shpca_ shppa_ shpss_ shptka_", r"shp(?:at|ca|pa|ss|tka)_[a-fA-F0-9]{32,64}"),
    _rule("digitalocean", "doo_v1_ dop_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _rule("heroku", "HRKU-", r"HRKU-[A-Za-z0-9_\-]{30,80}"),
    _rule("vault", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_\-]{20,300}"),
    _rule("vault", "=s. :s. \"s. 's.", r"[=:\"']s\.([A-Za-z0-9]{24})(?![A-Za-z0-9_.(])", 1, "random"),
    _rule("databricks", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])"),
    _rule("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}"),
    _rule("notion", "ntn_", r"ntn_[A-Za-z0-9]{40,60}"),
    _rule("notion", "secret_", r"secret_[A-Za-z0-9]{40,50}(?![A-Za-z0-9_])", check="random"),
    _rule("doppler", "dp.pt. dp.ct. dp.sa. dp.scim. dp.audit. dp.st.", r"dp\.(?:pt|ct|sa|scim|audit|st)\.(?:[a-z0-9\-_]{2,35}\.)?[A-Za-z0-9]{40,48}"),
    _rule("postman", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _rule("newrelic", "NRAK- NRII- NRJS-", r"NR(?:AK|II|JS|AA|RA)-[A-Za-z0-9_\-]{19,40}"),
    _rule("newrelic", "NRAL", r"[a-f0-9]{32,36}(?:FFFF)?NRAL", back=40),
    _rule("grafana", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _rule("grafana", "glc_", r"glc_[A-Za-z0-9+/_\-]{32,400}={0,2}"),
    _rule("docker", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{27,60}"),
    _rule("terraform", "atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{60,80}", back=15),
    _rule("age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _rule("onepassword", "ops_eyJ", r"ops_eyJ[A-Za-z0-9_\-+/=]{100,4096}"),
    _rule("onepassword", "A3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){4,5}[A-Z0-9]{5}"),
    _rule("supabase", "sbp_ sb_secret_", r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_\-]{20,60})"),
    _rule("replicate", "r8_", r"r8_[A-Za-z0-9]{37,40}(?![A-Za-z0-9_])"),
    _rule("groq", "gsk_", r"gsk_[A-Za-z0-9]{40,64}"),
    _rule("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{32,64}"),
    _rule("xai", "xai-", r"xai-[A-Za-z0-9]{60,100}"),
    _rule("azure-client", "8Q~", r"[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}", back=3),
    _rule("azure-key", "AzCa ACDb AzFu AIoT +ASt", r"[A-Za-z0-9+/]{33,76}(?:AzCa|ACDb|AzFu|AIoT|\+ASt)[A-Za-z0-9+/]{5,6}={0,2}", back=76),
    _rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_\-]{8,4096}\.[A-Za-z0-9_\-]{8,16384}(?:\.[A-Za-z0-9_\-]{2,4096}){0,3}"),
    _rule("cloudflare", "v1.0-", r"v1\.0-[a-f0-9]{20,32}-[a-f0-9]{100,160}"),
    _rule("planetscale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.\-]{32,64}"),
    _rule("square", "EAAA sq0atp- sq0csp- sq0idp-", r"(?<![A-Za-z0-9])EAAA[A-Za-z0-9_\-]{56,64}(?![A-Za-z0-9])|sq0(?:atp|csp|idp)-[A-Za-z0-9_\-]{22,64}", check="mixed"),
    _rule("fly", "fm2_ fm1r_ fm1a_ fo1_", r"(?:fm2_|fm1[ra]_|fo1_)[A-Za-z0-9+/=_\-,]{40,4096}"),
    _rule("atlassian", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_\-=]{50,300}"),
    _rule("bitbucket", "ATBB", r"ATBB[A-Za-z0-9]{32}"),
    _rule("sentry", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{40,400}"),
    _rule("dropbox", "sl.", r"(?<![A-Za-z0-9_.\-])sl\.(?:u\.)?[A-Za-z0-9_\-]{60,1500}"),
    _rule("figma", "figd_", r"figd_[A-Za-z0-9_\-]{40,60}"),
    _rule("asana", "1/12345678901234", r"(?<![A-Za-z0-9./])[012]/\d{14,18}(?:/\d{14,18})?:[a-f0-9]{32}"),
    _rule("rubygems", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _rule("pulumi", "pul-", r"pul-[a-f0-9]{40}"),
    _rule("resend", "re_", r"(?<![A-Za-z0-9])re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}(?![A-Za-z0-9])", check="mixed"),
    _rule("prefect", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    _rule("dynatrace", "dt0", r"dt0[a-z]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _rule("contentful", "CFPAT-", r"CFPAT-[A-Za-z0-9_\-]{40,60}"),
    _rule("intercom", "dG9rO", r"dG9rO[A-Za-z0-9+/]{50,80}={0,2}"),
    _rule("langchain", "lsv2_ ls__", r"(?:lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}|ls__[a-f0-9]{32})"),
    _rule("nvidia", "nvapi-", r"nvapi-[A-Za-z0-9_\-]{50,80}"),
    _rule("tailscale", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,20}(?:-[A-Za-z0-9]{20,40})?"),
    _rule("circleci", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
    _rule("buildkite", "bkua_", r"bkua_[a-f0-9]{40}"),
    _rule("sourcegraph", "sgp_", r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}"),
    _rule("alibaba", "LTAI", r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])", check="mixed"),
    _rule("tencent", "AKID", r"AKID[A-Za-z0-9]{28,36}(?![A-Za-z0-9])", check="mixed"),
    _rule("flutterwave", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?"),
    _rule("razorpay", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,30}"),
    _rule("plaid", "access-", r"access-(?:sandbox|development|production)-[a-f0-9\-]{36}"),
    _rule("clojars", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _rule("adafruit", "aio_", r"aio_[A-Za-z0-9]{28}(?![A-Za-z0-9])"),
    _rule("posthog", "phx_", r"phx_[A-Za-z0-9_\-]{40,60}", check="mixed"),
    _rule("shippo", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    _rule("netlify", "nfp_", r"(?<![A-Za-z0-9])nfp_[A-Za-z0-9]{36,40}", check="mixed"),
    _rule("jina", "jina_", r"(?<![A-Za-z0-9])jina_[A-Za-z0-9_\-]{56,70}", check="mixed"),
    _rule("e2b", "e2b_", r"(?<![A-Za-z0-9])e2b_[a-f0-9]{40}"),
    _rule("grafana", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/_\-]{60,400}={0,2}"),
    _rule("extended-key", "xprv yprv zprv tprv uprv vprv", r"(?<![A-Za-z0-9])[xyztuv]prv[1-9A-HJ-NP-Za-km-z]{90,120}"),
    _rule("node-key", "infura.io/ alchemy.com/ quiknode.pro/", r"(?:infura\.io/v3|alchemy\.com/v2|quiknode\.pro)/([A-Za-z0-9_\-]{32,64})", 1, "mixed"),
    # Prefixes that published rule sets know and this list lacked.
    _rule("brevo", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _rule("easypost", "EZAK EZTK", r"(?<![A-Za-z0-9])EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])"),
    _rule("adobe", "p8e-", r"(?<![A-Za-z0-9])p8e-[A-Za-z0-9]{32}(?![A-Za-z0-9])", check="mixed"),
    _rule("artifactory", "AKCp", r"(?<![A-Za-z0-9])AKCp[A-Za-z0-9]{69}(?![A-Za-z0-9])"),
    _rule("duffel", "duffel_", r"duffel_(?:live|test)_[A-Za-z0-9_\-=]{43}"),
    _rule("frameio", "fio-u-", r"fio-u-[A-Za-z0-9\-_=]{64}"),
    _rule("harness", "pat. sat.", r"(?<![A-Za-z0-9])[ps]at\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}(?![A-Za-z0-9])"),
    _rule("infracost", "ico-", r"(?<![A-Za-z0-9])ico-[A-Za-z0-9]{32}(?![A-Za-z0-9])", check="random"),
    _rule("octopus", "API-", r"(?<![A-Za-z0-9])API-[A-Z0-9]{26}(?![A-Za-z0-9])", check="random"),
    _rule("openshift", "sha256~", r"sha256~[A-Za-z0-9_\-]{43}(?![A-Za-z0-9])"),
    _rule("readme", "rdme_", r"rdme_[a-z0-9]{70}"),
    _rule("sonar", "squ_ sqp_ sqa_", r"(?<![A-Za-z0-9])sq[upa]_[a-f0-9]{40}(?![A-Za-z0-9])"),
    _rule("typeform", "tfp_", r"(?<![A-Za-z0-9])tfp_[A-Za-z0-9\-_.=]{40,70}", check="random"),
    _rule("scalingo", "tk-us-", r"tk-us-[A-Za-z0-9_\-]{48}"),
    _rule("settlemint", "sm_aat_ sm_pat_ sm_sat_", r"(?<![A-Za-z0-9])sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}(?![A-Za-z0-9])"),
    _rule("yandex", "AQVN", r"(?<![A-Za-z0-9])AQVN[A-Za-z0-9_\-]{35,38}(?![A-Za-z0-9_\-])"),
    _rule("hubspot", "pat-na pat-eu", r"(?<![A-Za-z0-9])pat-(?:na|eu)\d-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _rule("langfuse", "sk-lf-", r"sk-lf-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _rule("wakatime", "waka_", r"waka_[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _rule("cerebras", "csk-", r"(?<![A-Za-z0-9])csk-[a-z0-9]{40,60}(?![A-Za-z0-9])", check="mixed"),
    _rule("tavily", "tvly-", r"(?<![A-Za-z0-9])tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}(?![A-Za-z0-9])", check="mixed"),
    _rule("openai-project", "T3BlbkFJ", r"[A-Za-z0-9_\-]{20,200}T3BlbkFJ[A-Za-z0-9_\-]{20,200}", back=200),
    _rule("swarm", "SWMTKN-", r"SWMTKN-1-[a-z0-9]{40,60}-[a-z0-9]{20,30}"),
    _rule("definednetworking", "dnkey-", r"dnkey-[A-Za-z0-9=_\-]{26}-[A-Za-z0-9=_\-]{52}"),
    _rule("webhook", "hook/ hooks/ hookb2/", r"(?i:hook)[a-z0-9]{0,3}/(?:[\w.\-@]{1,80}/){0,4}([A-Za-z0-9_\-]{20,80})(?![\w.])", 1, "random"),
    _rule("webhook", "webhook/send?key=", r"webhook/send\?key=([0-9a-f\-]{36})", 1),
    _rule("webhook", "hc-ping.com/", r"hc-ping\.com/([0-9a-f\-]{36})", 1),
    _rule("pagerduty", "pagerduty.com/integration/", r"pagerduty\.com/integration/([0-9a-f]{32})", 1),
    _rule("url-key", "?key= &key= ?private= &private=", r"[?&](?:key|private)=([A-Za-z0-9_\-]{24,128})(?![\w.])", 1, "random"),
    _rule("url-key", "/private-", r"/private-([0-9a-f]{24,64})(?![0-9a-f])", 1),
    _rule("nostr", "nsec1", r"(?<![A-Za-z0-9])nsec1[02-9ac-hj-np-z]{58}(?![A-Za-z0-9])"),
    _rule("otp-export", "igration://offline?data=", r"igration://offline\?data=([A-Za-z0-9%+/=_\-]{20,4096})", 1),
    _rule("stream-key", "rtmp", r"rtmps?://[\w.\-]{4,80}(?::\d{2,5})?/\w{1,20}/([a-z0-9]{4}(?:-[a-z0-9]{4}){3,4})(?![\w\-])", 1),
    _rule("oauth-code", "?code= &code=", r"[?&]code=([A-Za-z0-9_\-.~%/]{20,512})(?![\w.])", 1, "random"),
    _rule("conda", "/t/", r"/t/([A-Za-z0-9\-]{20,60})/", 1, "random"),
    _rule("firecrawl", "fc-", r"(?<![A-Za-z0-9\-])fc-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("artifactory", "cmVmdGtu", r"(?<![A-Za-z0-9])cmVmdGtu[A-Za-z0-9]{50,60}(?![A-Za-z0-9])"),
    _rule("cloudflare", "cfut_ cfat_ cfk_", r"(?<![A-Za-z0-9])cf(?:ut|at|k)_[A-Za-z0-9]{40,60}(?![A-Za-z0-9])"),
    _rule("bitbucket", "BBDC-", r"BBDC-[A-Za-z0-9+/=]{40,60}"),
    _rule("pinecone", "pcsk_", r"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{50,80}"),
    _rule("together", "tgp_v1_", r"tgp_v1_[A-Za-z0-9_\-]{40,60}"),
    _rule("render", "rnd_", r"(?<![A-Za-z0-9])rnd_[A-Za-z0-9]{28,40}(?![A-Za-z0-9])", check="random"),
    _rule("neon", "napi_", r"(?<![A-Za-z0-9])napi_[a-z0-9]{40,80}(?![A-Za-z0-9])", check="mixed"),
    _rule("logfire", "pylf_v", r"pylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,60}"),
    _rule("ory", "ory_pat_ ory_at_ ory_rt_ ory_st_", r"ory_(?:at|rt|ac|st|pat)_[A-Za-z0-9_\-.]{30,120}", check="mixed"),
    _rule("paseto", "v1.local.", r"(?<![A-Za-z0-9])v[1-4]\.local\.[A-Za-z0-9_\-]{40,2048}"),
    _rule("launchdarkly", "sdk-", r"(?<![A-Za-z0-9\-])sdk-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9a-f])"),
    _rule("buildkite", "bkct_ bkpt_", r"bk[cp]t_[A-Za-z0-9_\-]{30,80}"),
    _rule("recovery-key", "123456-123456-", r"(?<![\d\-])\d{6}(?:-\d{6}){7}(?![\d\-])"),
    _rule("grub-hash", "grub.pbkdf2", r"grub\.pbkdf2\.sha512\.\d{3,7}\.[0-9A-F]{32,256}\.[0-9A-F]{32,256}"),
    _rule("bearer", "bearer", r"(?i:bearer)(?:\s|%20|\+)+([A-Za-z0-9_\-.~+/]{16,4096}=*)", 1, "random"),
    _rule("signature", "sig= signature=", r"(?i)(?<=[?&;\-])(?:sig|signature)=([A-Za-z0-9%+/_\-]{20,1024}=*)", 1),
    _rule("cookie", "PHPSESSID= JSESSIONID= ASPSESSIONID ASP.NET_SessionId= connect.sid= sessionid= laravel_session= _session_id= sid= session=",
          r"(?:PHPSESSID|JSESSIONID|ASPSESSIONID[A-Z]*|ASP\.NET_SessionId|connect\.sid|sessionid|laravel_session|_session_id|(?<![\w-])sid|(?<![\w-])session)=([A-Za-z0-9%+/_.\-]{16,2048})", 1, "session"),
)  # fmt: skip
# The same for tokens that begin with a long word and have no anchor: by the first letters that the word may have.
WORD_RULES: tuple[Rule, ...] = (
    _rule("twilio", "S", r"(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _rule("mailgun", "0 1 2 3 4 5 6 7 8 9 a b c d e f", r"(?<![0-9a-f-])[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![0-9a-f-])"),
    _rule("discord", "M N O", r"[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6,7}\.[A-Za-z0-9_\-]{27,45}(?![A-Za-z0-9_\-])", check="mixed"),
    _rule("facebook", "E", r"(?<![A-Za-z0-9/+])EAA[A-Z0-9][A-Za-z0-9]{80,300}(?![A-Za-z0-9+/=])", check="mixed"),
    _rule("airtable", "p", r"(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _rule("cargo", "c", r"(?<![A-Za-z0-9])cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", check="random"),
    _rule("nuget", "o", r"(?<![A-Za-z0-9])oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    _rule("backblaze", "K", r"(?<![A-Za-z0-9])K00\d[A-Za-z0-9/+]{27}(?![A-Za-z0-9])", check="random"),
    _rule("scaleway", "S", r"SCW[A-Z0-9]{17}(?![A-Za-z0-9])", check="mixed"),
    _rule("postgres-hash", "m", r"(?<![A-Za-z0-9])md5[0-9a-f]{32}(?![A-Za-z0-9])"),
)  # fmt: skip
# What crypt(3) and its relatives write.
HASHES: tuple[Rule, ...] = (
    # Docker Compose doubles the dollar.
    _rule("password-hash", "$2a$ $2b$ $2x$ $2y$ $2$", r"\$2[abxy]?\${1,2}\d\d\${1,2}[./A-Za-z0-9]{53}"),
    _rule("password-hash", "$1$ $y$ $gy$ $apr1$ $sha1$ $md5$", r"\$(?:[156y7]|gy|apr1|sha1|md5)\$(?:rounds=\d{1,9}\$|j[./A-Za-z0-9]{1,8}\$)?[./A-Za-z0-9]{1,64}\$[./A-Za-z0-9]{20,128}"),
    _rule("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[a-z0-9=,$]{1,64}\$[A-Za-z0-9+/]{8,128}\$[A-Za-z0-9+/]{16,256}"),
    _rule("password-hash", "$P$ $H$ $S$", r"\$(?:[PH]\$[./A-Za-z0-9]{31}|S\$[./A-Za-z0-9]{52})(?![./A-Za-z0-9])"),
    _rule("password-hash", "$krb5", r"\$krb5(?:tgs|asrep|pa)\$[^\s\"']{40,4000}"),
    _rule("password-hash", "pbkdf2_sha pbkdf2:sha bcrypt_sha scrypt$ scrypt:", r"(?:pbkdf2[_:]sha(?:1|256|512)|bcrypt_sha256|scrypt)[$:][0-9a-z$:]{1,24}\$?[\w./+$]{6,64}\$[\w./+=$]{27,128}"),
    _rule("password-hash", "SCRAM-SHA-256$", r"SCRAM-SHA-256\$\d{4,6}:[A-Za-z0-9+/]{16,64}={0,2}\$[A-Za-z0-9+/]{27,88}={0,2}:[A-Za-z0-9+/]{27,88}={0,2}"),
    _rule("password-hash", "{ssha {sha {smd5} {md5} {crypt} {pbkdf2", r"(?i)\{(?:s?sha(?:256|384|512)?|s?md5|crypt|pbkdf2[\w\-]{0,12})\}([a-z0-9+/$.=]{20,256})", 1),
    _rule("password-hash", ":::", r":([0-9a-f]{32}:[0-9a-f]{32}):::", 1, back=66),
)  # fmt: skip


def _place(kind: str, anchors: str, source: str, check: str = "filled", back: int = 0) -> Rule:
    return Rule(kind, tuple(anchors.split("|")), LazyRegex(f"(?i){source}"), 1, check, back)


# What stands beside a secret in settings and commands.
PLACES: tuple[Rule, ...] = (
    _place("secret", "secret |secrets |secret:|secrets:", r"""secrets?[ :](?:set|add|create|put|update|import) [^\n]{0,100}?(?:(?:--body|--data|--value|-b)[ =]|\w=)["']?([^\s"']{6,512})""", "made"),
    _place("secret", "--from-literal", r"""--from-literal[= ]["']?[\w.\-]{1,64}=["']?([^\s"',]{5,512})""", "made"),
    _place("secret", "vault kv put|vault write", r"""vault (?:kv put|write) [^\s=]{1,200}(?:\s[\w.\-]{1,64}=@\S{1,200}){0,4}\s[\w.\-]{1,64}=["']?([^\s"'@]{4,512})""", "made"),
    _place("password", "identified ", r"""identified (?:with [\w"'`]{1,40} )?by\s{1,4}\\{0,8}["']([^"'\n\\]{4,128})"""),
    _place("password", " pass:", r""" pass:([^\s"'\\,;]{4,256})"""),
    # `echo SECRET | sudo -S ...`: a secret for the program that reads it.
    _place("password", "echo |printf ", r"""(?:echo|printf)\s{1,3}(?:-[ne]{1,2}\s{1,3})?(?:\\{0,4}["']?%s(?:\\{1,4}n)?\\{0,4}["']?\s)?\\{0,4}["']?([^\s"'|\\$]{4,512})(?:\\{1,4}n)?\\{0,4}["']?\s{0,3}\|\s{0,3}[^|\n]{0,120}?(?:password-stdin|sudo -s|passwd|cryptsetup|secrets? (?:create|set|put|add)|passphrase-fd|kinit)"""),
    _place("password", "login: |login -> |admin / |root / ", r"""(?:login(?::| ->) \S{2,64}|\b(?:admin|root)) / (\S{5,64})""", "made"),
    _place("password", "pin |pin:", r"""\b(?:(?-i:PIN)(?: code)?:?|pin(?: code)?(?: (?:for|für|of) [\w' ]{1,40}?)? (?:is|ist)) (\d{4,8})(?![\w.])""", ""),
    _place("password", "@tcp(|@unix(", r"""[\w.\-]{1,64}:([^\s:/@"'`]{3,128})@(?:tcp|unix)\(""", back=194),
    _place("password", ":5432:|:*:", r"""(?:^|(?<=\n))[ \t+\-0-9→|]{0,24}[\w.*\-]{1,100}:(?:\d{4}|\*):[\w*\-]{1,64}:[\w*\-.@]{1,64}:([^\s:"']{4,256})(?=\s|$)""", back=124),
    _place("password", ":thin:", r""":thin:[a-z][\w$#]{0,40}/\\{0,4}["']?([^\s/@"'\\]{3,128})\\{0,4}["']?@"""),
    _place("password", "securestring ", r"""securestring (?:-string )?\s{0,3}\\{0,4}["']([^"'\n\\]{4,200})["'\\]{1,5}[^\n]{0,40}-asplaintext"""),
    _place("password", " : eap | : xauth | : psk ", r""" : (?:eap|xauth|psk) \\{0,4}"([^\s"\\]{4,128})"""),
    _place("cookie", "\ttrue\t|\tfalse\t", r"""\t(?:true|false)\t/[^\s]{0,99}\t(?:true|false)\t\d{1,12}\t\S{1,64}\t(\S{16,4096})""", "random"),
    _place("password", "wifi:", r"wifi:[^\n]{0,120}?;p:([^;\n]{4,64});"),
    _place("secret", "community ", r"""community ([^\s"']{4,64}) (?:r[ow](?![a-z])|authorization read)"""),
    # The password among the arguments of a call that connects or logs in.
    _place("password", "login(|connect(|connection(|begin(", r"""(?:login|connect|connection|begin)\((?:\s{0,2}[^()"'\n,]{1,80},|\s{0,2}\\{0,4}["'][^"'\n]{0,200}\\{0,4}["'],){1,3}\s{0,2}\\{0,4}["']([^"'\s\\]{5,128})\\{0,4}["']""", "made"),
    _place("password", "pdo(|pdo->__construct(|mysqli(|mysqli_connect(", r"""(?:pdo(?:->__construct)?|mysqli(?:_connect)?)\((?:\s{0,4}[^,\n]{1,200},){2}\s{0,4}\\{0,4}["']([^"'\n\\]{4,128})\\{0,4}["']"""),
    _place("password", "key content", r"""key content\s{1,24}: (\S[^\n]{7,62})"""),
    _place("password", "assword:", r"""assword:[*? ]{0,3}["'][\s;]{1,8}send (?:-- )?\\{0,4}["'](?!\$)([^"'\n\\]{3,64})\\{1,4}r"""),
    # Without a space after it, the -p of mysql takes no value: what follows is the database.
    _place("password", " -p ", r"""(?:^|[\n|;&$#>] ?)(?!mysql|maria)[a-z][^\n|;&]{0,99} -u ?[\w.@\-]{1,64} -p ["']?(?![^\s"']*\.(?:txt|lst))((?=[^"'\s]*[a-z])[^\s"'/:;|&<>$-][^\s"'/:;|&<>$]{3,128})""", back=180),
    _place("password", "isakmp key |tacacs-server |radius-server ", r"""(?:isakmp|(?:tacacs|radius)-server(?: host [^\n]{1,60}?)?) key (?:[05-9] )?([^\s"'\\]{4,128})"""),
    _place("password", "insecure-password ", r"""insecure-password (\S{4,128})"""),
    _place("secret", "sensitive", r"""sensitive\\{0,8}["']\s?:\s?true,\s{0,40}\\{0,8}["']type\\{0,8}["']:\s?\\{0,8}["']string\\{0,8}["'],\s{0,40}\\{0,8}["']value\\{0,8}["']:\s?\\{0,8}["']([^"'\\]{4,4096})"""),
    _place("password", "echo |printf ", r"""pass[\w\-]{0,24}[= ](?:<\(|["'])(?:echo|printf) ([^\s"')$]{4,128})""", back=48),
    # The settings of switches and routers: the figure says how the rest is encoded.
    _place("password", "password 0 |secret 0 |key 0 ", r"""(?:username \S{1,64}(?: privilege \d{1,2})?|enable|host \S{1,64}|server|\n) (?:password|secret|key) [05-9] ([^\s"'\\]{4,256})""", back=120),
)  # fmt: skip
