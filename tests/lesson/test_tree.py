"""Lines of a sheet against the tree: what is gone is not told."""

from __future__ import annotations

from pathlib import Path

from seasoned.lesson.tree import contradiction

FILES = {
    "package.json": '{"scripts": {"test": "vitest", "lint": "eslint ."}}',
    "Makefile": "test lint: deps\n\techo\n\nbuild:\n\techo\n",
    "justfile": "default: test\n\n@fmt arg='x':\n    echo\n",
    "mise.toml": '[tasks.check]\nrun = "x"\n[tasks."test:ci"]\nrun = "y"\n',
    "mise-tasks/lint/go": "#!/bin/sh\n",
    "go.mod": "module x\n",
    "scripts/build.py": "print()\n",
    "web/package.json": '{"scripts": {"dev": "vite"}}',
}
# The command, and a part of the reason against it; None if nothing speaks against it.
CASES = {
    "npm run lint": None,
    "npm run gone": "no script 'gone'",
    "npm test": None,
    "npm install": None,
    "npm --prefix web run dev": None,
    "make test": None,
    "make -j4 build": None,
    "make gone": "no target 'gone'",
    "python3 scripts/build.py --fast": None,
    "python3 scripts/gone.py": "no file 'scripts/gone.py'",
    "cd gone && make test": "no folder 'gone'",
    "nosuchprogram-7 test": "not on the path",
    "sh -c 'exit 0'": None,
}


def test_only_what_the_tree_contradicts_is_held_back(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    problems = []
    for command, reason in CASES.items():
        found = contradiction(command, tmp_path)
        if (found is None) != (reason is None) or (reason is not None and reason not in (found or "")):
            problems.append((command, found))
    assert not problems


def test_targets_of_just_and_mise(tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("just", "mise", "go", "cargo"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    found = {
        command: contradiction(command, tmp_path)
        for command in (
            *("just fmt", "just gone", "mise run check", "mise run test:ci", "mise run lint:go", "mise run gone"),
            *("go test ./...", "cargo test"),
        )
    }
    assert {command for command, reason in found.items() if reason is not None} == {
        *("just gone", "mise run gone", "cargo test"),
    }, found
