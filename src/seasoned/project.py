"""Which project a session belongs to: its repository's remote address, else its checkout, else its folder."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator

import msgspec

from seasoned.lazy_regex import LazyRegex

APPLICATION = "app:"  # begins the key of an application whose log names no folder

_MOST_CHARS = 500  # of a remote address; longer ones are not addresses
_MOST_BYTES = 1 << 20  # of a git configuration
_MOST_CLONES = 4  # a clone of a clone of a clone, on one machine
_DEFAULT_PORTS = {"ssh": "22", "git": "9418", "http": "80", "https": "443"}
_SCHEME = LazyRegex(r"(?:[a-z+]+\+)?(ssh|git|https?|ftps?|file)(?:\+ssh)?://", re.IGNORECASE)
# What this module makes of an address, so that a stored one can be asked about again.
_NORMAL = LazyRegex(r"([\w-]+(?:\.[\w-]+)+(?::\d+)?)/([^\s:]+)")
# `user@host:path`; one letter before the colon is a drive of Windows.
_SCP = LazyRegex(r"(?:[^@/\s:]+@)?(?P<host>\[[0-9a-f:.]+\]|[\w.-]{2,}):(?P<path>[^\s]+)", re.IGNORECASE)
_DRIVE = LazyRegex(r"\A([A-Za-z]):(?=/|\Z)")
# People with two accounts name the host in ~/.ssh/config so, as the documentation of these services tells them.
_ALIAS = LazyRegex(r"(github\.com|gitlab\.com|bitbucket\.org)-[\w.-]+")
# A drive of Windows as Git's shell, WSL and Cygwin name it: `/d/shop`, `/mnt/d/shop`, `/cygdrive/d/shop`.
_MOUNTED_DRIVE = LazyRegex(r"\A/(?:mnt/|cygdrive/)?([A-Za-z])(?=/|\Z)")
_HOME = LazyRegex(r"(?:/home|/Users|[A-Z]:/Users)/[^/]+|/var/root|/root")
# Folders of a whole machine or user: what sessions do there has only their program in common.
_SHARED = LazyRegex(r"/|/home|/Users|[A-Z]:(?:/Users)?|/tmp|/var/tmp")
_SHARED_IN_HOME = frozenset({"Desktop", "Documents", "Downloads"})


class Project(msgspec.Struct, frozen=True):
    """A project, and the part of it that a session worked in."""

    # `host/owner/name`, the path of a checkout or folder, or `app:` and the name of an application.
    key: str
    name: str
    part: str = ""  # a path inside the project; empty for its top
    # The top folder of the checkout; None if there is no git here, or not any more.
    root: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether the key is the address of a repository, which is the same on every machine."""
        return not is_path(self.key) and not self.key.startswith(APPLICATION)


def is_path(key: str) -> bool:
    """Whether a key, or what a user gave for one, is an absolute path."""
    return key.startswith(("/", "\\")) or _DRIVE.compiled.match(key.replace("\\", "/")) is not None


def project_of(folder: str | None, *, remote: str | None = None, application: str | None = None) -> Project | None:
    """The project of a folder, whether it still exists or not; without a project folder, that of the application.

    `remote` is the address that the history recorded, which counts more than what the folder holds today;
    `application` is what `application_of` says.
    No program is started, and only a few small files are read: hooks call this.
    """
    top = checkout_of(folder) if folder else None
    return project_from(folder, top, remote=remote, application=application)


def project_from(
    folder: str | None, top: Project | None, *, remote: str | None = None, application: str | None = None
) -> Project | None:
    """The same for a caller that already knows the checkout, or that there is none; reads nothing."""
    address = normal_remote(remote) if remote else None
    if address is not None:
        return Project(address, name_of(address), top.part if top else "", top.root if top else None)
    if top is not None:
        return top
    if folder and (found := _project_of_path(folder)) is not None:
        return found
    if application and application.strip():
        name = application.strip()[:_MOST_CHARS]
        return Project(APPLICATION + name, name)
    return None


def application_of(agent: str, folder: str | None, named: str | None = None) -> str | None:
    """The application that a session belongs to if it has no project folder; None if that is unknown.

    It is the one that the history names, or, in the folder of a whole user or machine, the agent itself. Without
    either, the folder was only not recorded: the session may be of any project.
    """
    return named or (agent if folder and is_shared_folder(normal_path(folder)) else None)


