"""Commands that destroy, reach out or change the machine, as data: which program, which arguments, and why."""

from __future__ import annotations

import msgspec

from seasoned.command.parse import names
from seasoned.confirm.mapping_row import any_of, first, flag, pattern
from seasoned.lazy_regex import LazyRegex


class Row(msgspec.Struct, frozen=True):
    """One way to do harm. Without `words` the program itself is enough; `unless` makes it harmless again."""

    pattern: str
    programs: frozenset[str]
    reason: str
    """Continues a sentence that begins with "it"."""
    words: LazyRegex | None = None
    """Found in the arguments, joined by blanks."""
    unless: LazyRegex | None = None


def _row(name: str, programs: str, reason: str, words: str = "", unless: str = "") -> Row:
    return Row(name, names(programs), reason, pattern(words), pattern(unless))


_SQL = (
    r"(?i)\b(?:drop\s+(?:table|database|schema|index|view|user|role|column|owned)|truncate\s+(?:table\s+)?\w"
    r"|delete\s+from\s+[\w.\"`\[\]]+\s*(?:;|$|['\"])|alter\s+table\s+\S+\s+drop|dropDatabase|\.drop\()"
)
_DATABASES = "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd cockroach mongo mongosh bq snowsql"
_ROOTS = (
    r"(?:^| )(?:/|/\*|/(?:bin|boot|dev|etc|home|lib|opt|proc|root|sbin|srv|sys|usr|var)(?:/\S*)?|~/?|\$HOME/?)(?= |$)"
)
_CLOUDS = "aws gcloud gsutil az doctl heroku fly flyctl vercel netlify wrangler ibmcloud oci"
_CLOUD = r"(?i)(?:^| )[\w:-]*(?:delete|destroy|terminate|purge|remove|deregister)[\w-]*(?= |$)|" + any_of(
    r"rm rb mv cp sync put-\S+ create-\S+ update-\S+ deploy run-instances stop-instances"
)
_SERVICE = (
    "poweroff reboot halt stop disable mask kill restart start enable isolate suspend hibernate unload load bootout"
    " bootstrap remove"
)
_USERS = (
    "useradd userdel usermod groupadd groupdel groupmod passwd chpasswd visudo vipw adduser deluser dscl gpasswd chsh"
)
_DELETING_CODE = (
    r"(?:^| )-(?:[a-z]*[ce]|r|-eval)(?= ).*(?:rmtree|\bunlink\b|os\.remove|os\.rmdir|removedirs|rm_rf|rm_r|fs\.rm"
    r"|rmSync|rmdirSync|rimraf|FileUtils\.rm|File\.delete|rm -r)"
)
_SENDING = (
    r"(?:^| )(?:-X ?(?:POST|PUT|PATCH|DELETE)|--request[ =](?:POST|PUT|PATCH|DELETE)|-d\S*|--data\S*|-F\S*|--form\S*"
    r"|-T\S*|--upload-file|--json)(?= |=|$)"
)
_UNCOMMITTED = "throws away changes that were not committed"
_TREES = "deletes folders with all that is in them"
_CLUSTER = "changes or deletes what runs in a cluster"
_TRY = r"--dry-run"

