"""The table of commands: the programs and words by which a command does harm, and what kind of harm it is.

By action and by what is said about it, each row is a name, programs, words and what excuses it; see `rows.py`.
`programs` may name a group (`@task_runners`), words and excuses a pattern (`{help}`). Tools of clouds and clusters are
not here: their own words say what they do (`aws rds delete-db-instance`), as the names of tools do; see `call.py`.
"""

from __future__ import annotations

from functools import cache

from seasoned.command.rows import CommandRow, group

_Row = tuple[str, str, str, str]


def _row(name: str, programs: str, words: str = "", unless: str = "") -> _Row:
    return name, programs, words, unless


# A row takes two lines as it is laid out here, and six if a formatter does it.
# fmt: off
_ANYWHERE: dict[str, dict[str, tuple[_Row, ...]]] = {
    "delete_data": {
        "runs a task that destroys something": (_row("task that destroys", "@task_runners",
            r"(?i)^(?:-\S+ )*(?:run(?:-script)? )?(?:[\w.-]*[:_-])?(?:destroy|teardown|tear-down|nuke|wipe|purge"
            r"|(?<=db:)drop|(?<=db[_-])drop|drop[:_-](?:db|database|all|tables?|schema))(?:[:_-][\w:-]*)?(?= |$)",
            "(?i)(?:cache|build|dist|tmp|temp|test|dev|local|docs?|modules|log|staging|sandbox|preview|artifact"
            "|coverage)|{not_run}|(?:^| )-n(?= |$)"),),
        "deletes backups": (_row("backups", "restic borg duplicity kopia velero wal-g pgbackrest barman tarsnap",
            r"(?:^| )(?:forget|prune|delete|remove-\S+|cleanup|expire|-d)(?= |$)|(?:backup|schedule) delete",
            "{not_run}"),),
        "deletes all scheduled commands": (_row("crontab -r", "crontab", r"(?:^| )-\w*r"),),
        "deletes what a bucket keeps": (_row("sync --delete", "aws gsutil rclone",
            r"^(?:s3 sync\b.* --delete|(?:-m )?rsync\b.* -\w*d\w*|sync|(?:rmdirs|cleanup|deletefile))(?= |$)",
            "{not_run}|--dryrun|rsync .*-n "),),
        "makes a service on another machine delete something": (_row("HTTP DELETE", "curl wget http https xh httpie",
            r"(?:^| )(?:-[a-zA-Z]*X ?|--(?:request|method)[ =])DELETE(?= |$)|^DELETE \S|/_delete_by_query(?=[ ?]|$)",
            r"(?:^| |//|@)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|:\d+)(?=[:/ ]|$)|{help}"),),
        "deletes volumes of every project and their data": (_row("docker volumes", "docker podman nerdctl",
            r"^volume prune\b|^system prune\b.*--volumes|^system reset(?= |$)|^(?:image )?rmi?\b.*\$\("),),
        "deletes what others use": (_row("hosted repository", "gh glab",
            "^(?:repo|release|gist|project|cache|run|codespace|label|issue|variable|ruleset) delete(?= |-)|^repo "
            r"archive|^api\b.*(?:-X|--method)[ =]?DELETE"),),
        "deletes messages or topics that others read": (_row("queues",
            "kafka-topics kafka-topics.sh rabbitmqadmin rabbitmqctl", "{any:--delete delete purge reset}"),),
        "deletes keys of the registry of Windows": (_row("reg delete", "reg", "(?i)^delete "),),
        "erases a disk, a volume or a file system": (
          _row("mkfs", "mkfs mke2fs mkswap newfs wipefs blkdiscard mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs "
            "mkfs.vfat mkfs.ntfs mkfs.fat mkfs.exfat shred srm wipe scrub Format-Volume Clear-Disk vssadmin format "
            "lvremove vgremove pvremove", "", "{help}"),
          _row("partition", "fdisk sfdisk gdisk sgdisk parted diskpart cfdisk", "",
            r"(?:^| )(?:-\w*l\w*|--list|print|-p)(?= |$)|{help}"),
          _row("diskutil", "diskutil", "(?i)^(?:erase|partition|zero|secureErase|apfs delete)"),
          _row("volumes", "zfs zpool btrfs mdadm cryptsetup",
            r"^(?:destroy|labelclear|rollback|subvolume delete|erase|luks\w*(?:Erase|Format|Slot|RemoveKey))(?= |$)"
            "|--zero-superblock"),
        ),
        "overwrites or deletes commits that others have": (
          _row("git push --force main", "git",
            r"^push\b(?=.* (?:-\w*f\w*|--force\S*|--mirror|--prune)(?= |$))(?:(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$"
            r"|.* \+?(?:\S+:)?(?:refs/heads/)?{main_branches}(?= |$)|.* --(?:mirror|all|tags)(?= |$))",
            r"{any:-n --dry-run}|^push(?!.* (?:-\w*f\w*|--force|--mirror|--prune)(?= |$))(?: -\S+)* "
            r"--force-with-lease(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$"),
          _row("git push +main", "git",
            r"^push\b.* (?:\+(?:\S+:)?(?:refs/heads/)?{main_branches}|:(?:refs/heads/)?{main_branches})(?= |$)"
            r"|^push\b(?=.* (?:-d|--delete)(?= |$)).* (?:refs/heads/)?{main_branches}(?= |$)|^reflog (?:expire\b.* "
            r"--expire(?:-unreachable)?=(?:now|all|0)|delete\b)|^gc\b.* --prune=(?:now|all)|^prune(?= |$)"
            "|^update-ref (?:-d|--delete)",
            "{any:-n --dry-run}"),
        ),
        "rewrites the whole history of a repository": (_row("git filter-branch", "git git-filter-repo",
            "{first:filter-branch filter-repo}|--invert-paths", "{not_run}|{any:--analyze}"),),
        "removes programs of the system, and with them their data": (_row("package of the system removed",
            "apt apt-get aptitude yum dnf zypper apk pacman",
            "{first:purge remove autoremove erase del -R -Rs -Rns -Rdd}|(?:^| )(?:purge|remove|erase|del)(?= )",
            "{not_run}|{any:-s --simulate}"),),
    },
    "deploy_production": {
        "changes what runs for users": (
          _row("preview sites", "vercel vc now netlify ntl", "{any:--prod --production promote rollback}", "{help}"),
          _row("heroku config", "heroku", "{first:config:set config:unset ps:scale container:release}"),
          _row("compose in production", "docker podman nerdctl docker-compose podman-compose",
            r"^(?=.*(?:^| )(?:-f|--file|-p|--project-name|--env-file)[ =]\S*prod)(?=.*(?:^| )(?:up"
            r"|create|down|stop|restart|rm)(?= |$))|^stack deploy\b", "{not_run}"),
          _row("capistrano", "cap kamal mina dokku fab", r"{any:\S*deploy\S* redeploy rollback}",
            "{not_run}|^(?:stag|dev)|(?:^| )(?:staging|dev|test)(?= |$)"),
        ),
        "starts a workflow that changes what runs for users": (_row("gh workflow run", "gh",
            r"^workflow run \S*(?:deploy|prod|release|ship)", "(?:stag|preview|dev)"),),
        "runs the project's own deployment": (
          _row("deploy script", "make just task rake invoke inv nx turbo ant npm pnpm yarn bun", "{deploys}",
            r"{not_run}|^-n |(?:^| )(?:staging|dev|preview|install|add)(?= |$)"),
          _row("deploy.sh",
            "deploy.sh deploy-prod.sh deploy_prod.sh deploy-production.sh deploy_production.sh deploy.py "
            "deploy-prod deploy_production release.sh ship.sh rollout.sh", "",
            "{not_run}|(?:^| )(?:--env[ =]|-e )?(?:staging|dev|preview|test)(?= |$)"),
        ),
    },
    "shutdown_service": {
        "stops the machine": (_row("shutdown", "shutdown reboot halt poweroff Stop-Computer Restart-Computer", "",
            "(?:^| )(?:-c|--show|-w|--wtmp-only|--help)(?= |$)"),),
        "stops a service that others may be using": (
          _row("systemctl", "systemctl launchctl supervisorctl monit service rc-service invoke-rc.d initctl sv svc",
            "(?:^| )(?:stop|disable|mask|kill|restart|try-restart|poweroff|reboot|halt|isolate|suspend|hibernate|rescue"
            "|unload|bootout|remove|down|shutdown|force-stop)(?= |$)",
            r"{not_run}|(?:^| )--user(?= |$)(?!.*seasoned)|gui/|(?:~|/Users/[^/ ]+)/Library/LaunchAgents/"),
          _row("kill by name", "pkill killall skill",
            r"(?:^| )(?:nginx|httpd|apache2?|postgres\S*|postmaster|mysqld?|mariadbd?|redis(?:-server)?|mongod?"
            r"|dockerd?|containerd|kubelet|sshd?|systemd\S*|crond?|rabbitmq\S*|beam\.smp|elasticsearch|kafka"
            r"|haproxy|envoy|traefik|caddy|named|dhcpd|NetworkManager|consul|vault|etcd|memcached|php-fpm\S*"
            r"|supervisord|launchd|init|WindowServer|Xorg|gdm|login|seasoned(?:-hook)?)(?=\s|$)",
            "(?:^| )(?:-0|-l)(?= |$)"),
        ),
        "ends every process, or the first of all": (_row("kill 1", "kill",
            r"(?:^| )-1$|(?:^| )-\S+ (?:--? ?)?1(?= |$)|^1(?= |$)|(?:^| )-- -1(?= |$)"),),
    },
    "publish_package": {
        "publishes to everyone, which cannot be undone": (
          _row("package published",
            "npm pnpm yarn bun twine uv poetry hatch flit pdm maturin rye cargo gem pod choco dotnet nuget dart "
            "flutter mix vsce ovsx jsr deno wasm-pack",
            r"^(?:-r |--recursive |workspaces? \S+ |npm |pub |trunk |nuget |hex\.)?(?:publish|unpublish|deprecate"
            "|upload|yank|push|dist-tag (?:add|rm|set))(?= |$)", "{not_run}|testpypi|(?:^| )-n(?= |$)"),
          _row("maven, gradle publish", "mvn mvnw gradle gradlew sbt lein clj mill",
            r"(?:^| )(?:\S*:)?(?:publish(?!ToMavenLocal|Local)\S*|deploy|\+publish|sonatypeRelease"
            "|release:perform)(?= |$)", "{dry_run}"),
          _row("gh release", "gh glab", "^release (?:create|edit|upload)(?= |$)", "--draft(?: |=true|$)"),
          _row("release tool",
            "semantic-release release-it np lerna changeset changesets goreleaser auto standard-version "
            "cargo-release", "^(?:publish|release|shipit)?(?= |$)",
            "{not_run}|-d(?= |$)|--snapshot|--no-publish|--ci=false"),
        ),
        "runs the project's own release": (_row("npm run publish", "npm pnpm yarn bun make just task",
            r"^(?:run(?:-script)? )?(?:release|publish|semantic-release)(?::(?!dry|docs?|site|local|test)\S*)?(?= "
            "|$)", "{not_run}"),),
        "publishes an image": (_row("image push", "docker podman nerdctl buildah helm",
            r"^(?:image |manifest |compose )?push(?= |$)|^(?:buildx )?(?:build|bake)\b.* --push(?= |$)",
            r"(?:^| )(?:localhost|127\.0\.0\.1|kind-registry)(?::\d+)?/"),),
    },
    "exec_remote": {
        "runs or copies something on another machine": (
          _row("remote shell", "mosh autossh plink dbclient et rcp sftp pscp psftp lftp", r"\S", "{help}|^-V"),
          # What is fetched from there changes nothing there.
          _row("scp", "scp", r" (?:[\w.-]+@)?[\w.-]{2,}:\S*$", r"{help}|(?:^| )(?:localhost|127\.0\.0\.1):"),
          _row("rsync", "rsync", r" (?:[\w.-]+@)?[\w.-]{2,}::?\S*$|rsync://\S*$",
            r"{help}|(?:^| )(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)(?= |$)"),
        ),
        "runs on the machines of an inventory": (_row("ansible",
            "ansible ansible-playbook ansible-pull ansible-console salt pssh", "",
            "(?:^| )(?:--syntax-check|--list-(?:hosts|tasks|tags)|--version|--check|-C|-h|--help)(?= |$)"
            r"|^localhost\b|-c local(?= |$)|--connection[ =]local|-m (?:ping|setup)$|test\.ping|{development}"),),
        "sends what it is given to another machine": (
          _row("raw connection", "nc ncat netcat", r"(?:^| )[\w.:-]+ \d{1,5}(?= |$)",
            r"(?:^| )-\w*[zlU]\w*(?= |$)|(?:^| )(?:localhost|127\.0\.0\.1|::1)(?= )|{help}"),
          _row("private file sent", "curl http https xh httpie",
            r"@\S*(?:/\.(?:ssh|aws|gnupg|kube)/|id_(?:rsa|ed25519)|\.pem(?= |$)|\.env(?= |$))",
            r"(?:^| |//)(?:localhost|127\.0\.0\.1)(?=[:/ ]|$)"),
        ),
    },
    "modify_permissions": {
        "starts an agent without its checks, or with other settings": (_row("agent without checks", "@agents",
            r"(?:^| )(?:-y|--(?:(?:allow-)?dangerously-\S+|yes|yolo|force|yes-always|allow-all\S*|trust-all-tools"
            r"|settings|setting-sources|bare|(?:no|disable|ignore|skip|bypass)-\S*(?:hook|permission|approval|confirm|sandbox"
            r"|plugin|trust|config)\S*))(?= |=|$)|--(?:permission|approval)-mode[ =](?:bypassPermissions|dontAsk|yolo)"
            r"|danger-full-access|approval_policy[ =]+[\x22\x27]?never|(?:^| )(?:-a|--ask-for-approval)[ =]never"
            r"|(?:^| )(?:-c|--config)[ =][\x22\x27]?(?:features\.)?hooks|(?:^| )--disable[ =]hooks|^features disable"
            "|^(?:config|settings) (?:set|unset|delete|remove|rm)(?= )|^mcp remove(?= )"
            "|^(?:plugins?|hooks?|extensions?) (?:disable|remove|uninstall|revoke)(?= )", "{help}|--dry-run"),),
        "removes the program that asks": (_row("seasoned uninstalled", "pip pip3 pipx uv brew conda mamba",
            "(?:^| )(?:uninstall|remove|unlink)(?= )(?:.* )?seasoned(?= |$)"),),
        "makes agents use other settings": (_row("agents' variables", "export unset set setenv launchctl",
            "(?:^| ){agent_variables}(?==| |$)"),),
        "changes users of the machine": (_row("users",
            "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd visudo "
            "vipw vigr chsh dscl sysadminctl dseditgroup newusers", "", r"{help}|^\. -(?:read|list)|-c$"),),
        "changes who may do what": (
          _row("setfacl",
            "setfacl setcap setenforce semanage setsebool chcon restorecon aa-disable aa-complain sudoedit", "",
            "{help}|(?:^| )-l(?= |$)"),
          _row("hosted rights", "gh glab",
            r"^(?:repo edit\b.* --visibility|repo deploy-key (?:add|delete)|ssh-key (?:add|delete)|gpg-key (?:add"
            r"|delete)|ruleset (?:create|edit)|auth refresh\b.*-s|pr merge\b.* --admin(?= |$))|^api\b(?=.*(?:-X"
            "|--method)[ =]?(?:PUT|POST|PATCH))(?=.*(?:collaborators|memberships|protection|permissions|teams))"),
          _row("npm rights", "npm yarn pnpm",
            "^(?:npm )?(?:owner (?:add|rm)|access (?:grant|revoke|public|restricted|set)|team|profile set)"),
        ),
        "changes the firewall": (_row("firewall", "iptables ip6tables nft ufw firewall-cmd pfctl netsh", "",
            r"^(?:-L|-S|--list\S*|list|status|show|-s|app list|.* show)\b|(?:^| )-\w*L\w*(?= |$)|{help}|^$"),),
        "decides or changes what a person must decide": (
          _row("seasoned", "seasoned hermes",
            r"^(?:seasoned )?(?:cron (?:add|pause|run|import)|connect(?= )|forget|restore|gateway key|hooks? \S+"
            r"|confirm (?!list|show|audit|verify|submit)\S+|inbox\b.* --(?:accept|edit))(?= |=|$)"
            r"|^(?:\S+ ){0,2}(?:off|disable|disconnect|uninstall|bypass)(?= |$)",
            r"(?:^| )(?:list|show|check|status|--dry-run|--json)(?= |$)|{help}"),
          _row("decided by HTTP", "curl wget http https xh httpie", r"/confirm(?:ations)?/(?:\S+/approve|phone)\b"),
          _row("seasoned acp", "seasoned", "(?:^| )acp:"),
        ),
        "authorizes a key on another machine": (_row("ssh-copy-id", "ssh-copy-id", r"\S", "{help}|(?:^| )-n(?= |$)"),),
    },
    "rotate_keys": {
        "changes a password": (_row("passwd", "passwd chpasswd smbpasswd htpasswd kpasswd ldappasswd", "",
            r"{help}|(?:^| )(?:-S|--status|-n\w*|-nb\w*)(?= |$)"),),
        "replaces or deletes a key or secret that others rely on": (
          _row("hosted secrets", "gh glab", "^(?:secret|variable) (?:set|delete|remove)(?= |$)"),
          _row("vault", "vault bao",
            "^(?:operator (?:rekey|rotate|init|seal|step-down|generate-root)|token (?:revoke|create|renew)|lease revoke"
            "|secrets (?:disable|move|enable)|kv (?:put|patch|delete|destroy|metadata delete|rollback|undelete)|delete"
            r"|put|write\b.*rotate|write (?:-f )?\S*(?:root|config|keys))(?= |$|/)"),
        ),
    },
    "transfer_funds": {
        "moves money": (
          _row("payment request", "curl wget http https xh httpie hurl",
            r"^(?=.*(?:{paying_hosts}))(?=.*(?:^| )(?:(?:-X ?|--(?:request|method)[ =])?(?:POST|PUT|PATCH|DELETE)"
            r"(?= |$)|-[a-zA-Z]*[dFT]|--(?:data|form|json|upload-file|post|body)|-d\S+|\w+:?=\S))",
            r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|\[::1\]|(?:^| ):\d+)(?=[:/])|(?:^| )(?:-G|--get|GET)(?= |$)"),
        ),
    },
}
# On this machine and in development these are everyday work: what they change can be made again.
_ELSEWHERE: dict[str, dict[str, tuple[_Row, ...]]] = {
    "wipe_database": {
        "drops a database or everything in it": (
          _row("dropdb", "dropdb", r"\S", "{help}"),
          _row("database dropped", "mysqladmin pg_restore redis-cli valkey-cli @migrators",
            r"(?i)(?:^| )(?:drop|flush(?:all|db)?|--clean|-c|clean|reset_db|ecto\.(?:drop|reset)|--force-reset"
            r"|db:(?:drop|reset|purge|wipe|schema:load|truncate_all)\S*|migrate[: ](?:fresh|reset|refresh)"
            r"|(?:db|database) (?:drop|reset)|schema:(?:drop|fresh))(?= |$)", "{not_run}"),
        ),
    },
    "migrate_database": {
        "changes the schema of a database": (_row("migrations", "@migrators @task_runners",
            r"(?:^| )(?:db[-_:])?(?:migrat\w*[:_-]?\S*|upgrade|downgrade|stamp|undo|repair|baseline|update|rollback\S*"
            r"|up|up-to|down|redo|revert|goto|push|apply|deploy|sync)(?= |$)",
            "{not_run}|--(?:sql|pretend|create-only)|{any:status info history current list diff validate}"),),
    },
    "shutdown_service": {
        "stops or changes containers that others may be using": (_row("containers",
            "docker podman nerdctl docker-compose podman-compose pm2 launchctl",
            "{any:stop kill restart pause down rm remove delete prune leave scale update}"),),
    },
}
# fmt: on
ROWS = tuple(
    CommandRow(name, why, programs, words, unless, action, only_elsewhere=table is _ELSEWHERE)
    for table in (_ANYWHERE, _ELSEWHERE)
    for action, harms in table.items()
    for why, rows in harms.items()
    for name, programs, words, unless in rows
)


@cache
def rows_by_program() -> dict[str, tuple[CommandRow, ...]]:
    """The rows of each program."""
    found: dict[str, list[CommandRow]] = {}
    for row in ROWS:
        for name in row.programs.split():
            for program in group(name[1:]) if name.startswith("@") else (name,):
                found.setdefault(program, []).append(row)
    return {program: tuple(rows) for program, rows in found.items()}
