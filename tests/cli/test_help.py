"""Help: every line fits a terminal of 80 columns, and says in a verb what a command does."""

from __future__ import annotations

from collections.abc import Iterator

import click

from seasoned.cli.main import COMMANDS, GROUPS, app

_WIDTH = 80


def _groups(command: click.Command = app, path: str = "seasoned") -> Iterator[tuple[str, click.Group, click.Context]]:
    context = click.Context(command, info_name=path, terminal_width=_WIDTH, max_content_width=_WIDTH)
    if isinstance(command, click.Group):
        yield path, command, context
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _groups(found, f"{path} {name}")


def test_every_line_of_help_fits_and_starts_with_a_verb() -> None:
    wrong = []
    for path, group, context in _groups():
        text = group.get_help(context)
        lines = text.splitlines()[1:]  # the first line is the usage, with its own "[ARGS]..."
        wrong += [f"{path}: {line!r}" for line in lines if len(line) > _WIDTH or line.endswith("...")]
        listed = {name: group.help_line(context, name) for name in group.list_commands(context)}  # type: ignore[attr-defined]
        wrong += [
            f"{path} {name}: {line!r}"
            for name, line in listed.items()
            if len(line) > 55 or not line[:1].isupper() or line.split()[0] in ("The", "A", "An", "What", "Who", "How")
        ]
        wrong += [f"{path} {name} is wrapped" for name, line in listed.items() if line not in text]
    assert not wrong, "\n".join(wrong)


def test_the_list_of_commands_says_what_each_command_says_of_itself() -> None:
    context = click.Context(app)
    wrong = []
    for name, (_, line) in COMMANDS.items():
        command = app.get_command(context, name)  # type: ignore[attr-defined]
        own = command.get_short_help_str(limit=200).rstrip(".")
        if own != line:
            wrong.append(f"{name}: {line!r} in main.py, {own!r} in the command")
    assert not wrong, "\n".join(wrong)


def test_every_option_says_what_it_does_in_a_sentence() -> None:
    wrong = []
    for path, group, context in _groups():
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            wrong += [
                f"{path} {name} {one.opts[-1]}: {one.help!r}"
                for one in command.params
                if isinstance(one, click.Option) and (not one.help or not one.help.endswith(".") or len(one.help) < 8)
            ]
    assert not wrong, "\n".join(wrong)


def test_there_are_at_most_75_commands_and_each_is_under_one_heading() -> None:
    counted = []
    for path, group, context in _groups():
        if group.invoke_without_command:
            counted.append(path)
        names = {name: group.get_command(context, name) for name in group.list_commands(context)}
        counted += [f"{path} {name}" for name, one in names.items() if not isinstance(one, click.Group)]
    assert len(counted) <= 75, "\n".join(counted)
    listed = [name for group in GROUPS.values() for name in group]
    assert sorted(listed) == sorted(set(listed)) == sorted(COMMANDS)
    assert list(GROUPS) == ["Start", "Look", "Lessons", "Examples", "Keep", "Serve"]