FILES = (
    _row("rm -r", "rm", _TREES, flag("rR", "recursive")),
    _row("rm *", "rm", "deletes everything that matches a pattern", r"[*?]|\[.+\]"),
    _row(
        "rm outside", "rm unlink rmdir", "deletes outside of the working folder", _ROOTS + r"|(?:^| )(?:\.\.|~|\$HOME)/"
    ),
    _row("rimraf", "rimraf del-cli", _TREES),
    _row("find -delete", "find fd fdfind", "deletes everything that it finds", any_of("-delete")),
    _row("shred", "shred srm wipe scrub", "makes files unrecoverable"),
    _row("truncate", "truncate", "cuts the content of files off", flag("s", "size")),
    _row("tar --remove-files", "tar", "deletes the files that it packs", r"--remove-files"),
    _row("chmod -R", "chmod chown chgrp setfacl", "changes the rights of a whole tree", flag("R", "recursive")),
    _row("chmod outside", "chmod chown chgrp chattr", "changes rights outside of the working folder", _ROOTS),
    _row(
        "code that deletes",
        "python python2 python3 perl ruby node bun deno php",
        "runs code that deletes",
        _DELETING_CODE,
    ),
    _row("history -c", "history", "deletes the history of the shell", flag("c")),
    _row("Windows", "Remove-Item Clear-Content Format-Volume del erase rd format", "deletes files", r"\S"),
)
DISKS = (
    _row("mkfs", "mkfs mke2fs mkswap mkdosfs newfs wipefs blkdiscard", "erases a file system"),
    _row(
        "mkfs",
        "mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.ntfs mkfs.f2fs",
        "erases a file system",
    ),
    _row(
        "partition",
        "fdisk sfdisk gdisk sgdisk parted diskpart",
        "changes partitions of a disk",
        unless=flag("l", "list"),
    ),
    _row("diskutil erase", "diskutil", "erases a disk", r"(?i)erase|partition|zero"),
    _row("dd of=", "dd dcfldd", "writes over a file or device", r"(?:^| )of=(?!/dev/(?:null|stdout)(?: |$))"),
    _row("volumes", "lvremove vgremove pvremove", "removes a volume of disks"),
    _row("volumes", "zfs zpool", "destroys a file system", any_of("destroy labelclear rollback")),
    _row("volumes", "btrfs cryptsetup mdadm", "destroys a file system", r"delete|luksFormat|erase|--zero-superblock"),
    _row("mount", "mount umount swapoff losetup", "changes what is mounted", r"\S"),
)
GIT = (
    _row(
        "git push --force",
        "git",
        "overwrites or deletes commits that others have",
        r"^push(?= ).* (?:-f|-d|--force\S*|--delete|--mirror|--prune|\+\S+|:\S+)(?= |$)",
    ),
    _row("git push", "git", "publishes commits to others", r"^push(?= |$)", unless=any_of("-n --dry-run")),
    _row("git reset --hard", "git", _UNCOMMITTED, r"^reset\b.* --(?:hard|merge)(?= |$)"),
    _row(
        "git clean",
        "git",
        "deletes files that git does not track",
        r"^clean\b.*(?: -[a-zA-Z]*f| --force)",
        unless=flag("n", "dry-run"),
    ),
    _row("git checkout", "git", _UNCOMMITTED, r"^checkout\b.*(?: -f| --force| --(?= |$)| \.(?= |$))"),
    _row("git checkout", "git", _UNCOMMITTED, r"^switch\b.*(?: -f| --force| --discard-changes)"),
    _row(
        "git restore",
        "git",
        _UNCOMMITTED,
        first("restore"),
        unless=r" (?:--staged|-S)(?= |$)(?!.*(?: --worktree| -W))",
    ),
    _row(
        "git branch -D",
        "git",
        "deletes a branch with what only it holds",
        r"^branch\b.* -(?:[a-zA-Z]*D|-delete.* --force)",
    ),
    _row(
        "git tag -d",
        "git",
        "deletes a tag or another name of a commit",
        r"^(?:tag|update-ref)\b.* (?:-d|--delete)(?= |$)",
    ),
    _row("git stash drop", "git", "throws away changes that were put aside", r"^stash (?:drop|clear)(?= |$)"),
    _row("git history", "git", "rewrites or prunes history for good", first("filter-branch filter-repo prune")),
    _row(
        "git history",
        "git",
        "rewrites or prunes history for good",
        r"^reflog (?:expire|delete)|^gc\b.*--prune=(?:now|all)",
    ),
    _row("git worktree", "git", _UNCOMMITTED, r"^worktree remove\b.*(?: -f| --force)"),
    _row(
        "gh",
        "gh glab",
        "changes or deletes something that others see",
        r"^\w+ (?:delete|create|merge|close|edit|archive|rename|upload|set|disable)(?= |$)"
        r"|^api\b.*(?:-X|--method) ?(?:POST|PUT|PATCH|DELETE)",
    ),
)
MACHINE = (
    _row("sudo", "sudo doas su pkexec runuser run0 gosu", "runs with the rights of another user"),
    _row("shutdown", "shutdown reboot halt poweroff telinit", "stops the machine"),
    _row("shutdown", "init", "stops the machine", first("[016]")),
    _row(
        "systemctl",
        "systemctl service launchctl rc-service initctl",
        "changes services of the machine",
        any_of(_SERVICE),
    ),
    _row("kill 1", "kill", "ends processes that it did not start", r"(?:^| )1(?= |$)| -\d+(?= |$)"),
    _row("killall", "killall killall5 pkill skill", "ends processes by name, whoever started them"),
    _row("crontab", "crontab", "replaces or removes what runs by the clock", unless=first("-l")),
    _row("at", "at batch", "lets a command run later, when nobody watches", unless=first("-l -V")),
    _row("users", _USERS, "changes users or passwords of the machine"),
    _row(
        "firewall",
        "iptables ip6tables nft ufw firewall-cmd pfctl",
        "changes the firewall",
        unless=first("-L -S list status"),
    ),
    _row("kernel", "insmod rmmod modprobe kexec", "changes the running system"),
    _row("kernel", "sysctl", "changes the running system", r"(?:^| )-w(?= |$)|\w=\S"),
    _row(
        "packages",
        "apt apt-get aptitude dnf yum zypper apk snap flatpak port brew",
        "removes programs from the machine",
        any_of("remove purge autoremove erase del uninstall dist-upgrade full-upgrade"),
    ),
    _row(
        "packages",
        "dpkg rpm pacman",
        "removes programs from the machine",
        any_of(r"-r -P -e -R\w* --remove --purge --erase"),
    ),
    _row("system", "tmutil nvram csrutil reg bcdedit vssadmin", "changes or deletes something of the system", r"\S"),
)
DATABASES = (
    _row("SQL", _DATABASES, "deletes data from a database", _SQL),
    _row("redis", "redis-cli valkey-cli", "deletes data from a database", r"(?i)\b(?:flushall|flushdb|shutdown)\b"),
    _row("dropdb", "dropdb dropuser", "deletes a database or a user of one"),
    _row("dropdb", "mysqladmin", "deletes a database", any_of("drop")),
    _row("pg_restore --clean", "pg_restore", "drops tables before it restores them", flag("c", "clean")),
)
CLOUD = (
    _row(
        "docker",
        "docker podman nerdctl",
        "deletes containers, images or volumes",
        r"^(?:system|volume|image|container|network|builder|buildx) (?:prune|rm|remove)|^rmi?(?= |$)"
        r"|^compose\b.*\bdown\b.*(?:-v|--volumes|--rmi)",
    ),
    _row("docker", "docker-compose", "deletes containers and volumes", r"\bdown\b.*(?:-v|--volumes|--rmi)|^rm(?= |$)"),
    _row(
        "docker run",
        "docker podman nerdctl",
        "gives a container power over the machine",
        r"--privileged|(?:-v|--volume)[ =]/(?:etc|root|home|var)?(?:/\S*)?:|--pid[ =]host|source=/,",
    ),
    _row(
        "kubectl",
        "kubectl oc",
        _CLUSTER,
        any_of("delete drain cordon evict replace apply patch scale rollout"),
        unless=_TRY,
    ),
    _row("helm", "helm", _CLUSTER, any_of("uninstall delete rollback install upgrade"), unless=_TRY),
    _row(
        "terraform",
        "terraform tofu terragrunt pulumi cdk",
        "changes or destroys infrastructure",
        any_of("destroy apply up deploy taint import") + r"|(?:^| )state rm(?= |$)",
    ),
    _row("cloud", _CLOUDS, "changes or deletes something in a cloud", _CLOUD),
)
OTHERS = (
    _row(
        "publish",
        "npm pnpm yarn cargo poetry uv hatch flit gem pod",
        "publishes a package to everyone, or takes one back",
        any_of("publish unpublish deprecate yank owner push"),
        unless=_TRY,
    ),
    _row("publish", "twine", "publishes a package to everyone", any_of("upload")),
    _row("publish", "docker podman buildah skopeo", "publishes an image", r"^(?:image )?(?:push|copy)(?= |$)"),
    _row("send", "curl", "sends data to another machine", _SENDING),
    _row("send", "wget", "sends data to another machine", r"--(?:post|body|method)"),
    _row("send", "http https xh httpie", "sends data to another machine", any_of("POST PUT PATCH DELETE")),
    _row("connect", "nc ncat netcat socat telnet ftp sftp lftp tftp", "opens a connection to another machine", r"\S"),
    _row("mail", "mail mailx sendmail mutt msmtp swaks", "sends mail"),
    _row("ssh", "ssh mosh autossh", "runs on another machine", r"\S", unless=first("-V")),
    _row("ssh", "scp rcp", "copies from or to another machine", r"\S"),
    _row("rsync --delete", "rsync", "deletes what is not in the source", r"(?:^| )--(?:del\S*|remove-source-files)"),
    _row("rsync", "rsync", "copies from or to another machine", r"(?:^| )(?:[\w.-]+@)?[\w.-]{2,}::?\S"),
    _row("rclone", "rclone", "changes or deletes files elsewhere", first("delete deletefile purge sync move copy")),
)
ROWS: tuple[Row, ...] = (*FILES, *DISKS, *GIT, *MACHINE, *DATABASES, *CLOUD, *OTHERS)