def name_of(key: str) -> str:
    """What people call a project: the last part of its key."""
    return key.removeprefix(APPLICATION) if key.startswith(APPLICATION) else posixpath.basename(key) or key


def normal_remote(url: str) -> str | None:
    """An address in the form `host/owner/name`; a path for a repository on this machine; None if it is neither."""
    url = url.strip().replace("\\", "/")
    # It comes from histories and checkouts of anyone: what no address contains is refused.
    if not url or len(url) > _MOST_CHARS or not url.isprintable() or " " in url.split("://")[0]:
        return None
    if scheme := _SCHEME.compiled.match(url):
        host, _, path = url[scheme.end() :].partition("/")
        if scheme[1].lower() == "file":
            return _trimmed(normal_path("/" + path.partition("?")[0]))
        return _address(host, path, _DEFAULT_PORTS.get(scheme[1].lower()))
    if "://" in url or "::" in url:
        return None  # the address of a helper program, which only that program understands
    if url.startswith("/") or _DRIVE.compiled.match(url):
        return _trimmed(normal_path(url))
    if found := _NORMAL.compiled.fullmatch(url):
        return _address(found[1], found[2], None)
    found = _SCP.compiled.fullmatch(url)
    return None if found is None else _address(found["host"], found["path"], None)


def _address(host: str, path: str, default_port: str | None) -> str | None:
    host = host.rpartition("@")[2].lower()
    # In an address of IPv6 colons are no ports.
    name, _, port = host.rpartition(":") if re.search(r":\d*$", host) and not host.endswith("]") else (host, "", "")
    name = alias[1] if (alias := _ALIAS.compiled.fullmatch(name)) else name
    path = _trimmed(posixpath.normpath("/" + re.split(r"[?#]", path, maxsplit=1)[0].lstrip("/"))).lstrip("/")
    if not name or path in ("", "."):
        return None
    return f"{name}:{port}/{path}" if port and port != default_port else f"{name}/{path}"


