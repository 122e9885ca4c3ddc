"""Rows for who may do what: rights, users, keys and secrets, money."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, TRIES, any_of, first, row

_RIGHTS = "changes who may do what"
_KEYS = "replaces or deletes a key or secret that others rely on"
_MONEY = "moves money"
_SECRET_NOUN = r"(?:secrets?|serviceaccounts?/token|certificatesigningrequests?|csr)"

RIGHT = (
    row(
        "users",
        "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd visudo vipw vigr"
        " chsh dscl sysadminctl dseditgroup newusers",
        "modify_permissions",
        "changes users of the machine",
        r"\S|^$",
        ASKS + r"|^\. -(?:read|list)|-c$",
    ),
    row(
        "setfacl",
        "setfacl setcap setenforce semanage setsebool chcon restorecon aa-disable aa-complain",
        "modify_permissions",
        _RIGHTS,
        r"\S",
        ASKS + r"|(?:^| )-l(?= |$)",
    ),
    row(
        "Windows",
        "icacls takeown cacls Set-Acl Set-ExecutionPolicy Add-LocalGroupMember New-LocalUser Remove-LocalUser"
        " Set-LocalUser",
        "modify_permissions",
        _RIGHTS,
        r"\S",
        r"^\S+$",
    ),
    row(
        "Windows",
        "net net.exe",
        "modify_permissions",
        _RIGHTS,
        r"(?i)^(?:user|localgroup|group)\b.* /(?:add|delete|active)",
    ),
    row("sudoers", "sudoedit", "modify_permissions", _RIGHTS, r"\S"),
    row(
        "chattr",
        "chattr chflags",
        "modify_permissions",
        _RIGHTS,
        r"(?:^| )(?:[-+=]\w*[ia]\w*|\w*schg\w*|\w*uchg\w*)(?= )",
    ),
    row(
        "firewall",
        "iptables ip6tables nft ufw firewall-cmd pfctl netsh",
        "modify_permissions",
        "changes the firewall",
        r"\S",
        r"^(?:-L|-S|--list\S*|list|status|show|-s|app list|.* show)\b|(?:^| )-\w*L\w*(?= |$)|" + ASKS,
    ),
    row(
        "aws iam",
        "aws",
        "modify_permissions",
        _RIGHTS,
        r"^(?:iam (?:attach|detach|put|add|remove|create|delete|update|set|tag|untag)-(?!access-key|login-profile"
        r"|ssh|server-cert|signing)\S+"
        r"|s3api put-(?:bucket-(?:acl|policy|ownership\S*|public\S*)|public-access-block|object-acl)"
        r"|organizations (?:attach|detach|create|remove)-\S+"
        r"|ec2 (?:authorize|revoke)-security-group-\S+|lambda (?:add|remove)-permission|kms (?:put-key-policy"
        r"|create-grant|revoke-grant)"
        r"|sso-admin \S+|s3control put-\S+|ecr set-repository-policy|cognito-idp admin-\S+|secretsmanager"
        r" put-resource-policy)",
        TRIES,
    ),
    row(
        "gcloud iam",
        "gcloud",
        "modify_permissions",
        _RIGHTS,
        r"(?:^| )(?:\S*(?:add|remove|set)-iam-policy\S*|iam (?:roles|service-accounts) (?:create|delete|update"
        r"|enable|disable|undelete)"
        r"|firewall-rules (?:create|update|delete))(?= |$)",
    ),
    row("gsutil iam", "gsutil", "modify_permissions", _RIGHTS, r"(?:^| )(?:iam|acl|defacl) (?:ch|set)(?= |$)"),
    row(
        "az role",
        "az",
        "modify_permissions",
        _RIGHTS,
        r"^(?:role (?:assignment|definition) (?:create|delete|update)|ad (?:user|group|app|sp)\b.*\b(?:create"
        r"|delete|add|remove|update)"
        r"|network nsg rule (?:create|delete|update)|keyvault (?:set-policy|delete-policy))",
    ),
    row(
        "kubernetes roles",
        "kubectl oc k",
        "modify_permissions",
        _RIGHTS,
        r"^(?:create|delete|edit|patch|apply|replace) .*\b(?:role|clusterrole|rolebinding|clusterrolebinding"
        r"|serviceaccount|sa)s?(?=[ /]|$)"
        r"|^auth reconcile|^certificate (?:approve|deny)|^adm policy|^policy add",
        TRIES,
    ),
    row(
        "seasoned",
        "seasoned",
        "modify_permissions",
        "changes who guards agents, or starts one when nobody looks",
        r"^(?:cron (?:add|resume|run)|connect\b.* --undo|confirm (?:token|allow|policy)|gateway key)(?= |$)",
        rf"^(?:confirm (?:token|allow|policy)|gateway key) (?:list|show|check)(?= |$)|{ASKS}",
    ),
    row(
        "hermes",
        "hermes",
        "modify_permissions",
        "changes who guards agents, or starts one when nobody looks",
        r"^(?:plugins (?:disable|remove|uninstall)|config (?:set|unset) (?:plugins|approvals)"
        r"|seasoned (?:cron (?:add|resume|run)|connect\b.* --undo|confirm|gateway key|forget"
        r"|(?:memory|skill) accept))(?=[ .]|$)",
        rf"^seasoned confirm (?:\w+ )?(?:list|show|check|audit|verify|head|submit|wait)(?= |$)|{ASKS}",
    ),
    row(
        "hosted rights",
        "gh glab",
        "modify_permissions",
        _RIGHTS,
        r"^(?:repo edit\b.* --visibility|repo deploy-key (?:add|delete)|ssh-key (?:add|delete)|gpg-key (?:add"
        r"|delete)|ruleset (?:create|edit)|auth refresh\b.*-s|pr merge\b.* --admin(?= |$))"
        r"|^api\b(?=.*(?:-X|--method)[ =]?(?:PUT|POST|PATCH))(?=.*(?:collaborators|memberships|protection"
        r"|permissions|teams))",
    ),
    row(
        "npm rights",
        "npm yarn pnpm",
        "modify_permissions",
        _RIGHTS,
        r"^(?:npm )?(?:owner (?:add|rm)|access (?:grant|revoke|public|restricted|set)|team|profile set)",
    ),
    row("package owners", "gem cargo", "modify_permissions", _RIGHTS, r"^owner\b.*(?:--add|--remove|-a |-r )"),
    row(
        "vault policy",
        "vault bao",
        "modify_permissions",
        _RIGHTS,
        r"^(?:policy (?:write|delete)|auth (?:enable|disable|tune)|write (?:-f )?(?:auth|identity|sys)/)",
    ),
    row(
        "ssh-copy-id",
        "ssh-copy-id",
        "modify_permissions",
        "lets a key in on another machine",
        r"\S",
        ASKS + r"|(?:^| )-n(?= |$)",
    ),
    row(
        "heroku access",
        "heroku",
        "modify_permissions",
        _RIGHTS,
        first("access:add access:remove access:update members:add members:remove members:set"),
    ),
    row(
        "own policy",
        "seasoned",
        "modify_permissions",
        "decides or changes what a person must decide",
        r"^confirm (?:approve|deny|allow|token|passphrase|policy)(?= |$)|^confirm serve\b.* --policy(?= |=)"
        r"|^(?:memory|skill) accept(?= |$)",
        ASKS + r"|^confirm (?:allow|token|passphrase|policy) (?:list|check|show)(?= |$)",
    ),
)
KEY = (
    row(
        "passwd",
        "passwd chpasswd smbpasswd htpasswd kpasswd ldappasswd",
        "rotate_keys",
        "changes a password",
        r"\S|^$",
        ASKS + r"|(?:^| )(?:-S|--status|-n\w*|-nb\w*)(?= |$)",
    ),
    row(
        "aws keys",
        "aws",
        "rotate_keys",
        _KEYS,
        r"^(?:iam (?:create|delete|update)-(?:access-key|login-profile|ssh-public-key|server-certificate"
        r"|signing-certificate)"
        r"|iam (?:reset|change)-\S+|secretsmanager (?:rotate|put|update|delete|restore|create)-secret\S*"
        r"|kms (?:schedule-key-deletion|disable-key\S*|enable-key-rotation|rotate-\S+|delete-\S+|import-key\S*)"
        r"|ssm (?:put|delete)-parameters?|acm (?:delete|import)-certificate|ec2 (?:create|delete|import)-key-pair)",
        TRIES,
    ),
    row(
        "gcloud keys",
        "gcloud",
        "rotate_keys",
        _KEYS,
        r"(?:^| )(?:service-accounts keys (?:create|delete|upload|disable)|secrets (?:create|delete|update"
        r"|versions (?:add|destroy|disable))"
        r"|kms keys\b.*\b(?:create|destroy|disable|update|rotate|set-primary-version)|auth revoke)(?= |$)",
    ),
    row(
        "az keys",
        "az",
        "rotate_keys",
        _KEYS,
        r"^(?:keyvault (?:secret|key|certificate) (?:set|delete|purge|rotate|create|import|recover)|ad (?:sp|app)"
        r" credential (?:reset|delete)"
        r"|storage account keys renew|keyvault (?:delete|purge)|aks rotate-certs|cognitiveservices account keys"
        r" regenerate)",
    ),
    row("hosted secrets", "gh glab", "rotate_keys", _KEYS, r"^(?:secret|variable) (?:set|delete|remove)(?= |$)"),
    row(
        "platform secrets",
        "fly flyctl wrangler vercel netlify doppler railway infisical supabase heroku",
        "rotate_keys",
        _KEYS,
        r"^(?:secrets? (?:set|unset|put|delete|import|bulk|upload|deploy)|env (?:add|rm|remove)|env:(?:set|unset"
        r"|import)|variables? (?:set|delete|--set)"
        r"|pg:credentials:rotate|authorizations:(?:rotate|revoke)|configs? tokens revoke)(?= |$)",
        ASKS,
    ),
    row(
        "kubernetes secrets",
        "kubectl oc k",
        "rotate_keys",
        _KEYS,
        rf"^(?:create|delete|edit|patch|replace|apply) (?:-\S+ \S+ )*{_SECRET_NOUN}(?=[ /]|$)",
        TRIES,
    ),
    row(
        "vault",
        "vault bao",
        "rotate_keys",
        _KEYS,
        r"^(?:operator (?:rekey|rotate|init|seal|step-down|generate-root|key-status)|token (?:revoke|create"
        r"|renew)|lease revoke|secrets (?:disable|move|enable)"
        r"|kv (?:put|patch|delete|destroy|metadata delete|rollback|undelete)|write\b.*rotate|delete|put|write"
        r" (?:-f )?\S*(?:root|config|keys))(?= |$|/)",
        r"^operator key-status",
    ),
    row(
        "gpg",
        "gpg gpg2",
        "rotate_keys",
        _KEYS,
        r"--(?:delete-(?:secret-)?(?:and-public-)?keys?|gen(?:erate)?-key|full-gen\S*|quick-(?:gen\S*|add\S*"
        r"|rev\S*|set\S*)|gen-revoke|generate-revocation"
        r"|edit-key|change-pass\S*|passwd|send-keys?|import-ownertrust|delete-secret\S*)(?= |=|$)",
    ),
    row(
        "certificates",
        "certbot acme.sh lego kubeadm cfssl step",
        "rotate_keys",
        _KEYS,
        r"(?:^| )(?:renew|revoke|delete|certonly|run|--renew(?:-all)?|--revoke|--issue|certs renew|rekey"
        r"|rotate)(?= |$)",
        TRIES + "|" + ASKS + r"|check-expiration",
    ),
    row(
        "keytool",
        "keytool",
        "rotate_keys",
        _KEYS,
        r"(?i)-(?:genkey\S*|delete|importkeystore|storepasswd|keypasswd|changealias)(?= |$)",
    ),
    row("sops", "sops age", "rotate_keys", _KEYS, r"^(?:rotate|updatekeys|(?:.* )?-r)(?= |$)"),
    row("npm token", "npm yarn pnpm", "rotate_keys", _KEYS, r"^(?:npm )?token (?:create|revoke|delete)"),
    row("security", "security", "rotate_keys", _KEYS, r"^(?:delete|set|add)-\S+"),
    row(
        "password store",
        "op bw pass gopass",
        "rotate_keys",
        _KEYS,
        r"^(?:item (?:edit|delete|create)|edit|delete|rm|generate|insert|document (?:edit|delete))(?= |$)",
    ),
)
_STRIPE = r"payouts|transfers|charges|refunds|payment_intents|topups|subscriptions|invoices|checkout/sessions"
r"|setup_intents|customers/\S+/balance"
PAYING_HOSTS = (
    rf"api\.stripe\.com/v\d/(?:{_STRIPE})|api(?:-m)?\.paypal\.com|api\.wise\.com|api\.transferwise\.com"
    rf"|connect\.squareup\.com"
    r"|api\.(?:mollie|razorpay|gocardless|dwolla|moderntreasury|mercury|revolut|adyen|checkout|paystack"
    r"|flutterwave|coinbase|kraken|binance|bitstamp"
    r"|gemini|braintreegateway|payoneer|plaid|lithic|column|increase|brex|ramp|xendit|bitfinex|circle)\.(?:com|co|io)"
    r"|[\w-]{1,60}\.adyen\w{0,20}\.com|b2b\.revolut\.com|production\.plaid\.com|api\.braintreegateway\.com"
    r"|/(?:v\d+/)?(?:payouts?|transfers?|withdrawals?|wire[-_]transfers?|refunds?|payments?)(?=[/?\s'\"]|$)"
)
MONEY = (
    row(
        "stripe",
        "stripe",
        "transfer_funds",
        _MONEY,
        r"^(?:(?:payouts|transfers|charges|refunds|payment_intents|topups|invoices|subscriptions) (?:create"
        r"|confirm|capture|pay|reverse|cancel|update)"
        rf"|post /?v\d/(?:{_STRIPE})|delete )(?= |$|\S)",
        r"sk_test_|rk_test_|^trigger ",
    ),
    row(
        "bitcoin",
        "bitcoin-cli litecoin-cli dogecoin-cli zcash-cli elements-cli",
        "transfer_funds",
        _MONEY,
        any_of("sendtoaddress sendmany send sendall sendrawtransaction sendfrom z_sendmany"),
        r"-(?:regtest|testnet|signet)",
    ),
    row(
        "lightning",
        "lncli lightning-cli",
        "transfer_funds",
        _MONEY,
        any_of("sendpayment payinvoice sendcoins pay keysend withdraw closechannel xpay"),
        r"regtest|testnet",
    ),
    row(
        "ethereum",
        "cast near solana spl-token aptos sui gaiad wallet-cli monero-wallet-cli flow starkli tezos-client"
        " octez-client",
        "transfer_funds",
        _MONEY,
        any_of("send transfer send-money pay publish bank approve"),
        r"(?:localhost|127\.0\.0\.1|devnet|testnet|sepolia)|" + ASKS,
    ),
    row(
        "payment request",
        "curl",
        "transfer_funds",
        _MONEY,
        rf"^(?=.*(?:{PAYING_HOSTS}))(?=.*(?:(?:-X ?|--request[ =])(?:POST|PUT|PATCH|DELETE)|(?:^|"
        rf" )(?:-[a-zA-Z]*[dFT]|--data\S*|--form\S*|--json|--upload-file|-d\S+)(?= |=|$|\S)))",
        r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/])|(?:^| )(?:-G|--get)(?= |$)",
    ),
    row(
        "payment request",
        "wget http https xh httpie hurl",
        "transfer_funds",
        _MONEY,
        rf"^(?=.*(?:{PAYING_HOSTS}))(?=.*(?:--(?:post|body|method)|(?:^| )(?:POST|PUT|PATCH|DELETE)(?= )|\w+:?=\S))",
        r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|(?:^| ):\d+)(?=[:/])|(?:^| )GET(?= )",
    ),
)
