"""The normal form of an e-mail address: every spelling of one mailbox becomes the same text."""

from contextlib import suppress
from encodings.idna import ToASCII, nameprep
from re import compile as pattern
from unicodedata import normalize

DOT = pattern("[.\u3002\uff0e\uff61]")
ACE_PREFIX = "xn--"


def normal_email(address: str) -> str:
    """Equal for addresses that differ only in case, width, Unicode form, how the domain is encoded, or a final dot."""
    # Not the library's folding, which also drops accents and punctuation: those make another mailbox.
    mailbox, at, domain = _compatible(address.strip()).rpartition("@")
    return mailbox + at + ".".join(_label(label) for label in DOT.split(domain.rstrip(".\u3002")))


def is_same_mailbox(one: str, other: str) -> bool:
    """Whether two addresses are certainly the same, so that a proof of one is a proof of the other."""
    return one == other or (normal_email(one) == normal_email(other) and is_unambiguous(one) and is_unambiguous(other))


def is_unambiguous(address: str) -> bool:
    """Whether no other mailbox has the same normal form: there ß is ss, but a domain with ß is one of its own."""
    mailbox, _, domain = normalize("NFC", address.strip().lower()).rpartition("@")
    with suppress(UnicodeError):
        labels = [_decoded(label) for label in domain.split(".")]
        return all(map(_is_plain, [mailbox, *labels])) and all(nameprep(label) == label for label in labels)
    return False


def former_normal_form(address: str) -> str:
    """What addresses were compared by before: case, surrounding space and how an accent is composed."""
    return normalize("NFC", normalize("NFC", address.strip()).casefold())


def _compatible(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFKC", normalize("NFKC", text).casefold())


def _is_plain(text: str) -> bool:
    return _compatible(text) == text


def _decoded(label: str) -> str:
    return label.removeprefix(ACE_PREFIX).encode("ascii").decode("punycode") if label.startswith(ACE_PREFIX) else label


def _label(label: str) -> str:
    """A label of a domain as the domain name system has it; one that cannot be a name stays as it is."""
    try:
        if label.startswith(ACE_PREFIX):
            label = nameprep(_decoded(label))
        return label if label.isascii() else ToASCII(label).decode("ascii").lower()
    except UnicodeError:
        return label
