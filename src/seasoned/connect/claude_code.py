"""Claude Code: hooks in its `settings.json`, and skills that reviews wrote among its own."""

from __future__ import annotations

from pathlib import Path

from seasoned.config import Config
from seasoned.connect.hook_file import WAIT_SECONDS, Hook, command_of, guarded, read_json, with_hooks, without_hooks
from seasoned.connect.plan import ConnectPlan, LinkedFolder, change_of, common_steps, read_present

AGENT = "claude-code"
_WHY = "guidance at the start, confirmations, repairs of known failures, reviews"


def plan(config: Config, *, programs: Path, prefill: str | None = None) -> ConnectPlan:
    """What must change in the files of Claude Code."""
    path = config.claude_config_dir / "settings.json"
    before = read_present(path)
    after = with_hooks(before, hooks(config, programs), path)
    return ConnectPlan(
        AGENT,
        change_of(path, before, after, _WHY),
        steps=(*_own_steps(after), *common_steps(config)),
        links=(LinkedFolder(config.claude_config_dir / "skills", config.skill_folder, "skills that reviews write"),),
    )


def left(path: Path, data: bytes) -> bytes | None:
    """The settings without our hooks."""
    return without_hooks(data, path)


def hooks(config: Config, programs: Path) -> tuple[Hook, ...]:
    """The hooks that Claude Code runs."""

    def command(*words: str) -> str:
        return command_of(config, programs, AGENT, *words)

    asks = guarded(command("pre-tool-use", "--wait-seconds", str(WAIT_SECONDS)))
    return (
        Hook("SessionStart", command("session-start"), 10),
        Hook("UserPromptSubmit", command("user-prompt-submit"), 10),
        # The agent runs the call when this time is over, so it must be longer than the hook's own.
        Hook("PreToolUse", asks, WAIT_SECONDS + 30, "*"),
        Hook("PostToolUseFailure", command("post-tool-use-failure"), 10, "*"),
        # Both only count what a review needs; a background process does the review.
        Hook("Stop", command("stop"), 10),
        Hook("SessionEnd", command("session-end"), 10),
    )


def _own_steps(after: bytes) -> tuple[str, ...]:
    if read_json(after.decode()).value.get("disableAllHooks"):
        return ("Remove `disableAllHooks` from the settings: with it Claude Code runs no hooks.",)
    return ()
