"""What the rules of the journal need besides the core, as `at.context`."""

import hmac
from base64 import b64encode
from dataclasses import dataclass
from uuid import UUID

from potluck.apps.journal.assistant import Provider
from potluck.apps.journal.assistant.embedded import Embedded
from potluck.apps.journal.assistant.remote import Anthropic, OpenAI
from potluck.web import AssistantSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContext:
    provider: Provider
    """The configured assistant."""
    embedded: Provider
    """The built-in one, for when the configured one is not allowed or fails."""
    draft_secret: bytes

    def draft_key(self, user_id: UUID) -> str:
        """The key that this person's drafts are encrypted with on their devices; only they are given it."""
        return b64encode(hmac.digest(self.draft_secret, user_id.bytes, "sha256")).decode()


def journal_context(settings: AssistantSettings, draft_secret: bytes) -> JournalContext:
    embedded = Embedded()
    match settings.provider:
        case "openai":
            return JournalContext(provider=OpenAI(settings), embedded=embedded, draft_secret=draft_secret)
        case "anthropic":
            return JournalContext(provider=Anthropic(settings), embedded=embedded, draft_secret=draft_secret)
    return JournalContext(provider=embedded, embedded=embedded, draft_secret=draft_secret)
