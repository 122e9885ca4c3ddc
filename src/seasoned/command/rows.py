"""The tables that rules share: what a row is, groups of programs, patterns, and the tools of agents.

The commands that do harm are in `danger_table.py`.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

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
        "sls copilot eb ecs-cli argocd consul etcdctl lxc incus virsh op doppler infisical stripe nomad snowsql "
        "pscale turso neonctl upstash",
    # The same of servers for such tools: `mcp__k8s__delete_resource`.
    "cloud_servers":
        "k8s kubernetes kubectl helm aws gcp gcloud azure az terraform tf tofu pulumi cloud cloudflare vercel netlify "
        "heroku fly railway digitalocean docker db database postgres postgresql mysql mongo mongodb redis supabase "
        "seasoned snowflake bigquery infra ops prod production vault iam",
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
    "agents":
        "claude claude-code codex hermes gemini copilot amp aider cursor-agent opencode qwen goose",
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
    # Variables that say where agents and Seasoned keep their settings.
    "agent_variables":
        r"(?:SEASONED_\w+|(?:CLAUDE|CODEX|GEMINI|QWEN|COPILOT|CURSOR|OPENCODE|HERMES)_\w*(?:HOME|CONFIG|DIR|HOOK)\w*)",
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


_MACRO = re.compile(r"\{([a-z_]+)(?::([^{}]*))?\}")


# fmt: on
class Finding(msgspec.Struct, frozen=True):
    """What a row or a rule found in a command or call; `why` continues a sentence that begins with "it"."""

    action: str
    """Which of the ten actions it needs."""
    why: str
    row: str
    """The name of the row or rule that found it."""


class CommandRow(msgspec.Struct, frozen=True):
    """One way in which programs do harm. Without `words` the program itself is enough; `unless` excuses it."""

    name: str
    why: str
    """Continues a sentence that begins with "it"."""
    programs: str
    words: str = ""
    """Searched in the arguments, also from the subcommand on, joined by blanks."""
    unless: str = ""
    action: str = ""
    """Which of the ten actions that need a person."""
    only_elsewhere: bool = False
    """Whether it is everyday work on this machine and in development."""


class NameRow(msgspec.Struct, frozen=True):
    """Words that say what a tool does: those of its name, or of a command of a cloud (`aws rds delete-db-instance`)."""

    action: str
    why: str
    verbs: frozenset[str]
    things: frozenset[str]
    """One of these must be named too; without any, the verb is enough."""
    alone: frozenset[str]
    """Verbs that need no thing in a cloud, where everything belongs to others too."""
    unless: frozenset[str]


@cache
def group(name: str) -> frozenset[str]:
    """The programs of a group, or the words of one."""
    return frozenset(GROUPS[name].split())


@cache
def regex(pattern: str) -> re.Pattern[str]:
    """A pattern of the table with its macros written out, compiled when it is first needed."""
    before = ""
    while before != pattern:
        before, pattern = pattern, _MACRO.sub(_written_out, pattern)
    return re.compile(pattern)


def _written_out(found: re.Match[str]) -> str:
    """What a macro stands for: `{first:up down}`, `{any:up down}`, `{help}`."""
    name, argument = found.groups()
    if argument is None:
        return PATTERNS[name]
    listed = "|".join(argument.split())
    forms = {
        "first": f"^(?:{listed})(?= |$)",  # one of these as the first argument
        "any": f"(?:^| )(?:{listed})(?= |$)",  # one of these anywhere
    }
    return forms[name]


def only_looks(program: str, sub: str = "") -> bool:
    """Whether a program only shows what is there; for git its subcommand decides."""
    return program in group("looks") or (program == "git" and sub in group("git_looks"))


def _names(action: str, why: str, *, verbs: str, things: str = "", alone: str = "", unless: str = "") -> NameRow:
    return NameRow(action, why, *(frozenset(words.split()) for words in (verbs, things, alone, unless)))


_NOT_PRODUCTION = "staging stage dev development preview test testing sandbox local draft dry"
# fmt: off
NAMES = (
    _names("rotate_keys", "replaces or deletes a key or secret",
        verbs="rotate regenerate revoke reset renew delete replace update create set unset put rm remove destroy "
        "disable add import bulk schedule upload purge",
        things="key keys secret secrets secretsmanager keyvault kms credential credentials token tokens certificate "
        "certificates cert csr password apikey passphrase"),
    _names("publish_package", "publishes to everyone",
        verbs="publish unpublish release",
        things="package packages release npm crate gem image version pypi docker artifact app extension library"),
    _names("wipe_database", "empties or drops a database",
        verbs="drop wipe truncate flush destroy purge reset erase empty clear delete rm flushall flushdb",
        things="database databases db table tables schema collections keyspace redis flushall flushdb rds dynamodb "
        "redshift elasticache sql spanner bigtable firestore alloydb pg postgres mysql mongo dataset",
        alone="flushall flushdb"),
    _names("migrate_database", "changes the schema of a database",
        verbs="migrate migration migrations rollback apply run alter",
        things="database db schema migration migrations table"),
    _names("transfer_funds", "moves money",
        verbs="transfer send pay wire withdraw payout refund charge create issue move submit capture confirm "
        "place execute",
        things="funds money payment payments payout payouts refund refunds transfer transfers charge charges invoice "
        "topups usd eur btc eth crypto wire withdrawal balance"),
    _names("modify_permissions", "changes who may do what",
        verbs="grant revoke modify change update set add remove assign attach detach edit invite make promote create "
        "delete put patch apply replace enable disable",
        things="permission permissions role roles rolebinding clusterrole clusterrolebinding serviceaccount acl policy "
        "access privilege privileges collaborator collaborators admin iam visibility owner rights nsg firewall hook "
        "hooks approval approvals",
        alone="approve allow disable"),
    _names("shutdown_service", "stops something that others may be using",
        verbs="shutdown stop terminate kill restart reboot disable suspend down halt drain cordon deallocate",
        things="service services server servers instance instances cluster vm vms container containers pod pods "
        "deployment machine node host system app application website dyno",
        alone="shutdown stop kill restart reboot suspend drain cordon evict deallocate poweroff"),
    _names("delete_data", "deletes what others may need",
        verbs="delete del remove rm rb destroy purge erase wipe empty bulkdelete truncate terminate undefine uninstall "
        "down prune cancel deregister",
        things="data user users account accounts customer customers record records row rows bucket buckets object "
        "objects repo repository project volume volumes backup backups snapshot snapshots disk page pages "
        "document documents index dataset blob blobs archive namespace everything all workspace contact contacts "
        "email emails events site many bulk collection topic topics queue stack domain domains dns deployment resource",
        alone="delete del remove rm rb destroy purge erase wipe terminate undefine uninstall down"),
    _names("deploy_production", "changes what runs for users",
        verbs="deploy rollout redeploy ship promote",
        alone="deploy rollback promote launch apply upgrade up install replace patch edit set scale autoscale expose "
        "label annotate taint update modify change sync submit import refresh",
        unless=_NOT_PRODUCTION),
    _names("exec_remote", "runs something on another machine",
        verbs="exec execute run ssh invoke send",
        things="remote ssh pod host hosts server instance node ssm ecs vm fleet remotely",
        alone="ssh exec console attach debug rsh"),
)
# The tools of all agents, by kind, form of their output, and whether they are left out of rates.
TOOLS = {
    "terminal shell":
        "bash shell terminal exec_command local_shell local_shell_call container.exec run_shell_command "
        "execute_bash run execute_command run_command run_in_terminal run_terminal_cmd run_terminal_command "
        "terminal_command shell_command powershell cmd command bash_command mswea_bash_command execute_shell exec "
        "unified_exec write_stdin process bashoutput killshell killbash read_bash write_bash stop_bash list_bash "
        "shell_exec shell_view shell_wait cmdrun cmdrunaction monitor developer__shell execute_shell_command "
        "run_terminal_command_v2 get_terminal_output job_output job_kill run_commands bash_tool",
    "code python":
        "execute_code python code_interpreter execute_ipython_cell run_ipython ipython python_exec code_execution "
        "run_python jupyter execute_python python_interpreter repl js_repl code_execution_tool "
        "mcp__ide__executecode",
    "code api":
        "getdiagnostics mcp__ide__getdiagnostics lsp get_errors get_diagnostics codebase_investigator",
    "file file_read":
        "read read_file view open cat_file notebookread read_many_files view_file view_image read_media_file "
        "open_file scroll_up scroll_down goto set_cursors read_notebook read_text_file get_file_contents "
        "read_file_v2 fetch_rules read_files copilot_readfile",
    "file file_write":
        "edit multiedit write notebookedit edit_notebook apply_patch patch write_file replace create create_file "
        "str_replace_editor str_replace_based_edit_tool str_replace str_replace_edit edit_file insert "
        "replace_in_file write_to_file apply_diff delete_file move_file rename_file insert_edit_into_file "
        "search_replace edit_anthropic file_editor undo_edit smart_edit replace_string_in_file strreplace "
        "developer__text_editor text_editor insert_content search_and_replace new_rule edit_file_v2 reapply "
        "multi_replace_string_in_file delete_path move_path copy_path create_directory multi_edit editor",
    "file search":
        "glob grep ls search_files search_file_content grep_search file_search list_directory list_dir ls_dir "
        "search_dir search_file find_file find_files list_files codebase_search semantic_search search_code "
        "find_by_name rg filemap find multi_grep find_path list_code_definition_names ripgrep_raw_search "
        "glob_file_search semsearch sourcegraph finder search_codebase",
    "research web":
        "webfetch websearch web_search web_extract web_fetch web_search_call google_web_search fetch browse "
        "browse_interactive fetch_webpage fetch_url web_crawl x_search mcp__fetch__fetch read_url_content "
        "read_web_page agentic_fetch download codesearch fetch_web_content web.run web.search web.open_url "
        "browser.search browser.open",
    "research api":
        "browser browser_navigate browser_click browser_type browser_snapshot browser_scroll browser_back "
        "browser_press browser_close browser_get_images browser_vision browser_console web_browser_go "
        "web_browser_click web_browser_type web_browser_scroll web_browser_back web_browser_forward "
        "web_browser_refresh web_browser_type_submit vision_analyze video_analyze computer computer_use "
        "browser_action",
    "meta agent":
        "task agent delegate_task spawn_agent send_input wait_agent wait close_agent resume_agent send_message "
        "sendmessage delegate taskoutput taskstop taskget list_agents read_agent explore new_task oracle "
        "runsubagent subagent librarian dynamic_task__create_task",
    "meta meta":
        "skill skill_manage exitplanmode enterplanmode exit_plan_mode think finish submit toolsearch tool_search "
        "slashcommand cronjob croncreate crondelete cronlist schedulewakeup enterworktree exitworktree switch_mode "
        "project_create project_list project_switch text_to_speech image_generate send_file_to_user "
        "pushnotification request_permissions listmcpresourcestool readmcpresourcetool list_mcp_resources "
        "read_mcp_resource sleep attempt_completion plan_mode_respond access_mcp_resource load_mcp_documentation "
        "condense",
    "meta meta trivial":
        "clarify memory fact_store fact_feedback session_search skill_view skills_list todo todowrite todoread "
        "update_plan taskcreate taskupdate tasklist write_todos manage_todo_list update_todo todo_write todo_read "
        "report_intent save_memory ask_user askuserquestion request_user_input ask_followup_question task_tracker "
        "update_todo_list store_memory set_plan todos task_list create_plan "
        # Seasoned's own tools are not experience. Under the name of its MCP server every tool is one of these.
        "warm_session recall request_confirmation confirmation_status wait_confirmation redeem_confirmation",
}
# Under which names agents pass the arguments of the tools that all of them have, the usual ones first.
MEANINGS = {
    "path":
        "file_path path filename notebook_path target_file file filepath filePath relative_path absolute_path "
        "absolutePath TargetFile AbsolutePath dir_path uri relative_workspace_path",
    "old": "old_string old_str old_text search oldText oldString old_source",
    "text": "content file_text contents file_content",
    "folder": "workdir cwd working_directory working_dir dir_path directory",
}
