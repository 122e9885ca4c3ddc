"""What a session in a project begins with: the project sheet, as text that stays the same while it lives."""

from __future__ import annotations

from hashlib import blake2b

from seasoned.experience.ask import Asking
from seasoned.marks import BLOCK_ENDS, BLOCK_OPENS
from seasoned.store import Store
from seasoned.store.project import ProjectFinder
from seasoned.template.library.storage import WarmBlock, find_block, keep_block
from seasoned.template.provision import Ensured
from seasoned.template.render import Rendered
from seasoned.template.render.tokens import count_tokens

# The name under which sheets are kept among the blocks of templates. A template cannot have it: it has a slash.
_NAME = "project/sheet"


def ensure_sheet(store: Store, session_id: str, folder: str | None, *, now: float) -> Ensured:
    """The sheet of a conversation: found, or made at its start and kept. Nothing known gives nothing."""
    known = find_block(store, session_id, "text")
    if known is None:
        asking = asking_for(store, session_id, folder)
        text = "" if asking is None else asking.sheet()[0]
        if not text:
            return Ensured(None, "Nothing is known about this project yet.")
        known = _kept(store, session_id, text, now)
        assert asking is not None
        asking.once("start", text)
        return Ensured(_rendered(known), "The project sheet.", f"{_NAME}@1", is_new=True)
    return Ensured(_rendered(known), "What the conversation began with.", f"{known.template}@{known.version}")


def asking_for(store: Store, session_id: str, folder: str | None) -> Asking | None:
    """A conversation in a folder, ready to ask; None if the folder belongs to no project."""
    project = ProjectFinder(store).find(folder) if folder else None
    return None if project is None else Asking(store, project.key, session_id, folder)


def _kept(store: Store, session_id: str, text: str, now: float) -> WarmBlock:
    digest = blake2b(text.encode(), digest_size=8).hexdigest()
    content = f"{BLOCK_OPENS}v1 {_NAME}@1 {digest}]\n{text}\n{BLOCK_ENDS}".encode()
    return keep_block(store, WarmBlock(session_id, "text", "guidance", _NAME, 1, (), content, digest, now))


def _rendered(block: WarmBlock) -> Rendered:
    tokens = count_tokens(block.content.decode("utf-8", "replace"))
    return Rendered("text", "guidance", block.content, tokens, block.example_ids, block.digest)
