"""The confirmation service over HTTP."""

from seasoned.confirm.service.app import attach, create_app, describe
from seasoned.confirm.service.listen import serve
from seasoned.confirm.service.state import Service

__all__ = ["Service", "attach", "create_app", "describe", "serve"]
