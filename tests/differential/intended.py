"""The rules of `intended.toml`: differences from the recording that are meant, each with its reason."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.differential.recording import Entry

__all__ = ["FILE", "Rule", "load_rules", "normalise"]

FILE = Path(__file__).parent / "intended.toml"


@dataclass(eq=False)
class Rule:
    """One class of intended differences. `replace` and `drop` change both sides before they are compared."""

    why: str
    step: str = "*"
    where: str = "*"
    replace: str | None = None
    """Whatever matches becomes `by`, in every text."""
    by: str = ""
    drop: str | None = None
    """Lines that match are left out, and so are members that match as "name: value"."""
    accept: str | None = None
    """Differences whose new value matches are accepted."""
    was: str = ""
    """With `accept`: what the old value has to match."""
    used: bool = False

    def __post_init__(self) -> None:
        if sum(verb is not None for verb in (self.replace, self.drop, self.accept)) != 1:
            raise ValueError(f"Say one of replace, drop and accept: {self.why}")

    def accepts(self, step: str, where: str, was: str, now: str) -> bool:
        if self.accept is None or not fnmatchcase(step, self.step) or not fnmatchcase(where, self.where):
            return False
        accepted = bool(re.search(self.was, was) and re.search(self.accept, now))
        self.used |= accepted
        return accepted

    def apply(self, where: str, value: Any) -> Any:
        """The value without what this rule leaves out."""
        match value:
            case dict():
                return {name: self.apply(f"{where}/{name}", item) for name, item in self._kept_members(where, value)}
            case list():
                kept = [item for item in value if not self._drops(where, item)]
                return [self.apply(self._below(where, number), item) for number, item in enumerate(kept)]
            case str() if self.replace is not None and fnmatchcase(where, self.where):
                replaced = re.sub(self.replace, self.by, value)
                self.used |= replaced != value
                return replaced
        return value

    def _kept_members(self, where: str, members: dict[str, Any]) -> Iterable[tuple[str, Any]]:
        return [
            (name, item)
            for name, item in members.items()
            if not self._drops(f"{where}/{name}", f"{name}: {item}" if isinstance(item, str) else f"{name}:")
        ]

    def _drops(self, where: str, item: Any) -> bool:
        if self.drop is None or not isinstance(item, str) or not fnmatchcase(where, self.where):
            return False
        dropped = re.search(self.drop, item) is not None
        self.used |= dropped
        return dropped

    @staticmethod
    def _below(where: str, number: int) -> str:
        # The lines of a page are all at one place.
        return where if where in ("html", "around", "text", "cookies") else f"{where}/{number}"


def load_rules(path: Path = FILE) -> list[Rule]:
    return [Rule(**rule) for rule in tomllib.loads(path.read_text(encoding="utf-8")).get("intended", [])]


def normalise(entry: Entry, rules: Iterable[Rule]) -> Entry:
    """The entry without what the rules leave out of both sides."""
    step = entry["step"]
    for rule in rules:
        if rule.accept is None and fnmatchcase(step, rule.step):
            entry = {part: value if part == "step" else rule.apply(part, value) for part, value in entry.items()}
    return entry
