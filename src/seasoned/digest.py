"""Short digests of texts, for keys and names: hooks compute them, so OpenSSL is not loaded, which hashlib does."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # what hashlib.blake2b is
except ImportError:  # another Python than CPython
    from hashlib import blake2b

__all__ = ["blake2b", "short_digest"]


def short_digest(*parts: str, size: int = 8) -> str:
    """The digest of texts in order as hexadecimal digits, two for each byte of its size."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=size).hexdigest()
