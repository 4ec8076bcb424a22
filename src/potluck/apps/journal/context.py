"""What the rules of the journal work with besides the core: `at.context`."""

import hmac
from base64 import b64encode
from dataclasses import dataclass
from uuid import UUID

from potluck.apps.journal.assistant import Provider
from potluck.apps.journal.assistant.embedded import Embedded
from potluck.apps.journal.assistant.remote import Anthropic, OpenAI
from potluck.settings import AssistantSettings

__all__ = ["JournalContext", "journal_context"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContext:
    provider: Provider
    """Who answers questions, if that is allowed and they do."""
    embedded: Provider
    """Who answers else."""
    draft_secret: bytes

    def draft_key(self, user_id: UUID) -> str:
        """What a device seals the drafts of this person with: whoever is given it alone can read them."""
        return b64encode(hmac.digest(self.draft_secret, user_id.bytes, "sha256")).decode()


def journal_context(settings: AssistantSettings, draft_secret: bytes) -> JournalContext:
    embedded = Embedded()
    match settings.provider:
        case "openai":
            return JournalContext(provider=OpenAI(settings), embedded=embedded, draft_secret=draft_secret)
        case "anthropic":
            return JournalContext(provider=Anthropic(settings), embedded=embedded, draft_secret=draft_secret)
    return JournalContext(provider=embedded, embedded=embedded, draft_secret=draft_secret)
