"""Handing answers on: terminal, file, webhook, Telegram, Discord, e-mail. Apart from the run, and tried again."""

from seasoned.schedule.delivery.courier import Courier
from seasoned.schedule.delivery.message import Message, message_of

__all__ = ["Courier", "Message", "message_of"]