def _trimmed(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/")


def normal_path(folder: str) -> str:
    """A recorded path in one form: slashes, no `..`, drives as `D:/`, macOS's /private left out.

    It names a folder, and need not lead to it: for WSL the folder is at `/mnt/d`.
    """
    return _MOUNTED_DRIVE.compiled.sub(lambda drive: f"{drive[1].upper()}:", _tidy(folder))


def _tidy(folder: str) -> str:
    """A path as this machine understands it, in one form."""
    path = posixpath.normpath(folder.strip().replace("\\", "/") if _looks_windows(folder) else folder.strip())
    # POSIX keeps two leading slashes; only network paths of Windows mean something by them.
    if path.startswith("//") and not _looks_windows(folder):
        path = path[1:]
    if path.startswith(("/private/tmp/", "/private/var/")) or path in ("/private/tmp", "/private/var"):
        path = path.removeprefix("/private")
    return _DRIVE.compiled.sub(lambda drive: f"{drive[1].upper()}:", path)


def _looks_windows(path: str) -> bool:
    return path.startswith("\\\\") or re.match(r"\s*[A-Za-z]:[\\/]", path) is not None


def relative_inside(path: str, folder: str) -> str | None:
    """A path relative to a folder: empty for the folder itself, None if it lies elsewhere or that is unknown.

    A relative path begins at the folder. A worktree of a tool has the same places as its checkout.
    """
    top = normal_path(folder)
    if path.startswith(("~", "$")):
        return None
    if not is_path(path):
        path = f"{top}/{path.replace(chr(92), '/') if _DRIVE.compiled.match(top) else path}"
    path = normal_path(path)
    base, part, _ = _split_worktree(path)
    inside = _below(path, top)
    # A worktree inside the folder has the same places, seen from its top.
    if inside is not None and (base == path or _below(base, top) is None):
        return inside
    return _below(f"{base}/{part}".rstrip("/"), "/".join(without_worktree(top)).rstrip("/"))


def _below(path: str, top: str) -> str | None:
    if path == top:
        return ""
    top = f"{top.rstrip('/')}/"
    return path.removeprefix(top) if path.startswith(top) else None


def is_home(path: str) -> bool:
    """Whether a normal path is someone's home folder, here or on another machine."""
    return _HOME.compiled.fullmatch(path) is not None or path in _own_home()


def is_shared_folder(path: str) -> bool:
    """Whether a normal path is a folder of a whole user or machine: a home, its desktop, a drive, /tmp."""
    if _SHARED.compiled.fullmatch(path) or is_home(path):
        return True
    above, _, name = path.rpartition("/")
    return name in _SHARED_IN_HOME and is_home(above)


def _own_home() -> tuple[str, ...]:
    own = os.path.expanduser("~")
    # Without a home folder the sign stays; as root of a container it may be `/`.
    return tuple(normal_path(one) for one in (own, os.path.realpath(own)) if os.path.isabs(one) and one != os.sep)


def _project_of_path(folder: str) -> Project | None:
    """The project of a folder without git, by its path alone."""
    path = normal_path(folder)
    if not is_path(path):
        return None
    base, part = without_worktree(path)
    return None if is_shared_folder(base) else Project(base, name_of(base), part)


# Worktrees inside their checkout: CHECKOUT/.claude/worktrees/NAME, CHECKOUT/.worktrees/NAME and so on.
_INSIDE = LazyRegex(
    r"(?P<base>.+?)/(?:\.[\w-]+/worktrees|\.worktrees|\.claude-worktrees|\.conductor)/(?P<name>[^/]+)(?P<part>/.*)?"
)
# Worktrees of many repositories in one place: ~/.cursor/worktrees/REPOSITORY/NAME, ~/conductor/workspaces/…
_BY_REPOSITORY = LazyRegex(
    r"(?P<base>.+?/(?:\.[\w-]+/worktrees|\.claude-worktrees|conductor/workspaces|opencode/worktree)/[^/]+)/[^/]+"
    r"(?P<part>/.*)?"
)
# The same the other way round: ~/.codex/worktrees/ID/REPOSITORY, /var/tmp/vibe-kanban/worktrees/ID/REPOSITORY.
_BY_ID = LazyRegex(r"(?P<base>.+?/\.?(?:codex|vibe-kanban)/worktrees)/[^/]+(?P<name>/[^/]+)(?P<part>/.*)?")
# Worktrees beside their checkout: NAME-worktrees/BRANCH, NAME.worktrees/BRANCH, NAME__worktrees/BRANCH.
_BESIDE = LazyRegex(r"(?P<base>.+/[^/]+?)(?:-|\.|__)worktrees/[^/]+(?P<part>/.*)?")


def without_worktree(path: str) -> tuple[str, str]:
    """The folder of a session without the suffix of a worktree, and the part of the checkout that followed it."""
    base, part, is_branch = _split_worktree(path)
    # A session begins at the top of its worktree, so what follows is the rest of a name such as feature/x.
    return base, "" if is_branch else part


def _split_worktree(path: str) -> tuple[str, str, bool]:
    """Checkout and part if the name of the worktree is one folder, and whether it may be a branch's and go on."""
    if found := _BY_ID.compiled.fullmatch(path):
        return found["base"] + found["name"], _part(found), False
    if (found := _INSIDE.compiled.fullmatch(path)) and not is_home(found["base"]):
        return found["base"], _part(found), "/.worktrees/" in path
    if found := _BY_REPOSITORY.compiled.fullmatch(path):
        return found["base"], _part(found), False
    if found := _BESIDE.compiled.fullmatch(path):
        return found["base"], _part(found), True
    return path, "", False


def _part(found: re.Match[str]) -> str:
    return (found["part"] or "").strip("/")


def checkout_of(folder: str) -> Project | None:
    """The project of the git checkout that a folder lies in; None if there is none on this machine."""
    try:
        found = _top_of(folder)
        return None if found is None else _checkout(*found)
    except (OSError, ValueError):
        return None  # a folder that may not be read, a NUL: the path alone decides


def checkout_root(folder: str) -> str | None:
    """The top of the git checkout that a folder lies in; None if there is none on this machine."""
    try:
        found = _top_of(folder)
        return None if found is None else _tidy(found[0])
    except (OSError, ValueError):
        return None


def repository_of(folder: str) -> str | None:
    """The git folder that all worktrees of the repository around a folder share; None if there is none here."""
    try:
        found = _top_of(folder)
        return None if found is None else _common_folder(found[1])
    except (OSError, ValueError):
        return None


def _top_of(folder: str) -> tuple[str, str, str] | None:
    """The top of a checkout, its git folder, and the folder itself, all without links."""
    if not os.path.isabs(folder):
        return None
    start = top = os.path.realpath(folder)
    while (git := _git_folder(top)) is None:
        above = os.path.dirname(top)
        if above == top:
            return None
        top = above
    # A whole home folder in git says nothing about what lies in it.
    return None if is_home(normal_path(top)) else (top, git, start)


def _checkout(top: str, git: str, start: str) -> Project:
    common = _common_folder(git)
    part = "" if start == top else os.path.relpath(start, top).replace(os.sep, "/")
    # What is left of a worktree that is gone is a path inside the main checkout.
    inside = _INSIDE.compiled.fullmatch(start.replace(os.sep, "/")) if part else None
    if inside is not None and inside["base"] == top.replace(os.sep, "/"):
        part = ""
    key = _remote_of(common, top) or normal_path(_main_checkout(top, git, common))
    return Project(key, name_of(key), part, _tidy(top))


def _git_folder(top: str) -> str | None:
    """The git folder of a checkout's top; None if this is not one."""
    git = os.path.join(top, ".git")
    try:
        mode = os.stat(git).st_mode
    except OSError:
        return None
    if not stat.S_ISDIR(mode):
        # Worktrees and submodules have a file here: `gitdir: PATH`.
        words = _text(git)
        if not words.startswith("gitdir:"):
            return None
        git = os.path.join(top, words.removeprefix("gitdir:").strip())
    # An empty or broken .git belongs to no checkout; git looks for HEAD as well.
    return os.path.realpath(git) if os.path.exists(os.path.join(git, "HEAD")) else None


def _common_folder(git: str) -> str:
    """What all worktrees of a repository share: the git folder of the main checkout."""
    common = _text(os.path.join(git, "commondir")).strip()
    return os.path.realpath(os.path.join(git, common)) if common else git


def _main_checkout(top: str, git: str, common: str) -> str:
    """The folder that stands for a repository without a remote."""
    if common == git:
        return top  # also a submodule, whose git folder is inside that of its parent
    if os.path.basename(common) in (".git", ".bare"):
        return os.path.dirname(common)
    # The main checkout of a submodule is named in its configuration.
    for section, name, value in _settings(common):
        if section == "core" and name == "worktree":
            return os.path.realpath(os.path.join(common, value))
    return common


def _remote_of(common: str, top: str, depth: int = 0) -> str | None:
    """The address of `origin`, else of the only remote. A clone of a clone on this machine has the first one's."""
    urls = _urls(common)
    # A fork has its own repository as origin, though it knows the one it came from as `upstream`.
    url = urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else None)
    if not url:
        return None
    address = normal_remote(os.path.join(top, url) if url.startswith(".") else url)
    if address is None or not is_path(address) or depth >= _MOST_CLONES:
        return address
    for place in (address, f"{address}.git"):
        git = _git_folder(place) or (place if os.path.isfile(os.path.join(place, "HEAD")) else None)
        if git is not None:
            return _remote_of(_common_folder(git), place, depth + 1) or address
    return address


