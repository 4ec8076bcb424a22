"""Scripts and style sheets as they are served: each with all that it imports, so that a page waits for few files.

A script that imports others would have a browser ask for them one level at a time. Served, it contains them. Each is
registered by its path and runs once, whichever of the files that contain it arrives first, so that its state is one.
See docs/decisions/123.
"""

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

# What every page loads. Scripts of pages leave out what it contains, and wait for it.
OF_EVERY_PAGE = "web/static/js/page.js"
# What pages with a live list load too.
OF_LIVE_PAGES = "web/static/js/kit/live.js"
# What other scripts import; a page that loads one by itself may be any.
KIT = "/kit/"
VENDOR = "/vendor/"

IMPORT = re.compile(r'^import\s+(?:(\{[^}]*\}|\*\s+as\s+[\w$]+)\s+from\s+)?"(\.[^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) ([\w$]+))", re.MULTILINE)
EXPORTS = re.compile(r"^export \{([^}]*)\};$", re.MULTILINE)
# Of a script itself, not of one of its functions.
AWAIT = re.compile(r"^(?!.*\basync\b)\S.*\bawait\b", re.MULTILINE)
LEFT_OVER = re.compile(r"^(?:import|export)\b", re.MULTILINE)
CSS_IMPORT = re.compile(r'^@import url\("([^"]+)"\)(?: layer\((\w+)\))?;$', re.MULTILINE)
CSS_COMMENT = re.compile(r"/\*(?!!).*?\*/\n?", re.DOTALL)
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
CHARSET = re.compile(r'^@charset "[^"]*";')

HEAD = "const modules = (globalThis.potluckModules ??= {});\n"


class NotBundled(Exception):
    """The file has imports or exports of a form that is not understood. It is served as it is, which works too."""


class Bundles:
    """The files of the suite and its apps, by their path in the source tree."""

    def __init__(self, contents: Mapping[str, bytes]) -> None:
        self._contents = contents
        self._modules: dict[str, Module] = {}

    def served(self, path: str) -> bytes:
        """The file with what it imports."""
        try:
            if path.endswith(".js"):
                return self._script(path).encode()
            if path.endswith(".css"):
                return self._style(path).encode()
        except NotBundled:
            pass
        return self._contents[path]

    # --- scripts ------------------------------------------------------------------------------------------------------

    def _script(self, path: str) -> str:
        module = self.module(path)
        if not module.imports and not module.exports:
            return module.text
        parts = []
        paths = self._order(path)
        for elsewhere in self._loaded_before(path, paths):
            parts.append(f"import {_quoted(_relative(elsewhere, path))};\n")
            contained = set(self._order(elsewhere))
            paths = [other for other in paths if other not in contained]
        parts.append(HEAD)
        for other in paths:
            registered = self._registered(self.module(other))
            if other != path and not self.module(other).exports:
                # As a script of its own, it would not keep the others from running either.
                registered = f"try {{\n{registered}}} catch (error) {{\nreportError(error);\n}}\n"
            parts.append(registered)
        if module.exports:
            parts.append(f"export const {{ {', '.join(module.exports)} }} = modules[{_quoted(path)}];\n")
        return "".join(parts)

    def _loaded_before(self, path: str, paths: Collection[str]) -> Iterator[str]:
        """Scripts that are loaded by themselves, and contain some of what this one imports."""
        if OF_EVERY_PAGE in self._contents and path != OF_EVERY_PAGE and (KIT not in path or path == OF_LIVE_PAGES):
            yield OF_EVERY_PAGE
            if OF_LIVE_PAGES in paths and path != OF_LIVE_PAGES:
                yield OF_LIVE_PAGES

    def module(self, path: str) -> "Module":
        module = self._modules.get(path)
        if module is None:
            content = self._contents.get(path)
            if content is None:
                raise NotBundled(path)
            module = self._modules[path] = Module(path, content.decode())
        return module

    def _order(self, path: str) -> list[str]:
        """The script and all that it imports, each after what it imports itself."""
        ordered: dict[str, None] = {}

        def visit(at: str, above: tuple[str, ...]) -> None:
            if at in above:
                raise NotBundled(f"{at} imports itself")
            if at not in ordered:
                for other in self.module(at).imported:
                    visit(other, (*above, at))
                ordered[at] = None

        visit(path, ())
        return list(ordered)

    def _registered(self, module: "Module") -> str:
        lines = []
        for names, other in module.imports:
            known = self.module(other).exports
            if names.startswith("{"):
                pairs = [tuple(name.split(" as ")) for name in _names(names)]
                if unknown := [pair[0] for pair in pairs if pair[0] not in known]:
                    raise NotBundled(f"{other} exports no {', '.join(unknown)}")
                bound = ", ".join(": ".join(pair) for pair in pairs)
                lines.append(f"const {{ {bound} }} = modules[{_quoted(other)}];\n")
            elif names:
                lines.append(f"const {names.split()[-1]} = modules[{_quoted(other)}];\n")
        result = f"return {{ {', '.join(module.exports)} }};"
        function = "async () =>" if module.awaits else "() =>"
        body = "".join(lines) + without_indents(module.body)
        return f"modules[{_quoted(module.path)}] ??= ({function} {{\n{body}\n{result}\n}})();\n"

    # --- style sheets -------------------------------------------------------------------------------------------------

    def _style(self, path: str) -> str:
        content = self._contents.get(path)
        if content is None:
            raise NotBundled(path)
        text = CHARSET.sub("", content.decode())
        if VENDOR in path:
            return text

        def imported(match: re.Match[str]) -> str:
            name, layer = match.groups()
            inside = self._style(_resolved(name, path))
            if "url(" in inside.replace("url(data:", "").replace('url("data:', "") and "/" in name:
                raise NotBundled(f"{name} refers to files relative to itself")
            return f"@layer {layer} {{\n{inside}\n}}" if layer else inside

        return CSS_IMPORT.sub(imported, INDENT.sub("", CSS_COMMENT.sub("", text)))


class Module:
    """A script: what it imports and exports, and the rest of it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = without_comments(text)
        self.imports = [(names or "", _resolved(name, path)) for names, name in IMPORT.findall(self.text)]
        listed = [name for names in EXPORTS.findall(self.text) for name in _names(names)]
        self.exports = [*EXPORT.findall(self.text), *listed]

    @property
    def imported(self) -> Iterator[str]:
        return (other for _, other in self.imports)

    @property
    def awaits(self) -> bool:
        """Whether it waits for something before it has run; others do not wait for it then."""
        if not AWAIT.search(self.body):
            return False
        if self.exports:
            raise NotBundled(f"{self.path}: what it exports comes later")
        return True

    @cached_property
    def body(self) -> str:
        body = EXPORT.sub("", EXPORTS.sub("", IMPORT.sub("", self.text))).strip()
        if left := LEFT_OVER.search(body):
            raise NotBundled(f"{self.path}: {body[left.start() :].partition(chr(10))[0]}")
        return body


def without_comments(text: str) -> str:
    """The script without comments that have lines of their own. One with a text over several lines stays as it is."""
    lines = text.split("\n")
    if _has_long_texts(text):
        return text
    kept, in_comment = [], False
    for line in lines:
        stripped = line.strip()
        if in_comment:
            in_comment = not stripped.endswith("*/")
        elif stripped.startswith("/*") and "*/" not in stripped:
            in_comment = True
        elif not stripped.startswith("//") and not (stripped.startswith("/*") and stripped.endswith("*/")):
            kept.append(line)
    return "\n".join(kept)


def without_indents(text: str) -> str:
    return text if _has_long_texts(text) else INDENT.sub("", text)


def _has_long_texts(text: str) -> bool:
    """Whether a text in it may go over several lines."""
    return any(line.count("`") % 2 for line in text.split("\n"))


def _names(braces: str) -> list[str]:
    return [name for part in braces.strip("{} \n").split(",") if (name := " ".join(part.split()))]


def _resolved(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def _relative(path: str, other: str) -> str:
    relative = posixpath.relpath(path, posixpath.dirname(other))
    return relative if relative.startswith(".") else f"./{relative}"


def _quoted(text: str) -> str:
    return json.dumps(text)
