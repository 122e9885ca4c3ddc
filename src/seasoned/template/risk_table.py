"""Shell programs that a person should be asked about, as data: which program, which of its words, and what excuses it.

Stricter than what an agent may run unasked: an example looks as if it had been approved, so what reaches others counts.
"""

from __future__ import annotations

import msgspec

from seasoned.command.parse import names
from seasoned.lazy_regex import LazyRegex


class Row(msgspec.Struct, frozen=True):
    """Programs, and what makes them risky. The words of a command stand one on a line, so `^` and `$` hold one word."""

    programs: frozenset[str]
    words: LazyRegex | None = None
    """None: whatever they are given."""
    unless: LazyRegex | None = None


def _row(programs: str, words: str = "", unless: str = "") -> Row:
    return Row(
        names(programs), LazyRegex(f"(?m){words}") if words else None, LazyRegex(f"(?m){unless}") if unless else None
    )


def _word(words: str) -> str:
    """Any of these as a word of its own, an option also with its value glued on by `=`."""
    return rf"^(?:{'|'.join(words.split())})(?:=.*)?$"


def _flag(letters: str, long: str = "") -> str:
    """An option by its letter, also among others (`-fu`) or with its value glued on (`-XPOST`), or by its long name."""
    longer = rf"|^--(?:{'|'.join(long.split())})(?:=.*)?$" if long else ""
    return rf"^-[A-Za-z#0-9]*[{letters}]{longer}"


SQL = LazyRegex(
    r"(?i)\b(?:drop\s+(?:table|database|schema|index|view|user|role|column|owned|type|function|sequence)"
    r"|truncate\s+\w|delete\s+from\b|update\s+\S+\s+set\b|alter\s+(?:table|role|user|database|schema)\b"
    r"|(?:grant|revoke)\s+[\w, ]{1,60}\b(?:on|to|from)\b|dropDatabase|deleteMany|\.drop\(|\.remove\()"
)
DATABASES = names(
    "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd cockroach mongo mongosh bq snowsql cqlsh"
)
_TRY = r"^--(?:dry-run|check|syntax-check|diff)(?:=.*)?$"
_METHOD = r"(?:\n|=)?+(?!(?:GET|HEAD|OPTIONS|get|head)$)"
_FAR = (
    "describe\\S* list\\S* get\\S* head\\S* batch-get\\S* lookup\\S* search\\S* show ls help info version status logs?"
    " plan validate fmt init output diff synth preview dev build whoami explain top template lint history events wait"
    " api-resources cluster-info port-forward ps --help --version"
)
"""What a program of a cloud or a cluster does that only looks, or stays here."""
_CLOUDS = "aws gcloud gsutil az doctl heroku fly flyctl vercel netlify wrangler firebase railway oci"
_GIT_FORCED = "checkout clean branch tag worktree add fetch switch rm mv submodule"
_GH = (
    "delete merge close comment review create edit archive unarchive rename upload set disable enable reopen transfer"
    " lock unlock rerun cancel sync fork remove pin unpin revert --admin"
)