def _urls(common: str) -> dict[str, str]:
    """The remotes of a repository and their addresses, as its configuration has them."""
    urls: dict[str, str] = {}
    for section, name, value in _settings(common):
        if section.startswith("remote ") and name == "url":
            urls.setdefault(section.removeprefix("remote ").strip(), value)
    return urls


def remotes_of(folder: str) -> frozenset[str]:
    """The addresses of all remotes of the checkout that a folder lies in, in their normal form."""
    common = repository_of(folder)
    found = map(normal_remote, _urls(common).values()) if common else ()
    return frozenset(address for address in found if address is not None)


def is_shallow(folder: str) -> bool:
    """Whether the checkout around a folder has only the newest commits, so that its first ones are unknown."""
    common = repository_of(folder)
    return common is not None and os.path.exists(os.path.join(common, "shallow"))


def _settings(git: str) -> Iterator[tuple[str, str, str]]:
    """Section, name and value of each line of a git configuration, such as `remote origin`, `url`, its address."""
    section = ""
    for line in _text(os.path.join(git, "config")).splitlines():
        words = line.strip()
        if words.startswith("[") and "]" in words:
            head, _, words = words[1:].partition("]")
            kind, _, name = head.partition(" ")
            section = f"{kind.lower()} {name.strip().strip(chr(34))}".strip()
            words = words.strip()
        name, equals, value = words.partition("=")
        if equals and not words.startswith(("#", ";")):
            quoted = re.match(r'\s*"([^"]*)"', value)
            yield section, name.strip().lower(), quoted[1] if quoted else re.split(r"\s[#;]", value)[0].strip()


def _text(path: str) -> str:
    """A small file; nothing if it is missing. A pipe or a device is not opened: it would never end."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
