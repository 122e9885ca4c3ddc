"""An exchange that is over, as the clerk is given it: what was asked as it came, and what was read of the answer."""

from __future__ import annotations

from functools import cached_property

import msgspec

from seasoned.gateway.journal import Entry
from seasoned.gateway.talk import Talk
from seasoned.gateway.wire.api import Api, named_api
from seasoned.gateway.wire.value import Answer, ApiName, Asked


class Finished(msgspec.Struct, kw_only=True, dict=True):
    """What is to be written down of one exchange; it can be handed to another process."""

    id: str
    at: float
    key_name: str
    api_name: ApiName
    talk: Talk
    body: bytes
    """The request as the client sent it."""
    answer: Answer | None = None
    entry: Entry | None = None

    @property
    def api(self) -> Api:
        return named_api(self.api_name)

    @cached_property
    def asked(self) -> Asked | None:
        """The request, read anew: this takes longer than to hand over its bytes."""
        return self.api.read_request(self.body)
