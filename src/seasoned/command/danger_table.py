"""The table of commands: the programs and words by which a command does harm, and what kind of harm it is.

By action and by what is said about it, each row is a name, programs, words and what excuses it; see `rows.py`.
`programs` may name a group (`@task_runners`), words and excuses a pattern (`{help}`).
"""

from __future__ import annotations

from seasoned.command.rows import CommandRow

_Row = tuple[str, str, str, str]


def _row(name: str, programs: str, words: str = "", unless: str = "") -> _Row:
    return name, programs, words, unless


# A row takes two lines as it is laid out here, and six if a formatter does it.
# fmt: off
_TABLE: dict[str, dict[str, tuple[_Row, ...]]] = {
    "delete_data": {
        "runs a task that destroys something": (_row("task that destroys", "@task_runners",
            r"(?i)^(?:-\S+ )*(?:run(?:-script)? )?(?:[\w.-]*[:_-])?(?:destroy|teardown|tear-down|nuke|wipe|purge"
            r"|(?<=db:)drop|(?<=db[_-])drop|drop[:_-](?:db|database|all|tables?|schema))(?:[:_-][\w:-]*)?(?= |$)",
            "(?i)(?:cache|build|dist|tmp|temp|test|dev|local|docs?|modules|log|staging|sandbox|preview|artifact"
            "|coverage)|{not_run}|(?:^| )-n(?= |$)"),),
        "deletes backups": (_row("backups", "restic borg duplicity kopia velero wal-g pgbackrest barman tarsnap",
            r"(?:^| )(?:forget|prune|delete|remove-\S+|cleanup|expire|-d)(?= |$)|(?:backup|schedule) delete",
            "{not_run}|--dryrun"),),
        "deletes what was learned and recorded": (_row("seasoned forget", "seasoned", r"^forget\b|^restore\b",
            "{help}"),),
        "deletes all scheduled commands": (_row("crontab -r", "crontab", "{flag:r}"),),
        "deletes something in a cloud": (
          _row("aws s3", "aws",
            r"^s3 (?:rb\b|(?:rm|mv)\b.* --recursive|sync\b.* --delete)|^s3api delete-\S+|^s3control delete-|^(?!iam "
            r"|sts |kms |secretsmanager |s3 |sqs receive|sqs delete-message)\S+ (?:delete|terminate|purge"
            r"|deregister|batch-delete|remove)-\S+", "{not_run}|--dryrun"),
          _row("gsutil", "gsutil", r"(?:^| )(?:rb|rm\b.*(?: -[a-zA-Z]*[rR]|\*)|rsync\b.* -[a-zA-Z]*d)(?= |$|\S)",
            "rsync .*-n "),
          _row("gcloud delete", "gcloud", "(?:^| )(?:delete|destroy|rm|rb)(?= |$)",
            "(?:^| )(?:iam|kms|secrets|--dry-run)(?= |$)|{help}"),
          _row("az delete", "az", "{any:delete purge delete-batch}", r"^(?:role|ad|keyvault)\b|{help}"),
          _row("cloud delete",
            "doctl linode-cli hcloud vultr-cli scw ibmcloud oci exo civo equinix metal eksctl kops bq",
            "{any:delete rm destroy terminate remove}", "{help}"),
          _row("platform delete", "fly flyctl heroku railway render netlify vercel firebase wrangler supabase dokku",
            "(?:^| )(?:apps? (?:destroy|delete)|apps:destroy|volumes? (?:destroy|delete)|destroy|sites:delete"
            "|project(?:s)? (?:rm|remove|delete)|kv (?:namespace|key) delete|r2 (?:bucket|object) delete|d1 delete"
            "|firestore:delete|database:remove|delete|remove)(?= |$)", "{help}"),
          _row("object store", "s3cmd mc rclone b2 az-copy azcopy s5cmd swift",
            r"^(?:(?:rm|del|delete)\b.*(?: -\w*r| --recursive| --force|\*)|rb|purge|delete|deletefile|rmdirs"
            r"|cleanup|remove|sync\b.* --delete)(?= |$|\S)|^rclone sync|^delete_(?:bucket|all)",
            "{not_run}|--dryrun|(?:^| )-n(?= |$)"),
        ),
        "makes a service on another machine delete something": (_row("HTTP DELETE", "curl wget http https xh httpie",
            r"(?:^| )(?:-[a-zA-Z]*X ?|--(?:request|method)[ =])DELETE(?= |$)|^DELETE \S|/_delete_by_query(?=[ ?]|$)",
            r"(?:^| |//|@)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|:\d+)(?=[:/ ]|$)|{help}"),),
        "destroys infrastructure and the data on it": (_row("terraform destroy",
            "terraform tofu terragrunt pulumi cdk cdktf sam serverless sls copilot azd",
            "{any:destroy remove delete down -destroy --destroy}", r"{not_run}|--dryrun|^plan\b"),),
        "deletes what a cluster keeps": (_row("kubectl delete data", "kubectl oc k",
            r"^delete (?:.*\b(?:ns|namespaces?|pvc?|persistentvolume\w*|crds?|customresource\w*|sts|statefulsets?"
            "|cm|configmaps?|all|project)(?=[ /]|$)|.*(?:-f|--filename|-k|--all)(?= |=|$))", "{dry_run}"),),
        "deletes volumes and their data": (
          _row("docker volumes", "docker podman nerdctl",
            r"^volume (?:rm|prune|remove)\b|^system prune\b.*--volumes|^compose\b.* down\b.*(?: -v| --volumes)"
            r"|^rm\b.* -\w*v\w*(?= |$)|^(?:image )?rmi?\b.*\$\(|^system reset(?= |$)|^image prune\b.* (?:-a"
            "|--all)(?= |$)"),
          _row("docker volumes (docker-compose)", "docker-compose podman-compose",
            r"\bdown\b.*(?: -v| --volumes)|^rm\b.* -\w*v"),
        ),
        "deletes what others use": (_row("hosted repository", "gh glab",
            "^(?:repo|release|gist|project|cache|run|codespace|label|issue|variable|ruleset) delete(?= |-)|^repo "
            r"archive|^api\b.*(?:-X|--method)[ =]?DELETE"),),
        "erases a disk, a volume or a file system": (
          _row("mkfs", "mkfs mke2fs mkswap newfs wipefs blkdiscard mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs "
            "mkfs.vfat mkfs.ntfs mkfs.fat mkfs.exfat shred srm wipe scrub Format-Volume Clear-Disk vssadmin format "
            "lvremove vgremove pvremove", r"\S|", "{help}"),
          _row("partition", "fdisk sfdisk gdisk sgdisk parted diskpart cfdisk", r"\S|^$",
            "{flag:l list}|(?:^| )(?:print|-p)(?= |$)|{help}"),
          _row("diskutil", "diskutil", "(?i)^(?:erase|partition|zero|secureErase|apfs delete)"),
          _row("volumes (zfs)", "zfs zpool", "{first:destroy labelclear rollback}", r"(?:^| )-\w*n\w*(?= |$)"),
        ),
        "deletes folders and everything in them": (_row("Windows (Remove-Item)", "Remove-Item ri del erase rd rmdir",
            r"(?i)(?:^| )[a-z]:[\\/\w]|(?:^| )(?:\\\\|HK(?:LM|CU):|\*)"),),
        "overwrites or deletes commits that others have": (
          _row("git push --force main", "git",
            r"^push\b(?=.* (?:-\w*f\w*|--force\S*|--mirror|--prune)(?= |$))(?:(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$"
            r"|.* \+?(?:\S+:)?(?:refs/heads/)?{main_branches}(?= |$)|.* --(?:mirror|all|tags)(?= |$))",
            r"{any:-n --dry-run}|^push(?!.* (?:-\w*f\w*|--force|--mirror|--prune)(?= |$))(?: -\S+)* "
            r"--force-with-lease(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$"),
          _row("git push +main", "git",
            r"^push\b.* (?:\+(?:\S+:)?(?:refs/heads/)?{main_branches}|:(?:refs/heads/)?{main_branches})(?= |$)"
            r"|^push\b(?=.* (?:-d|--delete)(?= |$)).* (?:refs/heads/)?{main_branches}(?= |$)|^reflog (?:expire\b.* "
            r"--expire(?:-unreachable)?=(?:now|all|0)|delete\b)|^gc\b.* --prune=(?:now|all)|^prune(?= |$)",
            "{any:-n --dry-run}"),
        ),
        "rewrites the whole history of a repository": (_row("git filter-branch", "git git-filter-repo",
            "{first:filter-branch filter-repo}|--invert-paths", "{not_run}|{any:--analyze}"),),
        "removes programs of the system, and with them their data": (_row("package of the system removed",
            "apt apt-get aptitude yum dnf zypper apk pacman",
            "{first:purge remove autoremove erase del -R -Rs -Rns -Rdd}|(?:^| )(?:purge|remove|erase|del)(?= )",
            "{not_run}|{any:-s --simulate}"),),
    },
    "wipe_database": {
        "deletes a database or everything in it": (
          _row("aws databases", "aws",
            r"^(?:rds|dynamodb|redshift|docdb|neptune|elasticache|memorydb|timestream\S*|keyspaces) delete-",
            "{not_run}|--dryrun"),
          _row("gcloud databases", "gcloud",
            r"(?:^| )(?:sql|spanner|bigtable|redis|firestore|alloydb|datastore)\b.*\b(?:delete|restore-backup)(?= "
            "|$)"),
          _row("dropdb", "dropdb pg_dropcluster mongo_drop", r"\S", "{help}"),
          _row("mysqladmin drop", "mysqladmin migrate dbmate", "{any:drop}"),
          _row("redis", "redis-cli valkey-cli keydb-cli dragonfly", r"(?i)\b(?:flushall|flushdb)\b"),
        ),
        "drops tables before it restores them": (_row("pg_restore --clean", "pg_restore", "{flag:c clean}"),),
        "drops a database or everything in it": (
          _row("framework drop",
            "manage.py django-admin rails rake sequelize sequelize-cli typeorm mikro-orm artisan mix",
            r"{first:flush reset_db ecto\.drop ecto\.reset}|{any:db:(?:drop|reset|purge|wipe|schema:load"
            r"|structure:load|migrate:reset|truncate_all)\S* migrate:(?:fresh|reset|refresh) schema:(?:drop|fresh) "
            "migration:fresh}"),
          _row("prisma reset", "prisma", "^migrate reset|--force-reset|--accept-data-loss"),
          _row("flyway clean", "flyway", "{any:clean}"),
          _row("database reset", "sqlx diesel supabase", "^(?:db|database) (?:drop|reset)"),
          _row("heroku pg", "heroku", "{first:pg:reset pg:push addons:destroy}"),
        ),
    },
    "migrate_database": {
        "runs SQL from a file that was not read": (_row("unseen SQL",
            "psql mysql mariadb sqlcmd cockroach snowsql cqlsh",
            r"(?:^| )(?:-\w*f|--file|-i|--input-file)(?= |=)|(?:^| )(?:\\i|source)\s+\S"),),
        "changes the schema of a database": (
          _row("alembic", "alembic aerich flask", "{any:upgrade downgrade stamp}", "{not_run}|--sql"),
          _row("framework migrations", "manage.py django-admin rails rake artisan mix",
            r"{first:migrate migrate:rollback ecto\.migrate ecto\.rollback db:migrate(?!:status)\S* db:rollback "
            "db:seed:replant db:prepare}", "{not_run}|--pretend"),
          _row("prisma", "prisma", r"^(?:migrate (?:deploy|dev|resolve)|db (?:push|execute))\b",
            r"{help}|--create-only|^db push\b(?=.*--force-reset)"),
          _row("flyway", "flyway liquibase",
            r"{any:migrate undo repair baseline update(?!-sql)\S* rollback(?!-sql)\S* changelog-sync}", "{help}"),
          _row("node migrations",
            "knex sequelize sequelize-cli typeorm mikro-orm migrate-mongo node-pg-migrate db-migrate umzug",
            r"{any:migrate:(?:latest|up|down|rollback) db:migrate(?!:status)\S* migration:(?:run|revert|up|down) "
            "schema:(?:sync|update) up down}", "{not_run}"),
          _row("drizzle", "drizzle-kit", "{first:push migrate}"),
          _row("go migrations", "goose dbmate migrate sql-migrate tern atlas skeema sqitch yoyo",
            "{any:up up-to up-by-one down down-to redo rollback migrate apply push deploy revert force goto}",
            "{not_run}"),
          _row("tool migrations", "sqlx diesel supabase hasura dotnet dotnet-ef",
            "^(?:db push|migrations? (?:up|repair|run|revert|redo)|migrate (?:apply|run|revert)|(?:ef )?database "
            "update)", "{not_run}"),
          _row("d1", "wrangler", "^d1 (?:migrations apply|execute)", "--local|{elsewhere}"),
        ),
        "runs the project's own migrations": (
          _row("migrate script", "make just task",
            r"(?:^| )(?:db[-_:])?migrate(?:[-_:](?:up|down|prod\S*|latest|deploy))?(?= |$)", "{not_run}|^-n "),
          _row("migrate script (npm)", "npm pnpm yarn bun",
            r"^(?:run(?:-script)? )?(?:db:)?migrate(?::(?:up|down|prod\S*|latest|deploy|run))?(?= |$)"),
        ),
    },
    "deploy_production": {
        "changes what runs for users": (
          _row("kubectl apply", "kubectl oc k",
            "{first:apply create replace patch edit set run expose autoscale scale label annotate taint "
            "kustomize-apply}|^rollout (?:restart|undo)",
            "{not_here}|(?:^| )(?:rolebinding|clusterrolebinding|role|clusterrole|secret)(?= |$)|--replicas[ "
            "=]0(?= |$)"),
          _row("helm deploy", "helm helmfile", "{first:install upgrade rollback sync apply}", "{not_here}"),
          _row("compose in production", "docker podman nerdctl docker-compose podman-compose",
            r"^(?=.*(?:^| )(?:-f|--file|-p|--project-name|--env-file|--context|-c)[ =]\S*prod)(?=.*(?:^| )(?:up"
            r"|create)(?= |$))|^stack deploy\b", "{not_run}"),
          _row("terraform apply", "terraform tofu terragrunt", "{any:apply import}|^state (?:rm|push|mv)|^taint ",
            "{help}"),
          _row("pulumi up", "pulumi", "{first:up update import refresh}", "{not_here}"),
          _row("cdk deploy", "cdk cdktf sam copilot eb ecs-cli serverless sls firebase fly flyctl wrangler",
            "{any:deploy}|{first:launch publish rollback}", "{not_here}|(?:^| )-P (?:dev|stag)"),
          _row("vercel", "vercel vc now", "{any:--prod --production promote rollback}", "{help}"),
          _row("netlify", "netlify ntl", r"^deploy\b.* (?:--prod|-p)(?= |$)", "{help}"),
          _row("heroku", "heroku",
            "{first:config:set config:unset container:release releases:rollback rollback pipelines:promote "
            "ps:scale}", r"{not_here}|ps:scale \S+=0"),
          _row("git push heroku", "git", r"^push (?:-\S+ )*(?:heroku|dokku|prod(?:uction)?|live)\b"),
          _row("aws deploy", "aws",
            "^(?:cloudformation (?:deploy|create-stack|update-stack|execute-change-set)|ecs (?:update-service"
            r"|run-task|create-service)|lambda (?:update-function-\S+|publish-version|update-alias|create-function)"
            "|deploy create-deployment|elasticbeanstalk update-environment|apprunner start-deployment|amplify "
            r"start-job|autoscaling (?:set|update)-\S+|ec2 run-instances|route53 change-\S+|eks update-\S+"
            r"|codepipeline start-\S+|rds modify-\S+)\b", "{help}|--dry-run|--desired-count[ =]0"),
          _row("gcloud deploy", "gcloud",
            r"(?:^| )(?:app|run|functions|endpoints services|builds triggers|deploy|deployment-manager)\b.* "
            "?(?:deploy|submit|update-traffic|replace|migrate|set-traffic|promote)(?= |$)", "{not_here}"),
          _row("az deploy", "az azd",
            r"^(?:webapp (?:deploy|up|deployment slot swap)|functionapp deploy|deployment \w+ create|containerapp "
            r"(?:up|update)|up|deploy|aks (?:update|upgrade)|acr run)\b", "{not_here}"),
          _row("capistrano", "cap kamal mina dokku fab", r"{any:\S*deploy\S* redeploy rollback}",
            "{not_run}|^(?:stag|dev)|(?:^| )(?:staging|dev|test)(?= |$)"),
        ),
        "starts a workflow that changes what runs for users": (_row("gh workflow run", "gh",
            r"^workflow run \S*(?:deploy|prod|release|ship)", "(?:stag|preview|dev)"),),
        "runs the project's own deployment": (
          _row("deploy script", "make just task rake invoke inv nx turbo ant",
            r"(?:^| )(?:(?!\S*(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa|demo"
            r"|dry))\S*[-_:./])?(?:deploy|ship|rollout|promote)(?![\w]*\.)(?:[-_:](?!(?:stag|dev|preview|test|docs?"
            r"|pages|storybook|local|sandbox|qa|demo|dry))\S*)?(?= |$)",
            "{not_run}|^-n |(?:^| )(?:staging|dev|preview)(?= |$)"),
          _row("deploy script (npm)", "npm pnpm yarn bun",
            "^(?:run(?:-script)? )?deploy(?:[:-](?!(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa"
            r"|demo|dry))\S*)?(?= |$)"),
          _row("deploy script (deploy.sh)",
            "deploy.sh deploy deploy-prod.sh deploy_prod.sh deploy-production.sh deploy_production.sh deploy.py "
            "deploy-prod deploy_production release.sh ship.sh rollout.sh", "",
            "{not_run}|(?:^| )(?:--env[ =]|-e )?(?:staging|dev|preview|test)(?= |$)"),
        ),
    },
    "shutdown_service": {
        "stops the machine": (_row("shutdown", "shutdown reboot halt poweroff Stop-Computer Restart-Computer", "",
            "(?:^| )(?:-c|--show|-w|--wtmp-only|--help)(?= |$)"),),
        "stops a service that others may be using": (
          _row("systemctl", "systemctl launchctl supervisorctl pm2 monit",
            "{first:stop disable mask kill restart try-restart poweroff reboot halt isolate suspend hibernate "
            "rescue emergency unload bootout remove delete shutdown}", "{not_run}"),
          _row("service", "service rc-service invoke-rc.d initctl sv svc s6-svc",
            "(?:^| )(?:stop|restart|down|force-stop|force-restart|-d|-t|-k)(?= |$)"),
          _row("server tools", "apachectl apache2ctl httpd nginx caddy haproxy",
            "(?:^| )(?:-k (?:stop|restart|graceful-stop)|-s (?:stop|quit)|stop|graceful-stop)(?= |$)"),
          _row("database servers",
            "pg_ctl pg_ctlcluster mysqladmin mongod rabbitmqctl redis-cli valkey-cli etcdctl brew",
            "(?i)(?:^| )(?:stop|restart|shutdown|--shutdown|stop_app|kill|stop-all-slaves|services stop)(?= |$)",
            r"^(?:uninstall|install)\b|-m smart --dry"),
          _row("kill by name", "pkill killall skill",
            r"(?:^| )(?:nginx|httpd|apache2?|postgres\S*|postmaster|mysqld?|mariadbd?|redis(?:-server)?|mongod?"
            r"|dockerd?|containerd|kubelet|sshd?|systemd\S*|crond?|rabbitmq\S*|beam\.smp|elasticsearch|kafka"
            r"|haproxy|envoy|traefik|caddy|named|dhcpd|NetworkManager|consul|vault|etcd|memcached|php-fpm\S*"
            r"|supervisord|launchd|init|WindowServer|Xorg|gdm|login|seasoned)(?=\s|$)", "(?:^| )(?:-0|-l)(?= |$)"),
          _row("docker stop", "docker podman nerdctl",
            r"^(?:container )?(?:stop|kill|restart|pause)(?= |$)|^(?:container )?rm\b.* (?:-\w*f\w*|--force)(?= |$)"
            r"|^compose\b(?:.* )?(?:down|stop|kill|restart|rm)(?= |$)|^(?:service|stack|node) (?:rm|remove)\b"
            r"|^swarm leave|^service (?:scale|update)\b.*=0(?= |$)",
            r"^(?:container )?(?:stop|kill|rm)\b(?: -\S+)* \S*[-_](?:test|tests|tmp|dev|local|ci|e2e)(?: -\S+)*$"),
          _row("docker stop (docker-compose)", "docker-compose podman-compose", "{any:down stop kill restart rm}"),
          _row("kubectl drain", "kubectl oc k", "{first:drain cordon evict}", "{dry_run}"),
          _row("helm uninstall", "helm helmfile", "{first:uninstall delete del destroy un}", "{dry_run}|{elsewhere}"),
          _row("aws stop", "aws",
            r"^(?:ec2 (?:stop|reboot)-instances|rds (?:stop|reboot|failover)-\S+|ecs (?:stop-task"
            r"|update-service\b.*--desired-count[ =]0)|ssm cancel\S*|sagemaker stop-\S+|elasticbeanstalk "
            r"(?:terminate|restart)-\S+|autoscaling suspend-\S+|cloudfront delete-\S+|lambda "
            "put-function-concurrency)", "{dry_run}"),
          _row("gcloud stop", "gcloud",
            r"(?:^| )(?:instances?|vms?|clusters?|versions?|services?)\b.* ?(?:stop|suspend|reset|restart"
            "|disable)(?= |$)"),
          _row("az stop", "az", "{any:stop deallocate restart poweroff}"),
          _row("platform stop", "heroku fly flyctl railway doctl hcloud linode-cli",
            r"^(?:ps:(?:stop|kill|restart|scale \S+=0)|dyno:\S+|maintenance:on|scale count 0|machines? (?:stop|kill"
            "|destroy)|apps? (?:suspend|restart)|down|compute droplet-action (?:power-off|shutdown|reboot)|server "
            "(?:poweroff|shutdown|reset|reboot)|linodes shutdown)(?= |$)"),
        ),
        "ends every process, or the first of all": (_row("kill 1", "kill",
            r"(?:^| )-1$|(?:^| )-\S+ (?:--? ?)?1(?= |$)|^1(?= |$)|(?:^| )-- -1(?= |$)"),),
        "deletes what runs in a cluster": (_row("kubectl delete", "kubectl oc k",
            r"{first:delete}|^scale\b.*--replicas[ =]0(?= |$)", "{dry_run}|{elsewhere}"),),
    },
    "publish_package": {
        "publishes to everyone, which cannot be undone": (
          _row("npm publish", "npm pnpm yarn bun",
            r"^(?:npm )?(?:-r |--recursive |workspaces? \S+ )?(?:publish|unpublish|deprecate|dist-tag (?:add|rm"
            "|set))(?= |$)", "{dry_run}"),
          _row("python publish", "twine uv poetry hatch flit pdm maturin rye", "{first:publish upload}",
            "{not_run}|testpypi"),
          _row("cargo publish", "cargo", "{first:publish yank owner release}", "{not_run}|(?:^| )-n(?= |$)"),
          _row("gem push", "gem pod choco dotnet nuget",
            "^(?:trunk |nuget )?(?:push|yank|upload|release|delete)(?= |$)"),
          _row("maven, gradle publish", "mvn mvnw gradle gradlew sbt lein clj mill",
            r"(?:^| )(?:\S*:)?(?:publish(?!ToMavenLocal|Local)\S*|deploy|\+publish|sonatypeRelease"
            "|release:perform)(?= |$)", "{dry_run}"),
          _row("gh release", "gh glab", "^release (?:create|edit|upload)(?= |$)", "--draft(?: |=true|$)"),
          _row("release tool",
            "semantic-release release-it np lerna changeset changesets goreleaser auto standard-version "
            "cargo-release", "^(?:publish|release|shipit)?(?= |$)",
            "{not_run}|-d(?= |$)|--snapshot|--no-publish|--ci=false"),
          _row("extension", "dart flutter mix vsce ovsx jsr deno wasm-pack",
            r"^(?:pub )?(?:publish|upload|unpublish)(?= |$)|^hex\.publish", "{not_run}"),
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
          _row("ssh", "ssh mosh autossh sshpass plink dbclient et", r"\S",
            r"^-V$|^-G |^-Q |(?:^| )(?:git@)?(?:github|gitlab|bitbucket|ssh\.github)\.(?:com|org)$|^-[TO] git@\S+$"),
          _row("scp", "scp rcp sftp pscp psftp lftp sshfs",
            r"(?:^| )(?:[\w.-]+@)?[\w.\[\]:-]*[\w\]]:|@|^[\w.-]+\.\w+|sftp://", "{help}"),
          _row("rsync", "rsync",
            r"(?:^| )(?:[\w.-]+@)?(?![A-Za-z]:\\)[\w.-]{2,}::?(?=\S| |$)|(?:^| )(?:-e|--rsh)(?= |=)|rsync://",
            r"^(?!.*@)(?:-\S+ )*\S*--(?:version|help)|(?:^| )(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)(?= |$)"),
          _row("docker -H", "docker podman nerdctl",
            r"^(?:-\S+ )*(?:(?:-H|--host|--url)[ =]?(?!unix:)\S|(?:--context|-c)[ =](?!default|desktop-linux|colima"
            r"|orbstack|rootless)\S|--remote(?= |$))"),
          _row("cloud shell", "aws az",
            "^(?:ssm (?:send-command|start-session|start-automation-execution)|ecs execute-command"
            r"|ec2-instance-connect \S+)|^(?:vm run-command|vmss run-command|ssh (?:vm|arc)|container exec"
            "|containerapp exec|webapp ssh|aks command invoke)"),
          _row("cloud shell (gcloud)", "gcloud",
            "(?:^| )(?:compute|tpus tpu-vm|cloud-shell) (?:ssh|scp|tpus tpu-vm ssh)(?= |$)"),
          _row("cloud shell (heroku)", "heroku fly flyctl railway render doctl eb copilot",
            r"^(?:run(?::\S+)?|ssh(?: console| sftp)?|console|ps:exec|pg:psql|compute ssh|svc exec|machine exec)(?= "
            "|$)", "{help}"),
        ),
        "runs on the machines of an inventory": (_row("ansible",
            "ansible ansible-playbook ansible-pull ansible-console", r"\S",
            "(?:^| )(?:--syntax-check|--list-(?:hosts|tasks|tags)|--version|--check|-C|-h|--help)(?= |$)"
            r"|^localhost\b|-c local(?= |$)|--connection[ =]local"),),
        "runs inside a cluster": (_row("kubectl exec", "kubectl oc k", "{first:exec cp debug attach rsh rsync}",
            "^$|{elsewhere}"),),
        "sends what it is given to another machine": (_row("raw connection", "nc ncat netcat",
            r"(?:^| )[\w.:-]+ \d{1,5}(?= |$)",
            r"(?:^| )-\w*[zlU]\w*(?= |$)|(?:^| )(?:localhost|127\.0\.0\.1|::1)(?= )|{help}"),),
    },
    "modify_permissions": {
        "starts an agent without its checks, or with other settings": (_row("claude without checks",
            "claude claude-code",
            "(?:^| )--(?:allow-)?dangerously-skip-permissions(?= |=|$)|(?:^| )--permission-mode[ "
            "=](?:bypassPermissions|dontAsk)|(?:^| )--(?:settings|setting-sources|bare)(?= |=|$)|^config (?:set"
            "|remove|rm)(?= )|^mcp remove(?= )|^plugins? (?:disable|remove|uninstall)(?= )", "{help}"),),
        "starts an agent without its checks": (
          _row("codex without checks", "codex",
            r"(?:^| )--(?:dangerously-\S+|yolo)(?= |=|$)|danger-full-access|approval_policy[ =]+[\x22\x27]?never"
            r"|(?:^| )(?:-a|--ask-for-approval)[ =]never|(?:^| )(?:-c|--config)[ =][\x22\x27]?(?:features\.)?hooks"
            "|(?:^| )--disable[ =]hooks|^features disable", "{help}"),
          _row("other agents without checks", "hermes gemini copilot amp aider cursor-agent opencode qwen goose",
            r"(?:^| )--(?:yolo|yes-always|allow-all-tools|allow-all-paths|dangerously-\S+|trust-all-tools)(?= |=|$)"
            r"|(?:^| )--approval-mode[ =]yolo|^(?:config|settings) (?:set|unset|delete|remove|rm) \S*(?:hook|approv"
            "|permission|yolo|danger|sandbox|auto_accept|allow|trust)|^(?:plugins?|hooks?) (?:disable|remove"
            "|uninstall|revoke)(?= )", "{help}"),
        ),
        "removes the program that asks": (_row("seasoned uninstalled", "pip pip3 pipx uv brew conda mamba",
            "(?:^| )(?:uninstall|remove)(?= )(?:.* )?seasoned(?= |$)"),),
        "makes agents use other settings": (_row("agents' variables", "export setenv launchctl",
            r"(?:^| )(?:CLAUDE_CONFIG_DIR|CODEX_HOME|HERMES_HOME|SEASONED_\w+|CLAUDE_CODE_\w*HOOK\w*"
            "|CLAUDE_PROJECT_DIR)(?==| )"),),
        "changes users of the machine": (_row("users",
            "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd visudo "
            "vipw vigr chsh dscl sysadminctl dseditgroup newusers", r"\S|^$", r"{help}|^\. -(?:read|list)|-c$"),),
        "changes who may do what": (
          _row("setfacl",
            "setfacl setcap setenforce semanage setsebool chcon restorecon aa-disable aa-complain sudoedit", r"\S|\S",
            "{help}|(?:^| )-l(?= |$)"),
          _row("chattr", "chattr chflags", r"(?:^| )(?:[-+=]\w*[ia]\w*|\w*schg\w*|\w*uchg\w*)(?= )"),
          _row("aws iam", "aws",
            "^(?:iam (?:attach|detach|put|add|remove|create|delete|update|set|tag|untag)-(?!access-key"
            r"|login-profile|ssh|server-cert|signing)\S+|s3api put-(?:bucket-(?:acl|policy|ownership\S*|public\S*)"
            r"|public-access-block|object-acl)|organizations (?:attach|detach|create|remove)-\S+|ec2 (?:authorize"
            r"|revoke)-security-group-\S+|lambda (?:add|remove)-permission|kms (?:put-key-policy|create-grant"
            r"|revoke-grant)|sso-admin \S+|s3control put-\S+|ecr set-repository-policy|cognito-idp admin-\S+"
            "|secretsmanager put-resource-policy)", "{dry_run}"),
          _row("gcloud iam", "gcloud",
            r"(?:^| )(?:\S*(?:add|remove|set)-iam-policy\S*|iam (?:roles|service-accounts) (?:create|delete|update"
            "|enable|disable|undelete)|firewall-rules (?:create|update|delete))(?= |$)"),
          _row("az role", "az",
            r"^(?:role (?:assignment|definition) (?:create|delete|update)|ad (?:user|group|app|sp)\b.*\b(?:create"
            "|delete|add|remove|update)|network nsg rule (?:create|delete|update)|keyvault (?:set-policy"
            "|delete-policy))"),
          _row("kubernetes roles", "kubectl oc k",
            r"^(?:create|delete|edit|patch|apply|replace) .*\b(?:role|clusterrole|rolebinding|clusterrolebinding"
            "|serviceaccount|sa)s?(?=[ /]|$)|^auth reconcile|^certificate (?:approve|deny)|^adm policy|^policy add",
            "{dry_run}"),
          _row("hosted rights", "gh glab",
            r"^(?:repo edit\b.* --visibility|repo deploy-key (?:add|delete)|ssh-key (?:add|delete)|gpg-key (?:add"
            r"|delete)|ruleset (?:create|edit)|auth refresh\b.*-s|pr merge\b.* --admin(?= |$))|^api\b(?=.*(?:-X"
            "|--method)[ =]?(?:PUT|POST|PATCH))(?=.*(?:collaborators|memberships|protection|permissions|teams))"),
          _row("npm rights", "npm yarn pnpm",
            "^(?:npm )?(?:owner (?:add|rm)|access (?:grant|revoke|public|restricted|set)|team|profile set)"),
        ),
        "changes the firewall": (_row("firewall", "iptables ip6tables nft ufw firewall-cmd pfctl netsh", r"\S",
            r"^(?:-L|-S|--list\S*|list|status|show|-s|app list|.* show)\b|(?:^| )-\w*L\w*(?= |$)|{help}"),),
        "changes who guards agents, or starts one unattended": (
          _row("seasoned", "seasoned",
            r"^(?:cron (?:add|pause|run)|connect\b.* --undo|confirm (?:token|allow|policy)|gateway key)(?= |$)",
            "^(?:confirm (?:token|allow|policy)|gateway key) (?:list|show|check)(?= |$)|{help}"),
          _row("hermes", "hermes",
            "^(?:plugins (?:disable|remove|uninstall)|config (?:set|unset) (?:plugins|approvals)|seasoned (?:cron "
            r"(?:add|pause|run)|connect\b.* --undo|confirm|gateway key|forget|(?:memory|skill) accept|review\b.* "
            "--accept))(?=[ .=]|$)",
            r"^seasoned confirm (?:\w+ )?(?:list|show|check|audit|verify|head|submit|wait)(?= |$)|{help}"),
        ),
        "authorizes a key on another machine": (_row("ssh-copy-id", "ssh-copy-id", r"\S", "{help}|(?:^| )-n(?= |$)"),),
        "decides or changes what a person must decide": (_row("own policy", "seasoned",
            r"^confirm (?:approve|deny|allow|token|passphrase|policy|install|uninstall)(?= |$)|^confirm serve\b.* "
            r"--policy(?= |=)|^(?:memory|skill) accept(?= |$)|^review\b.* --accept(?= |=|$)",
            r"{help}|^confirm (?:un)?install\b.* --dry-run(?= |$)|^confirm (?:allow|token|passphrase|policy) "
            "(?:list|check|show)(?= |$)"),),
    },
    "rotate_keys": {
        "changes a password": (_row("passwd", "passwd chpasswd smbpasswd htpasswd kpasswd ldappasswd", r"\S|^$",
            r"{help}|(?:^| )(?:-S|--status|-n\w*|-nb\w*)(?= |$)"),),
        "replaces or deletes a key or secret that others rely on": (
          _row("aws keys", "aws",
            "^(?:iam (?:create|delete|update)-(?:access-key|login-profile|ssh-public-key|server-certificate"
            r"|signing-certificate)|iam (?:reset|change)-\S+|secretsmanager (?:rotate|put|update|delete|restore"
            r"|create)-secret\S*|kms (?:schedule-key-deletion|disable-key\S*|enable-key-rotation|rotate-\S+"
            r"|delete-\S+|import-key\S*)|ssm (?:put|delete)-parameters?|acm (?:delete|import)-certificate|ec2 "
            "(?:create|delete|import)-key-pair)", "{dry_run}"),
          _row("gcloud keys", "gcloud",
            "(?:^| )(?:service-accounts keys (?:create|delete|upload|disable)|secrets (?:create|delete|update"
            r"|versions (?:add|destroy|disable))|kms keys\b.*\b(?:create|destroy|disable|update|rotate"
            "|set-primary-version)|auth revoke)(?= |$)"),
          _row("az keys", "az",
            "^(?:keyvault (?:secret|key|certificate) (?:set|delete|purge|rotate|create|import|recover)|ad (?:sp"
            "|app) credential (?:reset|delete)|storage account keys renew|keyvault (?:delete|purge)|aks "
            "rotate-certs|cognitiveservices account keys regenerate)"),
          _row("hosted secrets", "gh glab", "^(?:secret|variable) (?:set|delete|remove)(?= |$)"),
          _row("platform secrets", "fly flyctl wrangler vercel netlify doppler railway infisical supabase heroku",
            "^(?:secrets? (?:set|unset|put|delete|import|bulk|upload|deploy)|env (?:add|rm|remove)|env:(?:set"
            "|unset|import)|variables? (?:set|delete|--set)|pg:credentials:rotate|authorizations:(?:rotate|revoke)"
            "|configs? tokens revoke)(?= |$)", "{help}"),
          _row("kubernetes secrets", "kubectl oc k",
            r"^(?:create|delete|edit|patch|replace|apply) (?:-\S+ \S+ )*(?:secrets?|serviceaccounts?/token"
            "|certificatesigningrequests?|csr)(?=[ /]|$)", "{dry_run}"),
          _row("vault", "vault bao",
            "^(?:operator (?:rekey|rotate|init|seal|step-down|generate-root|key-status)|token (?:revoke|create"
            "|renew)|lease revoke|secrets (?:disable|move|enable)|kv (?:put|patch|delete|destroy|metadata delete"
            r"|rollback|undelete)|write\b.*rotate|delete|put|write (?:-f )?\S*(?:root|config|keys))(?= |$|/)",
            "^operator key-status"),
          _row("gpg", "gpg gpg2",
            r"--(?:delete-(?:secret-)?(?:and-public-)?keys?|gen(?:erate)?-key|full-gen\S*|quick-(?:gen\S*|add\S*"
            r"|rev\S*|set\S*)|gen-revoke|generate-revocation|edit-key|change-pass\S*|passwd|send-keys?"
            r"|import-ownertrust|delete-secret\S*)(?= |=|$)"),
          _row("npm token", "npm yarn pnpm", "^(?:npm )?token (?:create|revoke|delete)"),
        ),
    },
    "transfer_funds": {
        "moves money": (
          _row("stripe", "stripe",
            "^(?:(?:payouts|transfers|charges|refunds|payment_intents|topups|invoices|subscriptions) (?:create"
            r"|confirm|capture|pay|reverse|cancel|update)|post /?v\d/(?:{stripe_resources})|delete )(?= |$|\S)",
            "sk_test_|rk_test_|^trigger "),
          _row("payment request", "curl",
            "^(?=.*(?:{paying_hosts}))(?=.*(?:(?:-X ?|--request[ =])(?:POST|PUT|PATCH|DELETE)|(?:^| "
            r")(?:-[a-zA-Z]*[dFT]|--data\S*|--form\S*|--json|--upload-file|-d\S+)(?= |=|$|\S)))",
            r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/])|(?:^| )(?:-G|--get)(?= |$)"),
          _row("payment request (wget)", "wget http https xh httpie hurl",
            "^(?=.*(?:{paying_hosts}))(?=.*(?:--(?:post|body|method)|(?:^| )(?:POST|PUT|PATCH|DELETE)(?= )"
            r"|\w+:?=\S))", r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|(?:^| ):\d+)(?=[:/])|(?:^| )GET(?= )"),
        ),
    },
}
# fmt: on
ROWS = tuple(
    CommandRow(name, why, programs, words, unless, action)
    for action, harms in _TABLE.items()
    for why, rows in harms.items()
    for name, programs, words, unless in rows
)
