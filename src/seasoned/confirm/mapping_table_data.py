"""Rows for what destroys data: disks, databases, what lies in a cloud. Where a path decides, see `mapping_path`."""

from __future__ import annotations

from seasoned.confirm.mapping_row import ASKS, TRIES, any_of, first, flag, row

_NOT_RUN = f"{TRIES}|{ASKS}|--dryrun"
_DISK = "erases a disk, a volume or a file system"
_CLOUD = "deletes what lies in a cloud"
_BACKUP = "deletes backups"
_DATABASE = "deletes a database or all that is in it"
_REWRITES = "overwrites or deletes commits that others have"
_KEPT = r"(?:main|master|trunk|develop|production|prod|stable|release\S*|HEAD)"
SQL_PROGRAMS = (
    "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client clickhouse sqlcmd cockroach mongo mongosh bq"
    " snowsql cqlsh"
    " pgcli mycli litecli usql sqlplus db2 trino presto spanner-cli beeline hive impala-shell osql isql surreal"
)

DISK = (
    row(
        "mkfs",
        "mkfs mke2fs mkswap mkdosfs newfs wipefs blkdiscard mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs"
        " mkfs.vfat mkfs.ntfs mkfs.f2fs mkfs.fat mkfs.exfat hdparm-erase nwipe",
        "delete_data",
        _DISK,
        r"\S",
        ASKS,
    ),
    row(
        "partition",
        "fdisk sfdisk gdisk sgdisk parted diskpart cfdisk",
        "delete_data",
        _DISK,
        r"\S|^$",
        flag("l", "list") + r"|(?:^| )(?:print|-p)(?= |$)|" + ASKS,
    ),
    row("diskutil", "diskutil", "delete_data", _DISK, r"(?i)^(?:erase|partition|zero|secureErase|apfs delete)"),
    row("volumes", "lvremove vgremove pvremove", "delete_data", _DISK),
    row("volumes", "zfs zpool", "delete_data", _DISK, first("destroy labelclear rollback"), r"(?:^| )-\w*n\w*(?= |$)"),
    row("volumes", "cryptsetup", "delete_data", _DISK, any_of("luksFormat erase luksErase luksKillSlot reencrypt")),
    row(
        "volumes",
        "mdadm nvme hdparm sg_format",
        "delete_data",
        _DISK,
        r"--zero-superblock|^format|--security-erase|^sanitize",
    ),
    row("volumes", "btrfs", "delete_data", _DISK, r"^(?:subvolume delete|device (?:remove|delete))"),
    row("shred", "shred srm wipe scrub", "delete_data", "makes files unrecoverable", r"\S", ASKS),
    row(
        "Windows",
        "Format-Volume Clear-Disk Remove-Partition cipher.exe vssadmin format",
        "delete_data",
        _DISK,
        r"\S",
        ASKS,
    ),
    row(
        "Windows",
        "Remove-Item ri del erase rd rmdir",
        "delete_data",
        "deletes folders with all that is in them",
        r"(?i)(?:^| )(?:-recurse|-r|/s)(?= |$).*|(?:^| )[a-z]:\\",
    ),
)
CLOUD = (
    row(
        "aws s3",
        "aws",
        "delete_data",
        _CLOUD,
        r"^s3 (?:rb\b|(?:rm|mv)\b.* --recursive|sync\b.* --delete)|"
        r"^s3api delete-\S+|^s3control delete-",
        _NOT_RUN,
    ),
    row(
        "aws databases",
        "aws",
        "wipe_database",
        _DATABASE,
        r"^(?:rds|dynamodb|redshift|docdb|neptune|elasticache|memorydb|timestream\S*|keyspaces) delete-",
        _NOT_RUN,
    ),
    row(
        "aws delete",
        "aws",
        "delete_data",
        _CLOUD,
        r"^(?!iam |sts |kms |secretsmanager |s3 |sqs receive|sqs delete-message)\S+ (?:delete|terminate|purge"
        r"|deregister"
        r"|batch-delete|remove)-\S+",
        _NOT_RUN,
    ),
    row(
        "gsutil",
        "gsutil",
        "delete_data",
        _CLOUD,
        r"(?:^| )(?:rb|rm\b.*(?: -[a-zA-Z]*[rR]|\*)|rsync\b.* -[a-zA-Z]*d)(?= |$|\S)",
        r"rsync .*-n ",
    ),
    row(
        "gcloud databases",
        "gcloud",
        "wipe_database",
        _DATABASE,
        r"(?:^| )(?:sql|spanner|bigtable|redis|firestore|alloydb|datastore)\b.*\b(?:delete|restore-backup)(?= |$)",
    ),
    row(
        "gcloud delete",
        "gcloud",
        "delete_data",
        _CLOUD,
        r"(?:^| )(?:delete|destroy|rm|rb)(?= |$)",
        r"(?:^| )(?:iam|kms|secrets|--dry-run)(?= |$)|" + ASKS,
    ),
    row("bq", "bq", "wipe_database", _DATABASE, r"^rm\b"),
    row(
        "az databases",
        "az",
        "wipe_database",
        _DATABASE,
        r"^(?:sql|mysql|postgres|cosmosdb|mariadb|redis)\b.*\bdelete(?= |$)",
    ),
    row(
        "az delete",
        "az",
        "delete_data",
        _CLOUD,
        any_of("delete purge delete-batch"),
        r"^(?:role|ad|keyvault)\b|" + ASKS,
    ),
    row(
        "cloud delete",
        "doctl linode-cli hcloud vultr-cli scw ibmcloud oci exo civo equinix metal",
        "delete_data",
        _CLOUD,
        any_of("delete rm destroy terminate remove"),
        ASKS,
    ),
    row(
        "platform delete",
        "fly flyctl heroku railway render netlify vercel firebase wrangler supabase dokku",
        "delete_data",
        _CLOUD,
        r"(?:^| )(?:apps? (?:destroy|delete)|apps:destroy|volumes? (?:destroy|delete)|destroy|sites:delete"
        r"|project(?:s)? (?:rm|"
        r"remove|delete)|kv (?:namespace|key) delete|r2 (?:bucket|object) delete|d1 delete|firestore:delete"
        r"|database:remove|delete)(?= |$)",
        ASKS,
    ),
    row(
        "HTTP DELETE",
        "curl wget http https xh httpie",
        "delete_data",
        "has a service on another machine delete something",
        r"(?:^| )(?:-[a-zA-Z]*X ?|--(?:request|method)[ =])DELETE(?= |$)|^DELETE \S",
        rf"(?:^| |//|@)(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|:\d+)(?=[:/ ]|$)|{ASKS}",
    ),
    row(
        "terraform destroy",
        "terraform tofu terragrunt pulumi cdk cdktf sam serverless sls copilot azd",
        "delete_data",
        "destroys infrastructure with the data on it",
        any_of("destroy remove delete down -destroy --destroy"),
        _NOT_RUN + r"|^plan\b",
    ),
    row(
        "object store",
        "s3cmd mc rclone b2 az-copy azcopy s5cmd swift",
        "delete_data",
        _CLOUD,
        r"^(?:(?:rm|del|delete)\b.*(?: -\w*r| --recursive| --force|\*)|rb|purge|delete|deletefile|rmdirs|cleanup"
        r"|remove|"
        r"sync\b.* --delete)(?= |$|\S)|^rclone sync|^delete_(?:bucket|all)",
        _NOT_RUN + r"|(?:^| )-n(?= |$)",
    ),
    row(
        "rclone sync",
        "rclone",
        "delete_data",
        "makes one side like the other, deleting the rest",
        first("sync move bisync"),
        _NOT_RUN,
    ),
    row(
        "kubectl delete data",
        "kubectl oc k",
        "delete_data",
        "deletes what a cluster keeps",
        r"^delete (?:.*\b(?:ns|namespaces?|pvc?|persistentvolume\w*|crds?|customresource\w*|sts|statefulsets?|cm"
        r"|configmaps?|all"
        r"|project)(?=[ /]|$)|.*(?:-f|--filename|-k|--all)(?= |=|$))",
        TRIES,
    ),
    row(
        "docker volumes",
        "docker podman nerdctl",
        "delete_data",
        "deletes volumes with their data",
        r"^volume (?:rm|prune|remove)\b|^system prune\b.*--volumes|^compose\b.* down\b.*(?: -v| --volumes)"
        r"|^rm\b.* -\w*v\w*(?= |$)",
    ),
    row(
        "docker volumes",
        "docker-compose podman-compose",
        "delete_data",
        "deletes volumes with their data",
        r"\bdown\b.*(?: -v| --volumes)|^rm\b.* -\w*v",
    ),
    row(
        "machines",
        "vagrant multipass lxc virsh VBoxManage limactl incus qm pct xe",
        "delete_data",
        "deletes a machine with its disk",
        r"^(?:destroy|delete|undefine|purge|unregistervm|vm-destroy)(?= |$)",
    ),
    row(
        "hosted repository",
        "gh glab",
        "delete_data",
        "deletes what others use",
        r"^(?:repo|release|gist|project|cache|run|codespace|label|issue|variable|ruleset) delete(?= |-)|^repo archive",
    ),
    row(
        "hosted repository", "gh glab", "delete_data", "deletes what others use", r"^api\b.*(?:-X|--method)[ =]?DELETE"
    ),
)
BACKUP = (
    row(
        "backups",
        "restic borg duplicity kopia velero wal-g pgbackrest barman tarsnap",
        "delete_data",
        _BACKUP,
        r"(?:^| )(?:forget|prune|delete|remove-\S+|cleanup|expire|-d)(?= |$)|(?:backup|schedule) delete",
        _NOT_RUN,
    ),
    row("tmutil", "tmutil", "delete_data", _BACKUP, first("delete deletelocalsnapshots disable thinlocalsnapshots")),
    row(
        "queues",
        "kafka-topics kafka-topics.sh kafka-delete-records kafka-delete-records.sh rabbitmqctl rabbitmqadmin"
        " nats pulsar-admin",
        "delete_data",
        "deletes messages",
        r"--delete(?= |$)|(?:^| )(?:delete_\w+|purge_queue|purge|reset|force_reset|delete|rm)(?= |$)",
    ),
    row(
        "keys and values",
        "etcdctl consul zkCli.sh",
        "delete_data",
        "deletes what services read",
        r"^(?:del|kv delete|deleteall|rmr)(?= |$)",
    ),
    row(
        "seasoned forget",
        "seasoned",
        "delete_data",
        "deletes what was learned and recorded",
        r"^forget\b|^restore\b",
        ASKS,
    ),
    row("crontab -r", "crontab", "delete_data", "deletes everything that runs by the clock", flag("r")),
)
GIT = (
    row(
        "git push --force",
        "git",
        "delete_data",
        _REWRITES,
        rf"^push\b(?=.* (?:-\w*f\w*|--force\S*|--mirror|--prune)(?= |$))(?:(?: -\S+)*(?: [^- ]\S*)?(?: -\S+)*$|.*"
        rf" \+?(?:\S+:)?(?:refs/heads/)?{_KEPT}(?= |$)"
        r"|.* --(?:mirror|all|tags)(?= |$))",
        any_of("-n --dry-run"),
    ),
    row(
        "git push +main",
        "git",
        "delete_data",
        _REWRITES,
        rf"^push\b.* (?:\+(?:\S+:)?(?:refs/heads/)?{_KEPT}|:(?:refs/heads/)?{_KEPT})(?= |$)",
        any_of("-n --dry-run"),
    ),
    row(
        "git push --delete",
        "git",
        "delete_data",
        _REWRITES,
        rf"^push\b(?=.* (?:-d|--delete)(?= |$)).* (?:refs/heads/)?{_KEPT}(?= |$)",
        any_of("-n --dry-run"),
    ),
    row(
        "git gc --prune=now",
        "git",
        "delete_data",
        "deletes commits that could still be brought back",
        r"^reflog (?:expire\b.* --expire(?:-unreachable)?=(?:now|all|0)|delete\b)"
        r"|^gc\b.* --prune=(?:now|all)|^prune(?= |$)",
        any_of("-n --dry-run"),
    ),
)
DATABASE = (
    row("dropdb", "dropdb pg_dropcluster mongo_drop", "wipe_database", _DATABASE, r"\S", ASKS),
    row("dropuser", "dropuser createuser", "modify_permissions", "changes who may use a database", r"", ASKS),
    row("mysqladmin drop", "mysqladmin", "wipe_database", _DATABASE, any_of("drop")),
    row(
        "redis", "redis-cli valkey-cli keydb-cli dragonfly", "wipe_database", _DATABASE, r"(?i)\b(?:flushall|flushdb)\b"
    ),
    row(
        "redis del",
        "redis-cli valkey-cli keydb-cli",
        "delete_data",
        "deletes keys",
        r"(?i)\b(?:script flush|--scan\b.*del)\b",
    ),
    row(
        "pg_restore --clean", "pg_restore", "wipe_database", "drops tables before it restores them", flag("c", "clean")
    ),
    row(
        "pg_restore",
        "pg_restore mongorestore mysqlimport",
        "migrate_database",
        "writes over a database",
        r"\S",
        rf"{ASKS}|(?:^| )(?:-l|--list|-f|--file)(?= |=|$)|--drop",
    ),
    row(
        "mongorestore --drop",
        "mongorestore",
        "wipe_database",
        "drops collections before it restores them",
        r"--drop(?= |$)",
    ),
    row(
        "unseen SQL",
        "psql mysql mariadb sqlcmd cockroach snowsql cqlsh",
        "migrate_database",
        "runs SQL from a file that was not looked into",
        r"(?:^| )(?:-\w*f|--file|-i|--input-file)(?= |=)|(?:^| )(?:\\i|source) \S",
    ),
    row(
        "elasticsearch",
        "elasticdump curator",
        "delete_data",
        "deletes indices",
        any_of("delete_indices --action=delete_indices"),
    ),
    row("influx", "influx", "wipe_database", _DATABASE, r"^(?:bucket )?delete"),
)
