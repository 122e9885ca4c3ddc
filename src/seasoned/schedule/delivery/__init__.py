"""Handing answers on: terminal, file, webhook, Telegram, Discord, e-mail. Apart from the run, and tried again."""

from seasoned.schedule.delivery.sender import AnswerSender, DeliveryMessage, message_of

__all__ = ["AnswerSender", "DeliveryMessage", "message_of"]
