"""Clients of the confirmation service."""

from seasoned.confirm.client.sync import (
    Changed,
    ConfirmClient,
    Expired,
    NotConfirmed,
    Rejected,
    SaidNo,
    Unreachable,
    configured_client,
)

__all__ = [
    "Changed",
    "ConfirmClient",
    "Expired",
    "NotConfirmed",
    "Rejected",
    "SaidNo",
    "Unreachable",
    "configured_client",
]
