"""Commands inside commands: what runs because another one does."""

from __future__ import annotations

from seasoned.command.layers import layers, substitutions
from tests.each_case import each_case


@each_case(
    ("command", "inner"),
    [
        ("echo $(git status)", ["git status"]),
        ("diff <(ls a) <(ls b)", ["ls a", "ls b"]),
        ("echo '$(rm x)'", []),
        ('echo "`rm x`"', ["rm x"]),
        ("echo $((6 * 7))", []),
        ("echo $(( $(date +%s) / 60 ))", ["date +%s"]),
        ('node -e "rows.map(s=>(s.name))"', []),
        ("gh pr edit --body $'it\\'s `x`'", []),
    ],
)
def test_what_is_substituted(command: str, inner: list[str]) -> None:
    assert list(substitutions(command)) == inner


@each_case(
    ("command", "program"),
    [
        ("bash -c 'make check'", "make"),
        ("ssh -p 22 web1 uptime", "uptime"),
        ("find . -exec wc -l {} +", "wc"),
        ('for f in a \\\n  b; do x=$(cat "$f" || true); done', "true"),
        ("python -c \"import os; os.system('make')\"", "make"),
        ("bash <<EOF\nmake\nEOF", "make"),
        ("docker exec web pytest", "pytest"),
    ],
)
def test_a_program_inside_another_command_is_found(command: str, program: str) -> None:
    assert program in {step.program for layer in layers(command) for step in layer.steps}
