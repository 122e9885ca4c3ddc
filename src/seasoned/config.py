"""Config: the only reader of the environment and of `~/.seasoned/config.toml`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from seasoned.environment import home_folder
from seasoned.errors import UsageError

_Settings = TypeVar("_Settings", bound=msgspec.Struct)

Origin = str
EntryPoint = Literal[
    "gateway", "hermes", "claude-code", "codex", "gemini", "qwen", "copilot", "opencode", "cursor",
    "mcp", "library",
]  # fmt: skip
_Positive = Annotated[int, msgspec.Meta(ge=1)]
_Count = Annotated[int, msgspec.Meta(ge=0)]  # 0 switches something off
_Amount = Annotated[float, msgspec.Meta(ge=0)]


class Route(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One route: a model for scheduled jobs that match all the given conditions."""

    model: str
    words: tuple[str, ...] = ()  # one of them must occur, as a whole word
    longer_than: int | None = None  # characters
    shorter_than: int | None = None
    base_url: str | None = None


TellingPlace = Literal["start", "prompt", "calls", "memory"]


class WarmSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The section [warm]: how sessions of every agent begin."""

    enabled: bool = True  # whether new sessions are shown a block of examples
    # Where no session is shown a block by itself, whatever `enabled` says.
    off: tuple[EntryPoint, ...] = ()
    # Where a session sees nothing: at its start, at its first prompt, at its calls, or of memory and skills.
    silent: tuple[TellingPlace, ...] = ()
    template: str | None = None  # the template to show; by default the one that fits
    # The most tokens that a block may have.
    budget: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    experiment: str | None = None  # the experiment whose arms decide what a session is shown
    # Whether you see a line in your agent when something was shown, hinted or kept.
    visible: bool = True

    def at(self, entry: EntryPoint) -> WarmSettings:
        """What holds for the sessions of one entry point."""
        is_enabled = self.enabled and entry not in self.off
        return msgspec.structs.replace(self, enabled=is_enabled, experiment=self.experiment or None)

    def tells(self, place: TellingPlace) -> bool:
        """Whether a session sees anything at this place."""
        return self.enabled and place not in self.silent

    def on_request(self) -> WarmSettings:
        """The settings for a block that a user or model asked for.

        It is shown although warm starts are switched off; but then the session takes part in no experiment.
        """
        return msgspec.structs.replace(self, enabled=True, experiment=self.experiment if self.enabled else None)


class Config(msgspec.Struct, frozen=True):
    """All settings. `origins` says where each value came from."""

    home: Path  # where Seasoned keeps its store, key and logs (SEASONED_HOME)
    # PostgreSQL for the parts that several machines share (SEASONED_DATABASE_URL).
    database_url: str | None = None
    hermes_home: Path = Path("~/.hermes")
    claude_config_dir: Path = Path("~/.claude")
    codex_home: Path = Path("~/.codex")
    gemini_home: Path = Path("~/.gemini")
    copilot_home: Path = Path("~/.copilot")
    opencode_home: Path = Path("~/.local/share/opencode")
    opencode_config_dir: Path = Path("~/.config/opencode")
    qwen_home: Path = Path("~/.qwen")
    cursor_home: Path = Path("~/.cursor")
    pi_home: Path = Path("~/.pi/agent")
    # The home folder under which agents without a setting of their own are looked for.
    agents_home: Path = Path("~")
    # Further files and folders with histories, read when no path is given.
    sources: tuple[str, ...] = ()
    # Words, or regular expressions between slashes, that are always redacted.
    redact: tuple[str, ...] = ()
    workers: _Positive | None = None  # processes that read files; by default one for each core
    # The model for reviews and scheduled jobs: `openai:…`, `anthropic:…`, `local`, `local:/path.gguf` (SEASONED_MODEL).
    model: str | None = None
    base_url: str | None = None  # an OpenAI-compatible server (SEASONED_BASE_URL)
    local_model: Path | None = None  # the GGUF file of the model `local` (SEASONED_LOCAL_MODEL)
    # The model's context window in tokens, if it is unknown or should be smaller.
    context_length: _Positive | None = None
    # Where MEMORY.md and USER.md are; relative to the home folder unless absolute.
    memory_folder: Path = Path("memory")
    skill_folder: Path = Path("skills")
    # Who reviews: `same` (the agent of the session), another one by its name, `model`, or `off`. By default `model` if
    # one is set, else `same`.
    review_agent: str | None = None
    # Turns of the user after which a session is reviewed in the background; 0 switches it off.
    review_memory_turns: _Count = 10
    # Calls of tools after which a session is reviewed; 0 switches it off.
    review_skill_calls: _Count = 10
    review_seconds: _Positive = 600
    review_per_day: _Positive = 5  # reviews of a day
    review_tokens_per_day: _Count = 20_000  # tokens that all reviews of a day may use, in and out
    review_usd_per_day: _Amount = 2.0
    review_stage_pages: bool = True  # whether what it writes waits if the reviewed session read pages of others
    review_model: str | None = None  # another, cheaper model of the reviewer
    # What is accepted without asking; the other kinds wait in the inbox.
    inbox_accepts: tuple[Literal["note", "skill", "line", "correction", "rule"], ...] = ("note", "skill")
    # Where the confirmation service listens (SEASONED_CONFIRM_URL).
    confirm_url: str | None = None
    telegram_url: str = "https://api.telegram.org"
    telegram_chat: str | None = None  # the chat that scheduled answers go to
    discord_url: str = "https://discord.com/api/v10"
    discord_channel: str | None = None
    webhook_url: str | None = None
    # Models for scheduled jobs that name none; the first route that matches.
    routes: tuple[Route, ...] = ()
    # A scheduled job is refused on a model with a smaller window.
    schedule_min_context: _Positive = 64_000
    script_seconds: _Positive = 300  # how long the script of a job may take
    # What all sessions of a day and of a month should cost at most; `usage` and `statusline` say how much is spent.
    budget_usd_per_day: _Amount | None = None
    budget_usd_per_month: _Amount | None = None
    # How new sessions begin: the section [warm].
    warm: WarmSettings = WarmSettings()
    origins: dict[str, Origin] = {}

    @property
    def store_path(self) -> Path:
        return self.home / "seasoned.db"

    @property
    def model_folder(self) -> Path:
        return self.home / "models"

    @property
    def log_folder(self) -> Path:
        return self.home / "logs"


_ENVIRONMENT = {
    "home": "SEASONED_HOME",
    "database_url": "SEASONED_DATABASE_URL",
    "hermes_home": "HERMES_HOME",
    "claude_config_dir": "CLAUDE_CONFIG_DIR",
    "codex_home": "CODEX_HOME",
    "copilot_home": "COPILOT_HOME",
    "opencode_config_dir": "OPENCODE_CONFIG_DIR",
    "qwen_home": "QWEN_HOME",
    "pi_home": "PI_CODING_AGENT_DIR",
    "workers": "SEASONED_WORKERS",
    "model": "SEASONED_MODEL",
    "base_url": "SEASONED_BASE_URL",
    "local_model": "SEASONED_LOCAL_MODEL",
    "context_length": "SEASONED_CONTEXT_LENGTH",
    "confirm_url": "SEASONED_CONFIRM_URL",
}
_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_AT_HOME = ("memory_folder", "skill_folder")
# msgspec knows the other words for yes and no.
_SWITCH_WORDS = {"on": "true", "yes": "true", "off": "false", "no": "false"}
_SECTIONS: dict[str, type[msgspec.Struct]] = {"warm": WarmSettings}
# Never shown or logged: each in SEASONED_<NAME> or in the file `secrets/<name>` of the home folder.
SECRETS = (
    "confirm_token",
    "telegram_token",
    "discord_token",
    "webhook_secret",
    "hook_secret",
)
_SETTABLE = set(Config.__struct_fields__) - {"origins"}


def load(environment: Mapping[str, str] | None = None) -> Config:
    """The current configuration: defaults, then the file, then the environment."""
    env = os.environ if environment is None else environment
    home = Path(home_folder(env))
    values: dict[str, Any] = {"home": home}
    origins = {"home": "SEASONED_HOME" if env.get("SEASONED_HOME") else "default"}
    file = home / "config.toml"
    for name, value in _read_file(file).items():
        if name not in _SETTABLE or name == "home":
            raise UsageError(
                f"{str(file)!r}: unknown setting {name!r}. Known settings: {', '.join(sorted(_SETTABLE))}."
            )
        values[name] = _checked(home, name, value, str(file))
        origins[name] = str(file)
    for name, variable in _ENVIRONMENT.items():
        if name != "home" and (text := env.get(variable)):
            values[name] = _checked(home, name, text, variable)
            origins[name] = variable
    for name in _SETTABLE - values.keys():
        origins[name] = "default"
    config = Config(**values, origins=origins)
    fields = {name: getattr(config, name) for name in _SETTABLE}
    paths = {name: value.expanduser() for name, value in fields.items() if isinstance(value, Path)}
    paths |= {name: paths["home"] / paths[name] for name in _AT_HOME}
    return msgspec.structs.replace(config, **paths)


def command_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for commands of the agent, before names that look like secrets are removed."""
    return dict(os.environ if environment is None else environment)


