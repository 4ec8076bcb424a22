"""What the rules of the journal work with besides the core: `at.context`."""

from dataclasses import dataclass

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


def journal_context(settings: AssistantSettings) -> JournalContext:
    embedded = Embedded()
    match settings.provider:
        case "openai":
            return JournalContext(provider=OpenAI(settings), embedded=embedded)
        case "anthropic":
            return JournalContext(provider=Anthropic(settings), embedded=embedded)
    return JournalContext(provider=embedded, embedded=embedded)
