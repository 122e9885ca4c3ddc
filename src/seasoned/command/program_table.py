"""Groups of programs that several rules share, and the patterns that rows of the table refer to."""

from __future__ import annotations

# fmt: off
GROUPS = {
    # What reads commands from text, and what reads code of any language.
    "shells": "sh bash zsh dash ksh fish ash busybox rbash",
    "interpreters":
        "sh bash zsh dash ksh fish ash busybox rbash python python2 python3 perl ruby node bun deno php source . eval "
        "iex",
    # Interpreters that take code as an argument (`python -c`, `node -e`).
    "code_programs":
        "python python2 python3 perl ruby node bun deno php pypy pypy3 ipython lua luajit R Rscript julia elixir "
        "groovy tclsh emacs osascript awk gawk mawk nawk go tsx ts-node swift jshell scala kotlin vim nvim vi",
    # Programs that take a command behind `-c`.
    "command_takers": "su script runuser flock watch wsl cmd powershell pwsh expect npx npm pnpm yarn",
    # Programs that run what they are given as input, in a language of their own.
    "input_runners": "at batch crontab tclsh expect ed ex gdb lldb make gmake parallel xargs",
    # Programs whose arguments in quotes are sentences, patterns, code or SQL, and no commands.
    "text_takers":
        "git gh glab hub claude codex gemini hermes seasoned curl wget http pytest logger say notify-send wall "
        "apply_patch rtk bd linear jira npm yarn pnpm bun node deno python python3 ruby perl php psql mysql sqlite3 "
        "mongosh redis-cli man tldr help which whereis type brew apt apt-get pip pip3 uv cargo go aws gcloud az for "
        "case select pkill pgrep killall export local declare alias sed awk gawk ssh",
    "downloads": "curl wget fetch aria2c lynx http https xh",
    "databases":
        "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse sqlcmd cockroach mongo mongosh bq "
        "snowsql cqlsh pgcli mycli litecli usql sqlplus db2 trino presto spanner-cli beeline hive impala-shell osql "
        "isql surreal cypher-shell",
    # Programs that change the schema of a database, or all of it.
    "migrators":
        "manage.py django-admin rails rake sequelize sequelize-cli typeorm mikro-orm artisan mix alembic aerich flask "
        "prisma flyway liquibase knex migrate-mongo node-pg-migrate db-migrate umzug drizzle-kit goose dbmate migrate "
        "sql-migrate tern atlas skeema sqitch yoyo sqlx diesel hasura dotnet dotnet-ef supabase",
    # Tools of clouds, clusters and services that others use too: the words of a command say what it does.
    "clouds":
        "aws gcloud gsutil az azd doctl linode-cli hcloud vultr-cli scw ibmcloud oci exo civo equinix metal eksctl "
        "kops bq fly flyctl heroku railway render netlify ntl vercel vc now firebase wrangler dokku s3cmd mc rclone "
        "b2 azcopy s5cmd swift kubectl oc k helm helmfile terraform tofu terragrunt pulumi cdk cdktf sam serverless "
        "sls copilot eb ecs-cli argocd consul etcdctl lxc incus virsh op doppler infisical stripe nomad snowsql",
    # The same of servers for such tools: `mcp__k8s__delete_resource`.
    "cloud_servers":
        "k8s kubernetes kubectl helm aws gcp gcloud azure az terraform tf tofu pulumi cloud cloudflare vercel netlify "
        "heroku fly railway digitalocean docker db database postgres postgresql mysql mongo mongodb redis supabase "
        "snowflake bigquery infra ops prod production vault iam",
    "task_runners":
        "npm pnpm yarn bun make gmake just task mise rake invoke inv nox tox turbo nx composer gradle gradlew mvn ant "
        "hatch",
    # Programs that run the command behind their options. Which word begins it differs from program to program.
    "wrappers":
        "sudo doas su sshpass setsid ionice chrt taskset busybox parallel watch caffeinate unshare nsenter chroot "
        "strace ltrace gdb script flock systemd-run chronic pkexec runuser run0 gosu proot firejail bwrap entr "
        "xargs time nice env timeout docker podman nerdctl docker-compose podman-compose kubectl stdbuf nohup exec "
        "command systemd-inhibit heroku fly flyctl dotenv direnv doppler aws-vault chamber op infisical rtk arch "
        "linux32 linux64 faketime fakeroot unbuffer winpty coproc oc case ld.so ld-linux-x86-64.so.2 "
        "ld-linux-aarch64.so.1 ld-musl-x86_64.so.1",
    # Wrappers that do so only after a word such as `run` or `exec`.
    "containers":
        "docker podman nerdctl docker-compose podman-compose kubectl oc heroku fly flyctl doppler op infisical",
    # Programs that only look, and the subcommands of git that do.
    "looks":
        "cat ls rg grep egrep fgrep ag ack head tail less more nl wc sort uniq find fd tree stat file du df diff jq "
        "ps",
    "git_looks": "status diff log show branch rev-parse ls-files ls-tree cat-file blame reflog remote describe",
    # Programs whose arguments are not orders to them: rules for any program leave them alone.
    "readers":
        "grep egrep fgrep rg ag ack cat ls head tail less more nl wc sort uniq find fd tree stat file du df diff jq "
        "yq echo printf awk gawk sed cut tr test [ [[ which type man git cd pwd touch mkdir cp mv pytest ruff mypy "
        "tsc eslint",
    # More that only read the files they are given, for rules that let nothing else pass.
    "reading":
        "bat zcat gzcat od hexdump strings md5 md5sum sha1sum sha256sum shasum cmp comm column paste fold basename "
        "dirname realpath readlink xmllint whereis egrep tac nl less more view cksum b2sum jless fx gron exit true "
        "false set source . json.tool tree eza exa lsof ps pgrep sleep wait export local declare read seq date pwd "
        "env printenv type hash command uptime free w who whoami hostname uname nproc htop iostat vmstat netstat ss "
        "dmesg last journalctl lsblk id",
    # Programs that write to the files they are given.
    "writers": "tee cp mv install ln sed perl truncate rm vi vim nano ed ex dd unlink chmod chown",
    # What kind of work a program is (task types).
    "code":
        "python python2 python3 pypy node deno bun ruby perl php java javac kotlinc scala go cargo rustc gcc g++ "
        "clang clang++ cc c++ ld make cmake ninja meson bazel gradle gradlew mvn mvnw ant sbt dotnet swift swiftc "
        "xcodebuild npm pnpm yarn npx bunx tsc tsx ts-node eslint biome prettier jest vitest mocha playwright cypress "
        "pytest py.test unittest tox nox ruff mypy pyright black isort flake8 pylint pip pip3 uv poetry conda git gh "
        "hg svn docker docker-compose podman kubectl helm terraform golangci-lint gofmt goimports shellcheck mise "
        "just task pre-commit sqlite3 psql mysql bash sh zsh source . gdb lldb valgrind strace R Rscript julia elixir "
        "mix rebar3 ghc cabal stack zig nim lua luajit composer phpunit rspec bundle rake flutter dart phpstan hatch",
    "file":
        "cat ls rg grep egrep fgrep ag ack sed awk gawk find fd cp mv rm rmdir mkdir touch head tail less more nl wc "
        "sort uniq cut tr tee diff cmp comm stat file du df tree chmod chown ln tar zip unzip gzip gunzip zcat xxd "
        "hexdump strings basename dirname realpath readlink md5 md5sum sha256sum shasum rsync jq yq column paste "
        "split truncate bat open dd od cd pushd test [ [[ pwd xmllint apply_patch",
    "research": "curl wget http https httpie lynx w3m links elinks web xh aria2c yt-dlp websearch",
    # First words of tools that only look.
    "looking":
        "get list read search fetch describe find show view count check export download retrieve explain lookup "
        "watch tail ls grep glob cat inspect browse preview validate lint test plan diff status whoami history "
        "query select estimate suggest summarize analyze calculate is has can simulate dry draft compare logs log "
        "top info version help ps",
    # First words that do not act by themselves but may start something: no action, and yet not an example of their own.
    "asking": "request ask wait open",
}
PATTERNS = {
    # It only shows how it is used. `-h` counts at the end alone, for elsewhere it names a host.
    "help": "(?:^| )--help(?= |$)|(?:^| )-h$|^help(?= |$)|^(?:--version|-V|version)$",
    "dry_run": "(?:^| )--(?:dry-?run(?!=none|=false)|dryrun|dry|check|plan|simulate)(?= |=|$)",
    # Arguments that name a place other than production, and production nowhere.
    "development":
        "(?:^| )--local(?= |$)|^(?!.*prod).*(?:^| )(?:--(?:kube-)?context|--namespace|-n|--kubeconfig|--stage|--env"
        "|--environment|-e|-a|--app|-c|--config|--profile|-d|-r|--remote|--target|-i)[ =](?:[^ ]*[-_./:])?(?:minikube"
        "|kind|k3d|docker-desktop|colima|rancher-desktop|dev|develop|development|test|testing|staging|stage|local"
        r"|sandbox|preview|qa|ci|e2e)(?:[-_./:\d][^ ]*)?(?= |$)",
    "not_run": "{dry_run}|{help}",
    "deploys":
        r"(?:^| )(?:(?!\S*{not_users})\S*[-_:./])?(?:deploy|ship|rollout|promote)(?!\w*\.)"
        r"(?:[-_:](?!{not_users})\S*)?(?= |$)",
    "not_users": "(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa|demo|dry)",
    "main_branches": r"(?:main|master|trunk|develop|production|prod|stable|release\S*|HEAD)",
    "stripe_resources":
        "payouts|transfers|charges|refunds|payment_intents|topups|subscriptions|invoices|checkout/sessions"
        r"|setup_intents|customers/\S+/balance",
    "paying_hosts":
        r"api\.stripe\.com/v\d/(?:{stripe_resources})|api(?:-m)?\.paypal\.com|api\.wise\.com"
        r"|api\.transferwise\.com|connect\.squareup\.com|api\.(?:mollie|razorpay|gocardless|dwolla|moderntreasury"
        "|mercury|revolut|adyen|checkout|paystack|flutterwave|coinbase|kraken|binance|bitstamp|gemini"
        r"|braintreegateway|payoneer|plaid|lithic|column|increase|brex|ramp|xendit|bitfinex|circle)\.(?:com|co"
        r"|io)|[\w-]{1,60}\.adyen\w{0,20}\.com|b2b\.revolut\.com|production\.plaid\.com"
        r"|api\.braintreegateway\.com|/(?:v\d+/)?(?:payouts?|transfers?|withdrawals?|wire[-_]transfers?|refunds?"
        r"""|payments?)(?=[/?\s'\"]|$)""",
}
