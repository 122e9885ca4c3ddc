"""Libraries that come with an extra: whether they are installed, and what to run where they are not."""

from __future__ import annotations

from importlib.util import find_spec

from seasoned.errors import CannotDo

# Names to import, not names of packages. All others come with `pip install seasoned`.
_EXTRA_OF = {
    "pydantic_ai": "agent",
    "xllamacpp": "local",
    "psycopg": "postgres",
    "pyarrow": "mine",
    "fsspec": "mine",
    "dask": "mine",
    "distributed": "mine",
    "duckdb": "mine",
}


def missing_sentence(module: str, what: str = "This") -> str:
    """What to install for a module that cannot be imported."""
    library = module.partition(".")[0]
    extra = f"[{_EXTRA_OF[library]}]" if library in _EXTRA_OF else ""
    return f"{what} needs {library}. Run: pip install 'seasoned{extra}'"


def require(what: str, library: str) -> None:
    """Raise if a library is missing, with the command that installs it."""
    # Looked for without importing it, which may take a second.
    if find_spec(library) is None:
        raise CannotDo(missing_sentence(library, what))