ROWS: tuple[Row, ...] = (
    # What is gone is gone.
    _row("rm unlink shred srm wipe scrub rimraf del-cli truncate dd dcfldd eval wipefs blkdiscard mke2fs mkswap newfs"),
    _row("mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat lvremove vgremove pvremove"),
    _row("Remove-Item Clear-Content Format-Volume Stop-Computer Invoke-Expression iex del erase rd"),
    _row("find fd fdfind", r"^-delete$"),
    _row("tar rsync", r"^--(?:remove-files|remove-source-files|del\S*)$"),
    _row("chmod chown chgrp setfacl", _flag("R", "recursive")),
    _row("chown chgrp chattr setfacl"),
    _row("tee", r"^/(?:etc|usr|bin|sbin|boot|dev|sys|proc|lib)\b"),
    _row("fdisk sfdisk gdisk sgdisk parted diskutil zfs zpool cryptsetup mdadm losetup mount umount swapoff"),
    _row("history", _flag("c")),
    # Commits that others have, and changes that nobody has committed.
    _row("git", r"\Apush$", _flag("n", "dry-run")),
    _row("git", r"^--(?:force\S*|hard|no-verify|mirror|delete|discard-changes)$"),
    _row("git", rf"\A(?:{'|'.join(_GIT_FORCED.split())})$(?s:.*)^-[A-Za-z]*[fD]"),
    _row("git", r"\A(?:clean|filter-branch|filter-repo|send-email|prune)$", r"^-[A-Za-z]*n[A-Za-z]*$|^--dry-run$"),
    _row("git", r"\Acheckout$(?s:.*)^(?:--|\.)$"),
    _row("git", r"\Arestore$", r"^--staged$|^-S$"),
    _row("git", r"\A(?:tag|update-ref)$(?s:.*)^-[a-z]*d"),
    _row("git", r"\A(?:stash\n(?:drop|clear)|reflog\n(?:expire|delete)|reset\n--merge|remote\n(?:rm|remove|set-url))$"),
    _row("git", r"\Acommit$(?s:.*)^-[a-ln-zA-Z]*n"),
    _row("gh glab hub", rf"{_word(_GH)}|^workflow\nrun$"),
    _row("gh glab hub", rf"\Aapi$(?s:.*)(?:^-X{_METHOD}|^--method{_METHOD}|^-[fF]|^--(?:field|raw-field|input)\b)"),
    # The machine, its users and its processes.
    _row("sudo doas su pkexec runuser run0 gosu runas"),
    _row("kill pkill killall skill shutdown reboot halt poweroff telinit kexec insmod rmmod modprobe"),
    _row("systemctl service launchctl rc-service supervisorctl pm2", unless=_word("status list\\S* show cat is-\\S*")),
    _row("useradd userdel usermod groupadd groupdel passwd chpasswd visudo adduser deluser gpasswd htpasswd"),
    _row("iptables ip6tables nft ufw firewall-cmd pfctl", unless=_word("-L -S list status")),
    _row("crontab", unless=_flag("l")),
    _row("at batch sysctl nvram csrutil reg bcdedit"),
    _row("apt apt-get aptitude dnf yum zypper apk brew snap", _word("remove purge autoremove erase del uninstall")),
    # Other machines, and what is sent to them.
    _row("ssh mosh autossh sshpass scp sftp ftp lftp tftp rcp nc ncat netcat socat telnet pssh salt rclone"),
    _row("ssh-copy-id mail mailx sendmail mutt msmtp swaks"),
    _row("ansible ansible-playbook fab cap", unless=_TRY),
    _row("rsync", r"^(?:[\w.-]+@)?[\w.-]{2,}::?\S"),
    _row("curl", _flag("T", "upload-file")),
    _row("curl", _flag("dF", "json data\\S* form\\S*"), _flag("G", "get")),
    _row("curl", rf"^-[A-Za-z]*X{_METHOD}|^--request{_METHOD}|^--json(?:=|$)"),
    _row("wget", r"^--(?:post|body|method)"),
    _row("http https xh httpie", r"^(?:POST|PUT|PATCH|DELETE)$|^[\w.\[\]-]+:?=(?!=)"),
    # Databases.
    _row("dropdb dropuser mysqladmin pg_restore mongorestore flyway liquibase"),
    _row("psql mysql", _flag("f", "file")),
    _row("redis-cli valkey-cli", r"^(?i:flush\w*|shutdown|del|unlink|config|eval)$"),
    _row("alembic", _word("upgrade downgrade stamp")),
    # Clusters, clouds and containers.
    _row("kubectl oc helm argocd flux", unless=rf"{_word(_FAR)}|{_TRY}"),
    _row("kubectl oc helm argocd", _word("delete drain apply uninstall exec rollout scale patch replace"), _TRY),
    _row("terraform tofu terragrunt pulumi cdk serverless sls", unless=_word(_FAR)),
    _row("terraform tofu terragrunt pulumi cdk", _word("apply destroy up deploy import taint rm")),
    _row(_CLOUDS, unless=_word(_FAR)),
    _row(
        _CLOUDS, _word(r"rm rb mv cp sync deploy \S*(?:delete|destroy|terminate)\S* (?:put|create|update)-\S+ --prod")
    ),
    _row("docker podman nerdctl buildah skopeo docker-compose", _word("prune rm rmi kill push copy --privileged")),
    _row("docker podman nerdctl docker-compose", r"^down$(?s:.*)^(?:-v|--volumes|--rmi)"),
    _row("docker podman nerdctl", r"^(?:-v|--volume)[\n=]/(?:etc|root|home|var)?(?:/\S*)?:|^--pid[\n=]host$"),
    # Packages and releases, for everyone.
    _row(
        "npm pnpm yarn bun lerna nx cargo poetry uv hatch flit pdm gem pod vsce ovsx twine mvn gradle gradlew dotnet"
        " nuget jsr deno anaconda goreleaser changeset np",
        _word(r"\S*publish\S* deprecate yank owner push upload release\S* deploy\S*"),
        r"^--(?:dry-run|snapshot)$",
    ),
    _row("semantic-release release-it", unless=r"^--dry-run$"),
)

OUTWARD = LazyRegex(
    r"(?i)(?:[\w:.-]*[:_.-])?(?:deploy|release|publish|promote|rollout|rollback|migrate|ship|destroy|teardown|nuke|wipe"
    r"|purge|prod|production)(?:[:_.-][\w:.-]*)?\Z"
)
"""The name of a task that changes something for others: `deploy`, `db:migrate`, `release-major`."""
TASK_RUNNERS = names(
    "npm pnpm yarn bun make gmake just task mise rake invoke inv nox tox turbo nx composer gradle gradlew mvn ant hatch"
)
ANYWHERE = LazyRegex(
    r"(?m)^--(?:force|yes|confirm|auto-approve|assume-yes|no-confirm|skip-confirm\S*|dangerously-\S*|privileged)(?:=.*)?$"
    r"|^(?:db:|migrate:)\w|^migrate$"
)
"""What no program should be given unasked: that it may not ask, and that a database be changed."""
SCRIPTS = LazyRegex(
    r"(?i)(?:\A|/)[\w.-]*(?:deploy|release|publish|rollback|migrate|wipe|purge|destroy)[\w-]*\.(?:sh|bash|py|rb|js|ts|pl)\Z"
)
DESTROYS = names("destroy wipe purge nuke delete terminate revoke unpublish shutdown truncate")
"""As one of the first words of a program that nobody has heard of."""
SHIPS = names("deploy publish release promote rollout")
LIVE = LazyRegex(r"(?i)(?:--?[\w-]+=)?(?:prod|production|live)\Z")
READERS = names(
    "grep egrep fgrep rg ag ack cat ls head tail less more nl wc sort uniq find fd tree stat file du df diff jq yq echo"
    " printf awk gawk sed cut tr test [ [[ which type man git cd pwd touch mkdir cp mv pytest ruff mypy tsc eslint"
)
"""Programs whose words are no orders to them."""
