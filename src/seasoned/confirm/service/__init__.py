"""The confirmation service over HTTP."""

from seasoned.confirm.service.listen import serve
from seasoned.confirm.service.routes import attach, create_app
from seasoned.confirm.service.service import ConfirmService

__all__ = ["ConfirmService", "attach", "create_app", "serve"]
