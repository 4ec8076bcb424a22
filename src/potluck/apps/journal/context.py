"""The journal's own context for its rules, `at.context`."""

import hmac
from base64 import b64encode
from dataclasses import dataclass
from uuid import UUID

from potluck.apps.journal.assistant import Provider
from potluck.apps.journal.assistant.embedded import Embedded
from potluck.apps.journal.assistant.remote import Anthropic, OpenAI
from potluck.web import Core


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContext:
    provider: Provider
    """The configured assistant."""
    embedded: Provider
    """The built-in one, used if the configured one is not allowed or fails."""
    draft_secret: bytes

    def draft_key(self, user_id: UUID) -> str:
        """The key that encrypts this person's drafts on their devices; only they receive it."""
        return b64encode(hmac.digest(self.draft_secret, user_id.bytes, "sha256")).decode()


def journal_context(core: Core, draft_secret: bytes) -> JournalContext:
    embedded, settings = Embedded(), core.settings.assistant
    remote = {"openai": OpenAI, "anthropic": Anthropic}.get(settings.provider)
    if remote is None:
        return JournalContext(provider=embedded, embedded=embedded, draft_secret=draft_secret)
    provider = remote(url=settings.url, model=settings.model, key=settings.key, timeout=settings.timeout)
    return JournalContext(provider=provider, embedded=embedded, draft_secret=draft_secret)
