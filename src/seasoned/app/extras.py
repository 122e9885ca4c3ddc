"""Libraries that come with an extra: whether they are installed, and what to run where they are not."""

from __future__ import annotations

from importlib.util import find_spec

from seasoned.errors import CannotDo

# Names to import, not names on PyPI: they are looked up without importing, so asking costs nothing.
NUMBERS = ("numpy", "scipy", "jinja2")
BOOK = ("argon2", "cryptography")
SERVER = ("fastapi", "uvicorn", "httpx2")
# aiohttp calls the upstream APIs; the others serve, count and price.
GATEWAY = ("uvicorn", "httptools", "httpx2", "prometheus_client", "starlette", "genai_prices")
SCHEDULE = ("cronsim", "pydantic_ai")
# The extra that brings a library, for a command that finds out only when it imports it.
_EXTRA_OF = {
    "insight": NUMBERS,
    "server": (*BOOK, *SERVER, *GATEWAY, "pydantic"),
    "agent": ("pydantic_ai", "yaml"),
    "schedule": ("cronsim",),
    "template": ("bm25s",),
    "local": ("xllamacpp",),
    "mcp": ("mcp",),
    "postgres": ("psycopg",),
    "mine": ("pyarrow", "fsspec", "dask", "distributed"),
    "query": ("duckdb",),
}


def missing_sentence(module: str) -> str | None:
    """What to install for a module that could not be imported; None if no extra brings it."""
    library = module.partition(".")[0]
    for extra, libraries in _EXTRA_OF.items():
        if library in libraries:
            return f"This needs {library}: pip install 'seasoned[{extra}]'."
    return None


def missing(*libraries: str) -> list[str]:
    """Those of the libraries that are not installed."""
    # find_spec only looks for the package. Importing scipy just to see whether it is there would be slow.
    return [name for name in libraries if find_spec(name) is None]


def require(what: str, extra: str, *libraries: str, otherwise: str = "") -> None:
    """Raise if one of these libraries is missing, with the command that installs the extra."""
    if absent := missing(*libraries):
        raise CannotDo(f"{what} needs {', '.join(absent)}: pip install 'seasoned[{extra}]'{otherwise}.")


def require_numbers(command: str) -> None:
    """Raise if a library for statistics and plots is missing."""
    require(f"`seasoned {command}`", "insight", *NUMBERS)
