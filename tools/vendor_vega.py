"""Fetches the scripts that draw the plots of a report: `python tools/vendor_vega.py [--newest]`.

`npm pack` brings the packages into a folder that is removed again; npm itself knows from where. Every file must have
the hash that `versions.json` names. With `--newest` the newest versions are taken and their hashes written there.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

VEGA = Path(__file__).parent.parent / "src/seasoned/report/page/vega"
VERSIONS = VEGA / "versions.json"
_IMPORT = re.compile(r"^import (\{[^}]*\}) from 'vega-util';$", re.MULTILINE)
_EXPORT = re.compile(r"^export \{ (\w+) as expressionInterpreter \};$", re.MULTILINE)
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def main(arguments: list[str]) -> None:
    """Writes every script and licence, or stops at the first that is not what it should be."""
    packages: list[dict[str, Any]] = json.loads(VERSIONS.read_text("utf-8"))
    takes_newest = "--newest" in arguments
    for package in packages:
        version = "latest" if takes_newest else package["version"]
        with tempfile.TemporaryDirectory() as folder:
            files = _unpack(f"{package['name']}@{version}", Path(folder), package)
        if takes_newest:
            package["version"] = json.loads(files["package.json"])["version"]
        _write(package, files, takes_newest=takes_newest)
        sys.stdout.write(f"{package['name']} {package['version']}\n")
    VERSIONS.write_text(json.dumps(packages, indent=2) + "\n", "utf-8")


def _unpack(what: str, folder: Path, package: dict[str, Any]) -> dict[str, bytes]:
    """The files of a package that are wanted, by their names in it."""
    subprocess.run(
        ["npm", "pack", what, "--silent", "--pack-destination", str(folder)], check=True, capture_output=True
    )
    (archive,) = folder.glob("*.tgz")
    wanted = ["package.json", "LICENSE", *([package["script"]["file"]] if "script" in package else [])]
    with tarfile.open(archive) as packed:
        return {name: packed.extractfile(f"package/{name}").read() for name in wanted}  # type: ignore[union-attr]


def _write(package: dict[str, Any], files: dict[str, bytes], *, takes_newest: bool) -> None:
    name = package["name"]
    (VEGA / f"LICENSE-{name}").write_bytes(files["LICENSE"])
    if (script := package.get("script")) is None:
        return
    found = hashlib.sha256(files[script["file"]]).hexdigest()
    if found != script["sha256_in_package"] and not takes_newest:
        raise SystemExit(f"{name}: {script['file']} has the hash {found}, not {script['sha256_in_package']}")
    text = as_plain_script(files[script["file"]].decode("utf-8"))
    (VEGA / f"{name}.js").write_text(text, "utf-8")
    script["sha256_in_package"] = found
    script["sha256"] = hashlib.sha256(text.encode()).hexdigest()


def as_plain_script(text: str) -> str:
    """The same for a page without modules: nothing is imported, exported or looked up in a source map."""
    text = _SOURCE_MAP.sub("", text)
    if _IMPORT.search(text) is None:
        return text
    text = _EXPORT.sub(r"return { expressionInterpreter: \1 };", _IMPORT.sub(r"const \1 = vega;", text))
    return f"globalThis.vegaInterpreter = (() => {{\n{text}}})();\n"


if __name__ == "__main__":
    main(sys.argv[1:])