def api_key(provider: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The user's key for a provider. It is not part of Config, which may be shown."""
    env = os.environ if environment is None else environment
    return env.get(_KEYS[provider]) or None if provider in _KEYS else None


def secret(name: str, home: Path, environment: Mapping[str, str] | None = None) -> str | None:
    """One of `SECRETS`, from the environment or its file. Not part of Config, which may be shown or logged."""
    env = os.environ if environment is None else environment
    if name not in SECRETS:
        raise UsageError(f"Unknown secret {name!r}. Known secrets: {', '.join(SECRETS)}.")
    if text := env.get(f"SEASONED_{name.upper()}"):
        return text
    file = home / "secrets" / name
    try:
        return file.read_text("utf-8").strip() or None
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(file)!r} cannot be read ({error}): check its permissions, or remove it.") from error


def is_quiet(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the environment asks for no progress bars: NO_COLOR is for colour, CI for a log."""
    env = os.environ if environment is None else environment
    return bool(env.get("CI"))


def _read_file(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    # Few people have this file, and every command starts here.
    import tomllib

    try:
        with file.open("rb") as handle:
            return tomllib.load(handle)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{str(file)!r} cannot be read ({error}). Fix it or move it away.") from error


def _checked(home: Path, name: str, value: object, where: str) -> object:
    """A value of the type that its field has; UsageError if it has another type or is out of range."""
    if isinstance(getattr(Config(home), name), bool) and isinstance(value, str):
        value = _SWITCH_WORDS.get(value.lower(), value)
    try:
        # Not strict: in the environment, numbers and switches are texts.
        found = msgspec.convert({"home": str(home), name: value}, Config, strict=False, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        known = f" Its keys: {', '.join(_SECTIONS[name].__struct_fields__)}." if name in _SECTIONS else ""
        said = str(error).replace(f" - at `$.{name}`", "")
        raise UsageError(f"{where}: {name} is not valid: {said[:1].lower()}{said[1:]}.{known}") from error
    return getattr(found, name)


def _to_path(_: type, value: object) -> Path:
    if isinstance(value, str):
        return Path(value)
    raise TypeError(f"Expected `str`, got `{type(value).__name__}`")


def read_settings(path: Path, kind: type[_Settings]) -> _Settings:
    """The checked settings of one file; the defaults if it does not exist."""
    import tomllib

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise UsageError(f"{str(path)!r} cannot be read ({error.strerror}): check its permissions.") from error
    try:
        return msgspec.convert(tomllib.loads(data.decode()), kind)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{str(path)!r} is not valid ({error}). Fix it or move it away.") from error
