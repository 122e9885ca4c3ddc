"""Where the pages about things lie, beneath the address of a visit."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def session_link(session: str) -> str:
    """The page of a session, given as `agent:native id`."""
    return f"sessions/{quote(session, safe=':')}"


def sessions_link(**wanted: str) -> str:
    """The list of sessions, of those that are wanted."""
    return f"sessions?{urlencode(wanted)}" if wanted else "sessions"


def template_link(name: str) -> str:
    """The page of a template."""
    return f"templates/{quote(name, safe='')}"


def experiment_link(name: str) -> str:
    """The page of an experiment."""
    return f"experiments/{quote(name, safe='')}"


def change_link(change: int) -> str:
    """The page of a change to memory or a skill."""
    return f"learned/changes/{change}"


def skill_link(skill: str) -> str:
    """The page of a skill, with its category where it has one."""
    return f"learned/skills/{quote(skill)}"
