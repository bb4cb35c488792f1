"""Why a message is sent. A module of its own, so that a server starts without the rules."""

from enum import StrEnum


class MessageKind(StrEnum):
    """Why a message is sent. `renewed`: to receivers that forget an alert by themselves; people never see it"""

    FIRED = "fired"
    WORSE = "worse"
    ESCALATED = "escalated"
    REPEATED = "repeated"
    RENEWED = "renewed"
    RESOLVED = "resolved"
