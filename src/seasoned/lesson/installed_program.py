"""Whether a program is anywhere that a login shell, a version manager or the checkout may find it.

A hook has the path of the program that called it, which is often shorter than that of the shell that runs commands.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from seasoned.command.parse import names
from seasoned.lesson.task_file import read_small, upward

# Folders with programs that a login shell or a version manager finds and a hook may not.
_MORE_PATHS = names(
    "~/.local/bin ~/bin ~/.cargo/bin ~/.bun/bin ~/go/bin ~/.local/share/mise/shims ~/.asdf/shims ~/.volta/bin"
    " ~/.pyenv/shims ~/.rbenv/shims ~/.nodenv/shims ~/.goenv/shims ~/.rye/shims ~/.deno/bin ~/.pixi/bin"
    " ~/.local/share/pnpm ~/Library/pnpm ~/.npm-global/bin ~/.poetry/bin ~/.dotnet/tools ~/.nix-profile/bin"
    " /run/current-system/sw/bin /nix/var/nix/profiles/default/bin /opt/homebrew/bin /usr/local/bin /usr/local/sbin"
    " /usr/sbin /sbin /usr/local/go/bin /home/linuxbrew/.linuxbrew/bin /snap/bin"
)
_VERSIONS = (
    *(".nvm/versions/node/*/bin", ".local/share/mise/installs/*/*/bin", ".local/share/mise/installs/*/*"),
    *(".local/share/fnm/node-versions/*/installation/bin", ".sdkman/candidates/*/current/bin"),
)
_PROFILES = (".profile", ".bash_profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc", ".config/fish/config.fish")
_IN_TREE = ("node_modules/.bin", ".venv/bin", "venv/bin", "bin")
# Files that say which tools a version manager puts on the path of a person's shell.
TOOL_FILES = ("mise.toml", ".mise.toml", ".tool-versions", "devbox.json", "flake.nix", "shell.nix", ".envrc")
# Words of the shell, and functions that a profile defines.
_SHELL = names(
    ". : source [ [[ alias bg break builtin cd command conda continue declare echo eval exec exit export false fg hash"
    " jobs kill let local mamba module nvm popd print printf pushd pwd read return sdk set shift shopt test time times"
    " trap true type typeset ulimit umask unalias unset wait workon"
)


def is_installed(program: str, folder: Path) -> bool:
    """Whether a shell in this folder may find a program; no program is started for this."""
    if program in _SHELL:
        return True
    home = Path.home()
    in_tree = (f"{place}/{part}" for place in (folder, *folder.parents) for part in _IN_TREE)
    # Not shutil.which: importing it takes longer than all of this.
    for place in (*os.get_exec_path(), *in_tree, *map(os.path.expanduser, _MORE_PATHS)):
        path = Path(place, program)
        if os.access(path, os.X_OK) and path.is_file():
            return True
    if any(next(home.glob(f"{versions}/{program}"), None) for versions in _VERSIONS):
        return True
    return _is_in_profile(program, home) or _is_tool_of_project(program, folder)


def _is_in_profile(program: str, home: Path) -> bool:
    """Whether the files that a person's shell reads define a program, or put its folder on the path."""
    name = re.escape(program)
    defines = re.compile(rf"^\s*(?:alias\s+{name}=|(?:function\s+)?{name}\s*\(\))", re.MULTILINE)
    for text in filter(None, (read_small(home / file) for file in _PROFILES)):
        lines = " ".join(line for line in text.splitlines() if "path" in line.lower())
        places = re.findall(r"(\$\{?HOME\}?|~)?(/[\w/.@+-]+)", lines)
        if defines.search(text) or any(
            Path(f"{home if start else ''}{end}", program).is_file() for start, end in places
        ):
            return True
    return False


def _is_tool_of_project(program: str, folder: Path) -> bool:
    """Whether the project has a version manager install a program."""
    texts = (read_small(place / name) for place in upward(folder) for name in TOOL_FILES)
    return any(text is not None and re.search(rf"\b{re.escape(program)}\b", text) for text in texts)
