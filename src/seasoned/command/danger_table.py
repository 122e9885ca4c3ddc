"""The table of commands: the programs and words by which a command does harm, and what kind of harm it is.

`programs` may name a group (`@clouds`), `words` and `unless` a pattern (`{help}`); see `rows.py`.
"""

from __future__ import annotations

import msgspec

from seasoned.command.rows import CommandRow

# A row takes two or three lines as it is laid out here, and ten if a formatter does it.
# fmt: off
_DELETE_DATA = (
    CommandRow("task that destroys", "runs a task that destroys something", "@task_runners",
        r"(?i)^(?:-\S+ )*(?:run(?:-script)? )?(?:[\w.-]*[:_-])?(?:destroy|teardown|tear-down|nuke|wipe|purge"
        r"|(?<=db:)drop|(?<=db[_-])drop|drop[:_-](?:db|database|all|tables?|schema))(?:[:_-][\w:-]*)?(?= |$)",
        "(?i)(?:cache|build|dist|tmp|temp|test|dev|local|docs?|modules|log|staging|sandbox|preview|artifact"
        "|coverage)|{not_run}|(?:^| )-n(?= |$)"),
    CommandRow("backups", "deletes backups", "restic borg duplicity kopia velero wal-g pgbackrest barman tarsnap",
        r"(?:^| )(?:forget|prune|delete|remove-\S+|cleanup|expire|-d)(?= |$)|(?:backup|schedule) delete",
        "{not_run}|--dryrun"),
    CommandRow("queues", "deletes messages",
        "kafka-topics kafka-topics.sh kafka-delete-records kafka-delete-records.sh rabbitmqctl rabbitmqadmin nats "
        "pulsar-admin",
        r"--delete(?= |$)|(?:^| )(?:delete_\w+|purge_queue|purge|reset|force_reset|delete|rm)(?= |$)"),
    CommandRow("keys and values", "deletes what services read", "etcdctl consul zkCli.sh",
        "^(?:del|kv delete|deleteall|rmr)(?= |$)"),
    CommandRow("seasoned forget", "deletes what was learned and recorded", "seasoned", r"^forget\b|^restore\b",
        "{help}"),
    CommandRow("crontab -r", "deletes all scheduled commands", "crontab", "{flag:r}"),
    CommandRow("aws s3", "deletes something in a cloud", "aws",
        r"^s3 (?:rb\b|(?:rm|mv)\b.* --recursive|sync\b.* --delete)|^s3api delete-\S+|^s3control delete-|^(?!iam "
        r"|sts |kms |secretsmanager |s3 |sqs receive|sqs delete-message)\S+ (?:delete|terminate|purge|deregister"
        r"|batch-delete|remove)-\S+", "{not_run}|--dryrun"),
    CommandRow("gsutil", "deletes something in a cloud", "gsutil",
        r"(?:^| )(?:rb|rm\b.*(?: -[a-zA-Z]*[rR]|\*)|rsync\b.* -[a-zA-Z]*d)(?= |$|\S)", "rsync .*-n "),
    CommandRow("gcloud delete", "deletes something in a cloud", "gcloud", "(?:^| )(?:delete|destroy|rm|rb)(?= |$)",
        "(?:^| )(?:iam|kms|secrets|--dry-run)(?= |$)|{help}"),
    CommandRow("az delete", "deletes something in a cloud", "az", "{any:delete purge delete-batch}",
        r"^(?:role|ad|keyvault)\b|{help}"),
    CommandRow("cloud delete", "deletes something in a cloud",
        "doctl linode-cli hcloud vultr-cli scw ibmcloud oci exo civo equinix metal",
        "{any:delete rm destroy terminate remove}", "{help}"),
    CommandRow("platform delete", "deletes something in a cloud",
        "fly flyctl heroku railway render netlify vercel firebase wrangler supabase dokku",
        "(?:^| )(?:apps? (?:destroy|delete)|apps:destroy|volumes? (?:destroy|delete)|destroy|sites:delete"
        "|project(?:s)? (?:rm|remove|delete)|kv (?:namespace|key) delete|r2 (?:bucket|object) delete|d1 delete"
        "|firestore:delete|database:remove|delete)(?= |$)", "{help}"),
    CommandRow("HTTP DELETE", "makes a service on another machine delete something", "curl wget http https xh httpie",
        r"(?:^| )(?:-[a-zA-Z]*X ?|--(?:request|method)[ =])DELETE(?= |$)|^DELETE \S|/_delete_by_query(?=[ ?]|$)",
        r"(?:^| |//|@)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|:\d+)(?=[:/ ]|$)|{help}"),
    CommandRow("terraform destroy", "destroys infrastructure and the data on it",
        "terraform tofu terragrunt pulumi cdk cdktf sam serverless sls copilot azd",
        "{any:destroy remove delete down -destroy --destroy}", r"{not_run}|--dryrun|^plan\b"),
    CommandRow("object store", "deletes something in a cloud", "s3cmd mc rclone b2 az-copy azcopy s5cmd swift",
        r"^(?:(?:rm|del|delete)\b.*(?: -\w*r| --recursive| --force|\*)|rb|purge|delete|deletefile|rmdirs|cleanup"
        r"|remove|sync\b.* --delete)(?= |$|\S)|^rclone sync|^delete_(?:bucket|all)",
        "{not_run}|--dryrun|(?:^| )-n(?= |$)"),
    CommandRow("rclone sync", "makes one side like the other and deletes the rest", "rclone",
        "{first:sync move bisync}", "{not_run}|--dryrun"),
    CommandRow("kubectl delete data", "deletes what a cluster keeps", "kubectl oc k",
        r"^delete (?:.*\b(?:ns|namespaces?|pvc?|persistentvolume\w*|crds?|customresource\w*|sts|statefulsets?|cm"
        "|configmaps?|all|project)(?=[ /]|$)|.*(?:-f|--filename|-k|--all)(?= |=|$))", "{dry_run}"),
    CommandRow("docker volumes", "deletes volumes and their data", "docker podman nerdctl",
        r"^volume (?:rm|prune|remove)\b|^system prune\b.*--volumes|^compose\b.* down\b.*(?: -v| --volumes)"
        r"|^rm\b.* -\w*v\w*(?= |$)|^(?:image )?rmi?\b.*\$\(|^system reset(?= |$)|^image prune\b.* (?:-a|--all)(?= "
        "|$)"),
    CommandRow("docker volumes (docker-compose)", "deletes volumes and their data", "docker-compose podman-compose",
        r"\bdown\b.*(?: -v| --volumes)|^rm\b.* -\w*v"),
    CommandRow("machines", "deletes a machine and its disk",
        "vagrant multipass lxc virsh VBoxManage limactl incus qm pct xe",
        "^(?:destroy|delete|undefine|purge|unregistervm|vm-destroy)(?= |$)"),
    CommandRow("hosted repository", "deletes what others use", "gh glab",
        "^(?:repo|release|gist|project|cache|run|codespace|label|issue|variable|ruleset) delete(?= |-)|^repo "
        r"archive|^api\b.*(?:-X|--method)[ =]?DELETE"),
    CommandRow("clusters and sites deleted", "deletes a cluster or a site",
        "eksctl kops vercel netlify civo k3d minikube scw vultr-cli",
        "(?:^| )(?:delete|remove|rm|destroy|sites:delete)(?= |$)", "{not_here}|^env (?:rm|remove)"),
    CommandRow("redis del", "deletes keys", "redis-cli valkey-cli keydb-cli",
        r"(?i)\b(?:script flush|function flush|--scan\b.*del)\b"),
    CommandRow("redis del of many", "deletes all keys that it is given", "xargs parallel",
        r"(?i)^(?:-\S+ |\d+ )*(?:redis|valkey|keydb)-cli\b.* (?:del|unlink)(?= |$)"),
    CommandRow("mkfs", "erases a disk, a volume or a file system",
        "mkfs mke2fs mkswap mkdosfs newfs wipefs blkdiscard mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs "
        "mkfs.vfat mkfs.ntfs mkfs.f2fs mkfs.fat mkfs.exfat hdparm-erase nwipe shred srm wipe scrub Format-Volume "
        "Clear-Disk Remove-Partition cipher.exe vssadmin format", r"\S", "{help}"),
    CommandRow("partition", "erases a disk, a volume or a file system",
        "fdisk sfdisk gdisk sgdisk parted diskpart cfdisk", r"\S|^$",
        "{flag:l list}|(?:^| )(?:print|-p)(?= |$)|{help}"),
    CommandRow("diskutil", "erases a disk, a volume or a file system", "diskutil",
        "(?i)^(?:erase|partition|zero|secureErase|apfs delete)"),
    CommandRow("volumes", "erases a disk, a volume or a file system", "lvremove vgremove pvremove"),
    CommandRow("volumes (zfs)", "erases a disk, a volume or a file system", "zfs zpool",
        "{first:destroy labelclear rollback}", r"(?:^| )-\w*n\w*(?= |$)"),
    CommandRow("volumes (cryptsetup)", "erases a disk, a volume or a file system", "cryptsetup",
        "{any:luksFormat erase luksErase luksKillSlot reencrypt}"),
    CommandRow("volumes (mdadm)", "erases a disk, a volume or a file system", "mdadm nvme hdparm sg_format",
        "--zero-superblock|^format|--security-erase|^sanitize"),
    CommandRow("Windows (Remove-Item)", "deletes folders and everything in them", "Remove-Item ri del erase rd rmdir",
        r"(?i)(?:^| )[a-z]:[\\/\w]|(?:^| )(?:\\\\|HK(?:LM|CU):|\*)"),
    CommandRow("badblocks -w", "writes over a disk", "badblocks", "{flag:w}"),
    CommandRow("git push --force main", "overwrites or deletes commits that others have", "git",
        r"^push\b(?=.* (?:-\w*f\w*|--force\S*|--mirror|--prune)(?= |$))(?:(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$|.* "
        r"\+?(?:\S+:)?(?:refs/heads/)?{main_branches}(?= |$)|.* --(?:mirror|all|tags)(?= |$))",
        r"{any:-n --dry-run}|^push(?!.* (?:-\w*f\w*|--force|--mirror|--prune)(?= |$))(?: -\S+)* "
        r"--force-with-lease(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$"),
    CommandRow("git push +main", "overwrites or deletes commits that others have", "git",
        r"^push\b.* (?:\+(?:\S+:)?(?:refs/heads/)?{main_branches}|:(?:refs/heads/)?{main_branches})(?= |$)"
        r"|^push\b(?=.* (?:-d|--delete)(?= |$)).* (?:refs/heads/)?{main_branches}(?= |$)|^reflog (?:expire\b.* "
        r"--expire(?:-unreachable)?=(?:now|all|0)|delete\b)|^gc\b.* --prune=(?:now|all)|^prune(?= |$)",
        "{any:-n --dry-run}"),
    CommandRow("git filter-branch", "rewrites the whole history of a repository", "git git-filter-repo",
        "{first:filter-branch filter-repo}|--invert-paths", "{not_run}|{any:--analyze}"),
    CommandRow("package of the system removed", "removes programs of the system, and with them their data",
        "apt apt-get aptitude yum dnf zypper apk pacman",
        "{first:purge remove autoremove erase del -R -Rs -Rns -Rdd}|(?:^| )(?:purge|remove|erase|del)(?= )",
        "{not_run}|{any:-s --simulate}"),
    CommandRow("pip of the system", "removes packages that programs of the system use", "pip pip3",
        "{first:uninstall}(?=.* --break-system-packages)"),
)
_WIPE_DATABASE = (
    CommandRow("aws databases", "deletes a database or everything in it", "aws",
        r"^(?:rds|dynamodb|redshift|docdb|neptune|elasticache|memorydb|timestream\S*|keyspaces) delete-",
        "{not_run}|--dryrun"),
    CommandRow("gcloud databases", "deletes a database or everything in it", "gcloud",
        r"(?:^| )(?:sql|spanner|bigtable|redis|firestore|alloydb|datastore)\b.*\b(?:delete|restore-backup)(?= |$)"),
    CommandRow("bq", "deletes a database or everything in it", "bq", r"^rm\b"),
    CommandRow("dropdb", "deletes a database or everything in it", "dropdb pg_dropcluster mongo_drop", r"\S",
        "{help}"),
    CommandRow("mysqladmin drop", "deletes a database or everything in it", "mysqladmin migrate dbmate", "{any:drop}"),
    CommandRow("redis", "deletes a database or everything in it", "redis-cli valkey-cli keydb-cli dragonfly",
        r"(?i)\b(?:flushall|flushdb)\b"),
    CommandRow("pg_restore --clean", "drops tables before it restores them", "pg_restore", "{flag:c clean}"),
    CommandRow("mongorestore --drop", "drops collections before it restores them", "mongorestore", "--drop(?= |$)"),
    CommandRow("django flush", "drops a database or everything in it", "manage.py django-admin",
        "{first:flush reset_db sqlflush-run}"),
    CommandRow("rails drop", "drops a database or everything in it", "rails rake",
        r"{any:db:(?:drop|reset|purge|schema:load|structure:load|migrate:reset|truncate_all)\S*}"),
    CommandRow("prisma reset", "drops a database or everything in it", "prisma",
        "^migrate reset|--force-reset|--accept-data-loss"),
    CommandRow("flyway clean", "drops a database or everything in it", "flyway", "{any:clean}"),
    CommandRow("node drop", "drops a database or everything in it", "sequelize sequelize-cli typeorm mikro-orm",
        "{any:db:drop schema:drop schema:fresh migration:fresh}"),
    CommandRow("rust drop", "drops a database or everything in it", "sqlx diesel", "^(?:db|database) (?:drop|reset)"),
    CommandRow("artisan wipe", "drops a database or everything in it", "artisan",
        "{first:migrate:fresh migrate:reset migrate:refresh db:wipe}"),
    CommandRow("ecto drop", "drops a database or everything in it", "mix", r"{first:ecto\.drop ecto\.reset}"),
    CommandRow("supabase reset", "drops a database or everything in it", "supabase", "^db reset"),
    CommandRow("heroku pg", "drops a database or everything in it", "heroku",
        "{first:pg:reset pg:push addons:destroy}"),
    CommandRow("influx wiped", "drops or empties a database", "influx influxd",
        r"(?i)\bdrop\s+(?:database|measurement|series|shard|user)\b|\bdelete\s+from\b|^(?:bucket|org|user|backup) "
        r"delete\b|^delete(?= )"),
)
_MIGRATE_DATABASE = (
    CommandRow("unseen SQL", "runs SQL from a file that was not read",
        "psql mysql mariadb sqlcmd cockroach snowsql cqlsh",
        r"(?:^| )(?:-\w*f|--file|-i|--input-file)(?= |=)|(?:^| )(?:\\i|source)\s+\S"),
    CommandRow("alembic", "changes the schema of a database", "alembic aerich", "{any:upgrade downgrade stamp}",
        "{not_run}|--sql"),
    CommandRow("flask db", "changes the schema of a database", "flask", "^db (?:upgrade|downgrade|stamp)",
        "{not_run}|--sql"),
    CommandRow("django", "changes the schema of a database", "manage.py django-admin", "{first:migrate}", "{not_run}"),
    CommandRow("rails", "changes the schema of a database", "rails rake",
        r"{first:db:migrate(?!:status)\S* db:rollback db:seed:replant db:prepare}", "{not_run}"),
    CommandRow("prisma", "changes the schema of a database", "prisma",
        r"^(?:migrate (?:deploy|dev|resolve)|db (?:push|execute))\b",
        r"{help}|--create-only|^db push\b(?=.*--force-reset)"),
    CommandRow("flyway", "changes the schema of a database", "flyway", "{any:migrate undo repair baseline}", "{help}"),
    CommandRow("liquibase", "changes the schema of a database", "liquibase",
        r"{any:update(?!-sql)\S* rollback(?!-sql)\S* changelog-sync}", "{help}"),
    CommandRow("node migrations", "changes the schema of a database",
        "knex sequelize sequelize-cli typeorm mikro-orm migrate-mongo node-pg-migrate db-migrate umzug",
        r"{any:migrate:(?:latest|up|down|rollback) db:migrate(?!:status)\S* migration:(?:run|revert|up|down) "
        "schema:(?:sync|update) up down}", "{not_run}"),
    CommandRow("drizzle", "changes the schema of a database", "drizzle-kit", "{first:push migrate}"),
    CommandRow("go migrations", "changes the schema of a database",
        "goose dbmate migrate sql-migrate tern atlas skeema sqitch yoyo",
        "{any:up up-to up-by-one down down-to redo rollback migrate apply push deploy revert force goto}",
        "{not_run}"),
    CommandRow("rust migrations", "changes the schema of a database", "sqlx diesel",
        "^(?:migrate (?:run|revert)|migration (?:run|revert|redo))"),
    CommandRow("artisan", "changes the schema of a database", "artisan", "{first:migrate migrate:rollback}",
        "--pretend"),
    CommandRow("ecto", "changes the schema of a database", "mix", r"{first:ecto\.migrate ecto\.rollback}"),
    CommandRow("supabase", "changes the schema of a database", "supabase hasura",
        "^(?:db push|migration (?:up|repair)|migrate apply)", "{not_run}"),
    CommandRow("ef", "changes the schema of a database", "dotnet dotnet-ef", "^(?:ef )?database update"),
    CommandRow("d1", "changes the schema of a database", "wrangler", "^d1 (?:migrations apply|execute)",
        "--local|{elsewhere}"),
    CommandRow("migrate script", "runs the project's own migrations", "make just task",
        r"(?:^| )(?:db[-_:])?migrate(?:[-_:](?:up|down|prod\S*|latest|deploy))?(?= |$)", "{not_run}|^-n "),
    CommandRow("migrate script (npm)", "runs the project's own migrations", "npm pnpm yarn bun",
        r"^(?:run(?:-script)? )?(?:db:)?migrate(?::(?:up|down|prod\S*|latest|deploy|run))?(?= |$)"),
)
_DEPLOY_PRODUCTION = (
    CommandRow("kubectl apply", "changes what runs for users", "kubectl oc k",
        "{first:apply create replace patch edit set run expose autoscale scale label annotate taint "
        "kustomize-apply}",
        "{not_here}|(?:^| )(?:rolebinding|clusterrolebinding|role|clusterrole|secret)(?= |$)|--replicas[ =]0(?= "
        "|$)"),
    CommandRow("kubectl rollout", "changes what runs for users", "kubectl oc k", "^rollout (?:restart|undo)",
        "{not_here}"),
    CommandRow("helm deploy", "changes what runs for users", "helm helmfile",
        "{first:install upgrade rollback sync apply}", "{not_here}"),
    CommandRow("compose in production", "changes what runs for users",
        "docker podman nerdctl docker-compose podman-compose",
        r"^(?=.*(?:^| )(?:-f|--file|-p|--project-name|--env-file|--context|-c)[ =]\S*prod)(?=.*(?:^| )(?:up"
        r"|create)(?= |$))|^stack deploy\b", "{not_run}"),
    CommandRow("terraform apply", "changes what runs for users", "terraform tofu terragrunt", "{any:apply import}",
        "{help}"),
    CommandRow("terraform state", "changes what runs for users", "terraform tofu terragrunt",
        "^state (?:rm|push|mv)|^taint "),
    CommandRow("pulumi up", "changes what runs for users", "pulumi", "{first:up update import refresh}", "{not_here}"),
    CommandRow("cdk deploy", "changes what runs for users", "cdk cdktf sam copilot eb ecs-cli", "{any:deploy}",
        "{not_here}"),
    CommandRow("serverless", "changes what runs for users", "serverless sls", "{first:deploy}", "{not_here}"),
    CommandRow("vercel", "changes what runs for users", "vercel vc now", "{any:--prod --production promote rollback}",
        "{help}"),
    CommandRow("netlify", "changes what runs for users", "netlify ntl", r"^deploy\b.* (?:--prod|-p)(?= |$)", "{help}"),
    CommandRow("wrangler", "changes what runs for users", "wrangler", r"^(?:deploy|publish|rollback|pages deploy)\b",
        "{not_here}"),
    CommandRow("firebase", "changes what runs for users", "firebase", "{first:deploy}",
        "{not_here}|(?:^| )-P (?:dev|stag)"),
    CommandRow("fly deploy", "changes what runs for users", "fly flyctl", "{first:deploy launch}", "{not_here}"),
    CommandRow("heroku", "changes what runs for users", "heroku",
        "{first:config:set config:unset container:release releases:rollback rollback pipelines:promote ps:scale}",
        r"{not_here}|ps:scale \S+=0"),
    CommandRow("git push heroku", "changes what runs for users", "git",
        r"^push (?:-\S+ )*(?:heroku|dokku|prod(?:uction)?|live)\b"),
    CommandRow("aws deploy", "changes what runs for users", "aws",
        "^(?:cloudformation (?:deploy|create-stack|update-stack|execute-change-set)|ecs (?:update-service"
        r"|run-task|create-service)|lambda (?:update-function-\S+|publish-version|update-alias|create-function)"
        "|deploy create-deployment|elasticbeanstalk update-environment|apprunner start-deployment|amplify "
        r"start-job|autoscaling (?:set|update)-\S+|ec2 run-instances|route53 change-\S+|eks update-\S+"
        r"|codepipeline start-\S+|rds modify-\S+)\b", "{help}|--dry-run|--desired-count[ =]0"),
    CommandRow("gcloud deploy", "changes what runs for users", "gcloud",
        r"(?:^| )(?:app|run|functions|endpoints services|builds triggers|deploy|deployment-manager)\b.* "
        "?(?:deploy|submit|update-traffic|replace|migrate|set-traffic|promote)(?= |$)", "{not_here}"),
    CommandRow("az deploy", "changes what runs for users", "az azd",
        r"^(?:webapp (?:deploy|up|deployment slot swap)|functionapp deploy|deployment \w+ create|containerapp "
        r"(?:up|update)|up|deploy|aks (?:update|upgrade)|acr run)\b", "{not_here}"),
    CommandRow("capistrano", "changes what runs for users", "cap kamal mina dokku fab",
        r"{any:\S*deploy\S* redeploy rollback}", "{not_run}|^(?:stag|dev)|(?:^| )(?:staging|dev|test)(?= |$)"),
    CommandRow("argocd", "changes what runs for users", "argocd", "^app (?:sync|rollback|set|create)", "{not_run}"),
    CommandRow("nomad", "changes what runs for users", "nomad", r"^(?:job )?run\b", "{not_run}"),
    CommandRow("gh workflow run", "starts a workflow that changes what runs for users", "gh",
        r"^workflow run \S*(?:deploy|prod|release|ship)", "(?:stag|preview|dev)"),
    CommandRow("deploy script", "runs the project's own deployment", "make just task rake invoke inv nx turbo ant",
        r"(?:^| )(?:(?!\S*(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa|demo"
        r"|dry))\S*[-_:./])?(?:deploy|ship|rollout|promote)(?![\w]*\.)(?:[-_:](?!(?:stag|dev|preview|test|docs?"
        r"|pages|storybook|local|sandbox|qa|demo|dry))\S*)?(?= |$)",
        "{not_run}|^-n |(?:^| )(?:staging|dev|preview)(?= |$)"),
    CommandRow("deploy script (npm)", "runs the project's own deployment", "npm pnpm yarn bun",
        "^(?:run(?:-script)? )?deploy(?:[:-](?!(?:stag|dev|preview|test|docs?|pages|storybook|local|sandbox|qa"
        r"|demo|dry))\S*)?(?= |$)"),
    CommandRow("deploy script (deploy.sh)", "runs the project's own deployment",
        "deploy.sh deploy deploy-prod.sh deploy_prod.sh deploy-production.sh deploy_production.sh deploy.py "
        "deploy-prod deploy_production release.sh ship.sh rollout.sh", "",
        "{not_run}|(?:^| )(?:--env[ =]|-e )?(?:staging|dev|preview|test)(?= |$)"),
)
_SHUTDOWN_SERVICE = (
    CommandRow("shutdown", "stops the machine", "shutdown reboot halt poweroff Stop-Computer Restart-Computer", "",
        "(?:^| )(?:-c|--show|-w|--wtmp-only|--help)(?= |$)"),
    CommandRow("init", "stops the machine", "init telinit", "{first:[016]}"),
    CommandRow("systemctl", "stops a service that others may be using", "systemctl",
        "{first:stop disable mask kill restart try-restart poweroff reboot halt isolate suspend hibernate rescue "
        "emergency kexec}", "{not_run}"),
    CommandRow("service", "stops a service that others may be using",
        "service rc-service invoke-rc.d initctl sv svc s6-svc",
        "(?:^| )(?:stop|restart|down|force-stop|force-restart|-d|-t|-k)(?= |$)"),
    CommandRow("launchctl", "stops a service that others may be using", "launchctl",
        "{first:unload bootout stop kill remove disable reboot}"),
    CommandRow("supervisors", "stops a service that others may be using",
        "supervisorctl pm2 monit circusctl god forever overmind runit",
        "{first:stop delete kill shutdown restart stopall unmonitor remove}"),
    CommandRow("server tools", "stops a service that others may be using",
        "apachectl apache2ctl httpd nginx caddy haproxy",
        "(?:^| )(?:-k (?:stop|restart|graceful-stop)|-s (?:stop|quit)|stop|graceful-stop)(?= |$)"),
    CommandRow("database servers", "stops a service that others may be using",
        "pg_ctl pg_ctlcluster mysqladmin mongod rabbitmqctl redis-cli valkey-cli etcdctl brew",
        "(?i)(?:^| )(?:stop|restart|shutdown|--shutdown|stop_app|kill|stop-all-slaves|services stop)(?= |$)",
        r"^(?:uninstall|install)\b|-m smart --dry"),
    CommandRow("kill by name", "stops a service that others may be using", "pkill killall skill",
        r"(?:^| )(?:nginx|httpd|apache2?|postgres\S*|postmaster|mysqld?|mariadbd?|redis(?:-server)?|mongod?"
        r"|dockerd?|containerd|kubelet|sshd?|systemd\S*|crond?|rabbitmq\S*|beam\.smp|elasticsearch|kafka|haproxy"
        r"|envoy|traefik|caddy|named|dhcpd|NetworkManager|consul|vault|etcd|memcached|php-fpm\S*|supervisord"
        r"|launchd|init|WindowServer|Xorg|gdm|login|seasoned)(?=\s|$)", "(?:^| )(?:-0|-l)(?= |$)"),
    CommandRow("kill 1", "ends every process, or the first of all", "kill",
        r"(?:^| )-1$|(?:^| )-\S+ (?:--? ?)?1(?= |$)|^1(?= |$)|(?:^| )-- -1(?= |$)"),
    CommandRow("docker stop", "stops a service that others may be using", "docker podman nerdctl",
        r"^(?:container )?(?:stop|kill|restart|pause)(?= |$)|^(?:container )?rm\b.* (?:-\w*f\w*|--force)(?= |$)"
        r"|^compose\b(?:.* )?(?:down|stop|kill|restart|rm)(?= |$)|^(?:service|stack|node) (?:rm|remove)\b|^swarm "
        r"leave|^service (?:scale|update)\b.*=0(?= |$)",
        r"^(?:container )?(?:stop|kill|rm)\b(?: -\S+)* \S*[-_](?:test|tests|tmp|dev|local|ci|e2e)(?: -\S+)*$"),
    CommandRow("docker stop (docker-compose)", "stops a service that others may be using",
        "docker-compose podman-compose", "{any:down stop kill restart rm}"),
    CommandRow("kubectl delete", "deletes what runs in a cluster", "kubectl oc k",
        r"{first:delete}|^scale\b.*--replicas[ =]0(?= |$)", "{dry_run}|{elsewhere}"),
    CommandRow("kubectl drain", "stops a service that others may be using", "kubectl oc k",
        "{first:drain cordon evict}", "{dry_run}"),
    CommandRow("helm uninstall", "stops a service that others may be using", "helm helmfile",
        "{first:uninstall delete del destroy un}", "{dry_run}|{elsewhere}"),
    CommandRow("nomad stop", "stops a service that others may be using", "nomad argocd flux",
        r"^(?:job )?stop\b|^app delete|^suspend\b|^node drain|^system gc"),
    CommandRow("aws stop", "stops a service that others may be using", "aws",
        r"^(?:ec2 (?:stop|reboot)-instances|rds (?:stop|reboot|failover)-\S+|ecs (?:stop-task"
        r"|update-service\b.*--desired-count[ =]0)|ssm cancel\S*|sagemaker stop-\S+|elasticbeanstalk (?:terminate"
        r"|restart)-\S+|autoscaling suspend-\S+|cloudfront delete-\S+|lambda put-function-concurrency)", "{dry_run}"),
    CommandRow("gcloud stop", "stops a service that others may be using", "gcloud",
        r"(?:^| )(?:instances?|vms?|clusters?|versions?|services?)\b.* ?(?:stop|suspend|reset|restart|disable)(?= "
        "|$)"),
    CommandRow("az stop", "stops a service that others may be using", "az", "{any:stop deallocate restart poweroff}"),
    CommandRow("platform stop", "stops a service that others may be using",
        "heroku fly flyctl railway doctl hcloud linode-cli",
        r"^(?:ps:(?:stop|kill|restart|scale \S+=0)|dyno:\S+|maintenance:on|scale count 0|machines? (?:stop|kill"
        "|destroy)|apps? (?:suspend|restart)|down|compute droplet-action (?:power-off|shutdown|reboot)|server "
        "(?:poweroff|shutdown|reset|reboot)|linodes shutdown)(?= |$)"),
    CommandRow("virtual machines", "stops a service that others may be using",
        "virsh VBoxManage vagrant multipass lxc incus qm pct wsl wsl.exe limactl",
        r"^(?:shutdown|reboot|destroy|halt|suspend|stop|--shutdown|--terminate|controlvm \S+ (?:poweroff"
        "|acpipowerbutton|reset))(?= |$)"),
)
_PUBLISH_PACKAGE = (
    CommandRow("npm publish", "publishes to everyone, which cannot be undone", "npm pnpm yarn bun",
        r"^(?:npm )?(?:-r |--recursive |workspaces? \S+ )?(?:publish|unpublish|deprecate|dist-tag (?:add|rm"
        "|set))(?= |$)", "{dry_run}"),
    CommandRow("npm run publish", "runs the project's own release", "npm pnpm yarn bun make just task",
        r"^(?:run(?:-script)? )?(?:release|publish|semantic-release)(?::(?!dry|docs?|site|local|test)\S*)?(?= |$)",
        "{not_run}"),
    CommandRow("twine upload", "publishes to everyone, which cannot be undone", "twine", "{first:upload}",
        "(?:-r|--repository) ?=?testpypi"),
    CommandRow("python publish", "publishes to everyone, which cannot be undone",
        "uv poetry hatch flit pdm maturin rye", "{first:publish upload}", "{not_run}|testpypi"),
    CommandRow("cargo publish", "publishes to everyone, which cannot be undone", "cargo",
        "{first:publish yank owner release}", "{not_run}|(?:^| )-n(?= |$)"),
    CommandRow("gem push", "publishes to everyone, which cannot be undone", "gem pod choco snapcraft charmcraft",
        "^(?:trunk )?(?:push|yank|upload|release)(?= |$)"),
    CommandRow("maven deploy", "publishes to everyone, which cannot be undone", "mvn mvnw",
        "{any:deploy deploy:deploy release:perform}"),
    CommandRow("gradle publish", "publishes to everyone, which cannot be undone", "gradle gradlew sbt lein clj mill",
        r"(?:^| )(?:\S*:)?(?:publish(?!ToMavenLocal|Local)\S*|deploy|\+publish|sonatypeRelease)(?= |$)", "{dry_run}"),
    CommandRow("nuget push", "publishes to everyone, which cannot be undone", "dotnet nuget",
        "^(?:nuget )?(?:push|delete)(?= |$)"),
    CommandRow("image push", "publishes an image", "docker podman nerdctl buildah",
        "^(?:image |manifest |compose )?push(?= |$)", r"(?:^| )(?:localhost|127\.0\.0\.1|kind-registry)(?::\d+)?/"),
    CommandRow("image build --push", "publishes an image", "docker podman",
        r"^(?:buildx )?(?:build|bake)\b.* --push(?= |$)"),
    CommandRow("image push (crane)", "publishes an image", "crane skopeo oras ko helm",
        r"^(?:push|copy|cp|publish|build)\b", r"^(?!.*(?:push|docker://\S+ docker://|crane|oci://)).*$|localhost"),
    CommandRow("gh release", "publishes to everyone, which cannot be undone", "gh glab",
        "^release (?:create|edit|upload)(?= |$)", "--draft(?: |=true|$)"),
    CommandRow("release tool", "publishes to everyone, which cannot be undone",
        "semantic-release release-it np lerna changeset changesets goreleaser auto standard-version cargo-release",
        "^(?:publish|release|shipit)?(?= |$)", "{not_run}|-d(?= |$)|--snapshot|--no-publish|--ci=false"),
    CommandRow("pub publish", "publishes to everyone, which cannot be undone", "dart flutter", "^pub (?:publish|lish)",
        "{not_run}"),
    CommandRow("hex publish", "publishes to everyone, which cannot be undone", "mix rebar3",
        r"{first:hex\.publish hex}"),
    CommandRow("extension", "publishes to everyone, which cannot be undone",
        "vsce ovsx jsr deno wasm-pack luarocks anaconda cabal stack opam cpan-upload tessl",
        "{first:publish upload unpublish}", "{not_run}"),
)
_EXEC_REMOTE = (
    CommandRow("ssh", "runs or copies something on another machine", "ssh mosh autossh sshpass plink dbclient et",
        r"\S",
        r"^-V$|^-G |^-Q |(?:^| )(?:git@)?(?:github|gitlab|bitbucket|ssh\.github)\.(?:com|org)$|^-[TO] git@\S+$"),
    CommandRow("scp", "runs or copies something on another machine", "scp rcp sftp pscp psftp lftp sshfs",
        r"(?:^| )(?:[\w.-]+@)?[\w.\[\]:-]*[\w\]]:|@|^[\w.-]+\.\w+|sftp://", "{help}"),
    CommandRow("rsync", "runs or copies something on another machine", "rsync",
        r"(?:^| )(?:[\w.-]+@)?(?![A-Za-z]:\\)[\w.-]{2,}::?(?=\S| |$)|(?:^| )(?:-e|--rsh)(?= |=)|rsync://",
        r"^(?!.*@)(?:-\S+ )*\S*--(?:version|help)|(?:^| )(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)(?= |$)"),
    CommandRow("ansible", "runs on the machines of an inventory",
        "ansible ansible-playbook ansible-pull ansible-console", r"\S",
        "(?:^| )(?:--syntax-check|--list-(?:hosts|tasks|tags)|--version|--check|-C|-h|--help)(?= |$)"
        r"|^localhost\b|-c local(?= |$)|--connection[ =]local"),
    CommandRow("many machines", "runs or copies something on another machine",
        "pssh pdsh clush parallel-ssh dsh mussh salt salt-ssh knife chef-run bolt psexec winrs tsh teleport "
        "boundary", r"\S", r"{help}|^(?:ls|status|login|version)\b|test\.ping"),
    CommandRow("kubectl exec", "runs inside a cluster", "kubectl oc k", "{first:exec cp debug attach rsh rsync}",
        "^$|{elsewhere}"),
    CommandRow("docker -H", "runs or copies something on another machine", "docker podman nerdctl",
        r"^(?:-\S+ )*(?:(?:-H|--host|--url)[ =]?(?!unix:)\S|(?:--context|-c)[ =](?!default|desktop-linux|colima"
        r"|orbstack|rootless)\S|--remote(?= |$))"),
    CommandRow("cloud shell", "runs or copies something on another machine", "aws",
        "^(?:ssm (?:send-command|start-session|start-automation-execution)|ecs execute-command"
        r"|ec2-instance-connect \S+)"),
    CommandRow("cloud shell (gcloud)", "runs or copies something on another machine", "gcloud",
        "(?:^| )(?:compute|tpus tpu-vm|cloud-shell) (?:ssh|scp|tpus tpu-vm ssh)(?= |$)"),
    CommandRow("cloud shell (az)", "runs or copies something on another machine", "az",
        "^(?:vm run-command|vmss run-command|ssh (?:vm|arc)|container exec|containerapp exec|webapp ssh|aks "
        "command invoke)"),
    CommandRow("cloud shell (heroku)", "runs or copies something on another machine",
        "heroku fly flyctl railway render doctl eb copilot",
        r"^(?:run(?::\S+)?|ssh(?: console| sftp)?|console|ps:exec|pg:psql|compute ssh|svc exec|machine exec)(?= "
        "|$)", "{help}"),
    CommandRow("raw connection", "sends what it is given to another machine", "nc ncat netcat",
        r"(?:^| )[\w.:-]+ \d{1,5}(?= |$)",
        r"(?:^| )-\w*[zlU]\w*(?= |$)|(?:^| )(?:localhost|127\.0\.0\.1|::1)(?= )|{help}"),
)
_MODIFY_PERMISSIONS = (
    CommandRow("claude without checks", "starts an agent without its checks, or with other settings",
        "claude claude-code", "(?:^| )--(?:allow-)?dangerously-skip-permissions(?= |=|$)|(?:^| )--permission-mode[ "
        "=](?:bypassPermissions|dontAsk)|(?:^| )--(?:settings|setting-sources|bare)(?= |=|$)|^config (?:set"
        "|remove|rm)(?= )|^mcp remove(?= )|^plugins? (?:disable|remove|uninstall)(?= )", "{help}"),
    CommandRow("codex without checks", "starts an agent without its checks", "codex",
        r"(?:^| )--(?:dangerously-\S+|yolo)(?= |=|$)|danger-full-access|approval_policy[ =]+[\x22\x27]?never|(?:^"
        r"| )(?:-a|--ask-for-approval)[ =]never|(?:^| )(?:-c|--config)[ =][\x22\x27]?(?:features\.)?hooks|(?:^| "
        ")--disable[ =]hooks|^features disable", "{help}"),
    CommandRow("other agents without checks", "starts an agent without its checks",
        "hermes gemini copilot amp aider cursor-agent opencode qwen goose",
        r"(?:^| )--(?:yolo|yes-always|allow-all-tools|allow-all-paths|dangerously-\S+|trust-all-tools)(?= |=|$)"
        r"|(?:^| )--approval-mode[ =]yolo|^(?:config|settings) (?:set|unset|delete|remove|rm) \S*(?:hook|approv"
        "|permission|yolo|danger|sandbox|auto_accept|allow|trust)|^(?:plugins?|hooks?) (?:disable|remove"
        "|uninstall|revoke)(?= )", "{help}"),
    CommandRow("seasoned uninstalled", "removes the program that asks", "pip pip3 pipx uv brew conda mamba",
        "(?:^| )(?:uninstall|remove)(?= )(?:.* )?seasoned(?= |$)"),
    CommandRow("agents' variables", "makes agents use other settings", "export setenv launchctl",
        r"(?:^| )(?:CLAUDE_CONFIG_DIR|CODEX_HOME|HERMES_HOME|SEASONED_\w+|CLAUDE_CODE_\w*HOOK\w*"
        "|CLAUDE_PROJECT_DIR)(?==| )"),
    CommandRow("users", "changes users of the machine",
        "useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup gpasswd visudo vipw "
        "vigr chsh dscl sysadminctl dseditgroup newusers", r"\S|^$", r"{help}|^\. -(?:read|list)|-c$"),
    CommandRow("setfacl", "changes who may do what",
        "setfacl setcap setenforce semanage setsebool chcon restorecon aa-disable aa-complain", r"\S",
        "{help}|(?:^| )-l(?= |$)"),
    CommandRow("sudoers", "changes who may do what", "sudoedit", r"\S"),
    CommandRow("chattr", "changes who may do what", "chattr chflags",
        r"(?:^| )(?:[-+=]\w*[ia]\w*|\w*schg\w*|\w*uchg\w*)(?= )"),
    CommandRow("firewall", "changes the firewall", "iptables ip6tables nft ufw firewall-cmd pfctl netsh", r"\S",
        r"^(?:-L|-S|--list\S*|list|status|show|-s|app list|.* show)\b|(?:^| )-\w*L\w*(?= |$)|{help}"),
    CommandRow("aws iam", "changes who may do what", "aws",
        "^(?:iam (?:attach|detach|put|add|remove|create|delete|update|set|tag|untag)-(?!access-key|login-profile"
        r"|ssh|server-cert|signing)\S+|s3api put-(?:bucket-(?:acl|policy|ownership\S*|public\S*)"
        r"|public-access-block|object-acl)|organizations (?:attach|detach|create|remove)-\S+|ec2 (?:authorize"
        r"|revoke)-security-group-\S+|lambda (?:add|remove)-permission|kms (?:put-key-policy|create-grant"
        r"|revoke-grant)|sso-admin \S+|s3control put-\S+|ecr set-repository-policy|cognito-idp admin-\S+"
        "|secretsmanager put-resource-policy)", "{dry_run}"),
    CommandRow("gcloud iam", "changes who may do what", "gcloud",
        r"(?:^| )(?:\S*(?:add|remove|set)-iam-policy\S*|iam (?:roles|service-accounts) (?:create|delete|update"
        "|enable|disable|undelete)|firewall-rules (?:create|update|delete))(?= |$)"),
    CommandRow("az role", "changes who may do what", "az",
        r"^(?:role (?:assignment|definition) (?:create|delete|update)|ad (?:user|group|app|sp)\b.*\b(?:create"
        "|delete|add|remove|update)|network nsg rule (?:create|delete|update)|keyvault (?:set-policy"
        "|delete-policy))"),
    CommandRow("kubernetes roles", "changes who may do what", "kubectl oc k",
        r"^(?:create|delete|edit|patch|apply|replace) .*\b(?:role|clusterrole|rolebinding|clusterrolebinding"
        "|serviceaccount|sa)s?(?=[ /]|$)|^auth reconcile|^certificate (?:approve|deny)|^adm policy|^policy add",
        "{dry_run}"),
    CommandRow("seasoned", "changes who guards agents, or starts one unattended", "seasoned",
        r"^(?:cron (?:add|pause|run)|connect\b.* --undo|confirm (?:token|allow|policy)|gateway key)(?= |$)",
        "^(?:confirm (?:token|allow|policy)|gateway key) (?:list|show|check)(?= |$)|{help}"),
    CommandRow("hermes", "changes who guards agents, or starts one unattended", "hermes",
        "^(?:plugins (?:disable|remove|uninstall)|config (?:set|unset) (?:plugins|approvals)|seasoned (?:cron "
        r"(?:add|pause|run)|connect\b.* --undo|confirm|gateway key|forget|(?:memory|skill) accept|review\b.* "
        "--accept))(?=[ .=]|$)",
        r"^seasoned confirm (?:\w+ )?(?:list|show|check|audit|verify|head|submit|wait)(?= |$)|{help}"),
    CommandRow("hosted rights", "changes who may do what", "gh glab",
        r"^(?:repo edit\b.* --visibility|repo deploy-key (?:add|delete)|ssh-key (?:add|delete)|gpg-key (?:add"
        r"|delete)|ruleset (?:create|edit)|auth refresh\b.*-s|pr merge\b.* --admin(?= |$))|^api\b(?=.*(?:-X"
        "|--method)[ =]?(?:PUT|POST|PATCH))(?=.*(?:collaborators|memberships|protection|permissions|teams))"),
    CommandRow("npm rights", "changes who may do what", "npm yarn pnpm",
        "^(?:npm )?(?:owner (?:add|rm)|access (?:grant|revoke|public|restricted|set)|team|profile set)"),
    CommandRow("vault policy", "changes who may do what", "vault bao",
        "^(?:policy (?:write|delete)|auth (?:enable|disable|tune)|write (?:-f )?(?:auth|identity|sys)/)"),
    CommandRow("ssh-copy-id", "authorizes a key on another machine", "ssh-copy-id", r"\S", "{help}|(?:^| )-n(?= |$)"),
    CommandRow("own policy", "decides or changes what a person must decide", "seasoned",
        r"^confirm (?:approve|deny|allow|token|passphrase|policy|install|uninstall)(?= |$)|^confirm serve\b.* "
        r"--policy(?= |=)|^(?:memory|skill) accept(?= |$)|^review\b.* --accept(?= |=|$)",
        r"{help}|^confirm (?:un)?install\b.* --dry-run(?= |$)|^confirm (?:allow|token|passphrase|policy) (?:list"
        "|check|show)(?= |$)"),
)
_ROTATE_KEYS = (
    CommandRow("passwd", "changes a password", "passwd chpasswd smbpasswd htpasswd kpasswd ldappasswd", r"\S|^$",
        r"{help}|(?:^| )(?:-S|--status|-n\w*|-nb\w*)(?= |$)"),
    CommandRow("aws keys", "replaces or deletes a key or secret that others rely on", "aws",
        "^(?:iam (?:create|delete|update)-(?:access-key|login-profile|ssh-public-key|server-certificate"
        r"|signing-certificate)|iam (?:reset|change)-\S+|secretsmanager (?:rotate|put|update|delete|restore"
        r"|create)-secret\S*|kms (?:schedule-key-deletion|disable-key\S*|enable-key-rotation|rotate-\S+"
        r"|delete-\S+|import-key\S*)|ssm (?:put|delete)-parameters?|acm (?:delete|import)-certificate|ec2 "
        "(?:create|delete|import)-key-pair)", "{dry_run}"),
    CommandRow("gcloud keys", "replaces or deletes a key or secret that others rely on", "gcloud",
        "(?:^| )(?:service-accounts keys (?:create|delete|upload|disable)|secrets (?:create|delete|update"
        r"|versions (?:add|destroy|disable))|kms keys\b.*\b(?:create|destroy|disable|update|rotate"
        "|set-primary-version)|auth revoke)(?= |$)"),
    CommandRow("az keys", "replaces or deletes a key or secret that others rely on", "az",
        "^(?:keyvault (?:secret|key|certificate) (?:set|delete|purge|rotate|create|import|recover)|ad (?:sp|app) "
        "credential (?:reset|delete)|storage account keys renew|keyvault (?:delete|purge)|aks rotate-certs"
        "|cognitiveservices account keys regenerate)"),
    CommandRow("hosted secrets", "replaces or deletes a key or secret that others rely on", "gh glab",
        "^(?:secret|variable) (?:set|delete|remove)(?= |$)"),
    CommandRow("platform secrets", "replaces or deletes a key or secret that others rely on",
        "fly flyctl wrangler vercel netlify doppler railway infisical supabase heroku",
        "^(?:secrets? (?:set|unset|put|delete|import|bulk|upload|deploy)|env (?:add|rm|remove)|env:(?:set|unset"
        "|import)|variables? (?:set|delete|--set)|pg:credentials:rotate|authorizations:(?:rotate|revoke)"
        "|configs? tokens revoke)(?= |$)", "{help}"),
    CommandRow("kubernetes secrets", "replaces or deletes a key or secret that others rely on", "kubectl oc k",
        r"^(?:create|delete|edit|patch|replace|apply) (?:-\S+ \S+ )*(?:secrets?|serviceaccounts?/token"
        "|certificatesigningrequests?|csr)(?=[ /]|$)", "{dry_run}"),
    CommandRow("vault", "replaces or deletes a key or secret that others rely on", "vault bao",
        "^(?:operator (?:rekey|rotate|init|seal|step-down|generate-root|key-status)|token (?:revoke|create"
        "|renew)|lease revoke|secrets (?:disable|move|enable)|kv (?:put|patch|delete|destroy|metadata delete"
        r"|rollback|undelete)|write\b.*rotate|delete|put|write (?:-f )?\S*(?:root|config|keys))(?= |$|/)",
        "^operator key-status"),
    CommandRow("gpg", "replaces or deletes a key or secret that others rely on", "gpg gpg2",
        r"--(?:delete-(?:secret-)?(?:and-public-)?keys?|gen(?:erate)?-key|full-gen\S*|quick-(?:gen\S*|add\S*"
        r"|rev\S*|set\S*)|gen-revoke|generate-revocation|edit-key|change-pass\S*|passwd|send-keys?"
        r"|import-ownertrust|delete-secret\S*)(?= |=|$)"),
    CommandRow("certificates", "replaces or deletes a key or secret that others rely on",
        "certbot acme.sh lego kubeadm cfssl step",
        "(?:^| )(?:renew|revoke|delete|certonly|run|--renew(?:-all)?|--revoke|--issue|certs renew|rekey"
        "|rotate)(?= |$)", "{not_run}|check-expiration"),
    CommandRow("npm token", "replaces or deletes a key or secret that others rely on", "npm yarn pnpm",
        "^(?:npm )?token (?:create|revoke|delete)"),
)
_TRANSFER_FUNDS = (
    CommandRow("stripe", "moves money", "stripe",
        "^(?:(?:payouts|transfers|charges|refunds|payment_intents|topups|invoices|subscriptions) (?:create"
        r"|confirm|capture|pay|reverse|cancel|update)|post /?v\d/(?:{stripe_resources})|delete )(?= |$|\S)",
        "sk_test_|rk_test_|^trigger "),
    CommandRow("bitcoin", "moves money", "bitcoin-cli litecoin-cli dogecoin-cli zcash-cli elements-cli",
        "{any:sendtoaddress sendmany send sendall sendrawtransaction sendfrom z_sendmany}",
        "-(?:regtest|testnet|signet)"),
    CommandRow("ethereum", "moves money",
        "cast near solana spl-token aptos sui gaiad wallet-cli monero-wallet-cli flow starkli tezos-client "
        "octez-client", "{any:send transfer send-money pay publish bank approve}",
        r"(?:localhost|127\.0\.0\.1|devnet|testnet|sepolia)|{help}"),
    CommandRow("payment request", "moves money", "curl",
        "^(?=.*(?:{paying_hosts}))(?=.*(?:(?:-X ?|--request[ =])(?:POST|PUT|PATCH|DELETE)|(?:^| "
        r")(?:-[a-zA-Z]*[dFT]|--data\S*|--form\S*|--json|--upload-file|-d\S+)(?= |=|$|\S)))",
        r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|\[::1\])(?=[:/])|(?:^| )(?:-G|--get)(?= |$)"),
    CommandRow("payment request (wget)", "moves money", "wget http https xh httpie hurl",
        r"^(?=.*(?:{paying_hosts}))(?=.*(?:--(?:post|body|method)|(?:^| )(?:POST|PUT|PATCH|DELETE)(?= )|\w+:?=\S))",
        r"sk_test_|sandbox|(?:localhost|127\.0\.0\.1|(?:^| ):\d+)(?=[:/])|(?:^| )GET(?= )"),
)
ROWS = tuple(
    msgspec.structs.replace(row, action=action)
    for action, rows in (
        ("delete_data", _DELETE_DATA), ("wipe_database", _WIPE_DATABASE),
        ("migrate_database", _MIGRATE_DATABASE), ("deploy_production", _DEPLOY_PRODUCTION),
        ("shutdown_service", _SHUTDOWN_SERVICE), ("publish_package", _PUBLISH_PACKAGE),
        ("exec_remote", _EXEC_REMOTE), ("modify_permissions", _MODIFY_PERMISSIONS), ("rotate_keys", _ROTATE_KEYS),
        ("transfer_funds", _TRANSFER_FUNDS),
    )
    for row in rows
)
