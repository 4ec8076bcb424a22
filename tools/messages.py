"""Collect the messages of pages and scripts for translators: `python tools/messages.py --into FOLDER --language de`.

`potluck.pot` has those of templates and Python, `scripts.pot` those of scripts. With a language, its catalogue is begun
or brought up to date: `locale/de/LC_MESSAGES/` of the suite, or of an app elsewhere with `--of ../my_app`.
"""

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.pofile import read_po, write_po

SUITE = Path(__file__).resolve().parent.parent / "src" / "potluck"
# What says something to translators begins with this.
COMMENT = "For translators:"
TEMPLATES = {"trimmed": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
# What a problem says, besides its docstring.
OF_PROBLEMS = ("title", "remedy", "detail")


def of_python(source: IO[bytes], keywords: Any, tags: Any, options: Any) -> Iterator[tuple[int, Any, Any, list[str]]]:
    """The messages of a module, and those of the problems that it declares: `class Lent(ProblemError, title="…")`."""
    yield from extract_python(source, keywords, tags, options)
    source.seek(0)
    module = source.read()
    if b"slug=" not in module:
        return
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.ClassDef):
            said = {keyword.arg: keyword.value for keyword in node.keywords}
            if "slug" not in said:
                continue
            if "title" in said and (explanation := ast.get_docstring(node)):
                yield node.lineno, "_", " ".join(explanation.split()), []
            for name in OF_PROBLEMS:
                if isinstance(text := said.get(name), ast.Constant):
                    yield node.lineno, "_", text.value, []


METHODS: dict[str, list[tuple[str, Any]]] = {
    "potluck": [("**.py", of_python), ("**/templates/**.html", "jinja2")],
    "scripts": [("**/vendor/**.js", "ignore"), ("**/static/**.js", "javascript")],
}


def collected(folder: Path, name: str, locale: str | None = None) -> Catalog:
    """The messages of this folder, for the catalogue of this name."""
    catalogue = Catalog(locale=locale, project="Potluck", header_comment=f"# Messages of {folder.name}.")
    options = {"**/templates/**.html": TEMPLATES}
    found = extract_from_dir(folder, METHODS[name], options, comment_tags=[COMMENT], strip_comment_tags=True)
    for file, _, message, comments, context in found:
        # Without lines, so that a catalogue changes only where messages do.
        catalogue.add(message, None, [(file, None)], auto_comments=comments, context=context)
    return catalogue


def files(folder: Path, into: Path, language: str | None) -> Iterator[Path]:
    """Write the files, and return what was written."""
    for name in METHODS:
        template = collected(folder, name)
        yield written(template, into / f"{name}.pot")
        if language is None or not len(template):
            continue
        file = folder / "locale" / language / "LC_MESSAGES" / f"{name}.po"
        if file.exists():
            with file.open("rb") as opened:
                catalogue = read_po(opened, locale=language)
            catalogue.update(template)
        else:
            catalogue = collected(folder, name, language)
        yield written(catalogue, file)


def written(catalogue: Catalog, file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        write_po(opened, catalogue, sort_by_file=True, width=100)
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].partition(":")[0])
    parser.add_argument("--of", type=Path, default=SUITE, help="the folder of an app elsewhere")
    parser.add_argument("--into", type=Path, required=True, help="where to write the templates")
    parser.add_argument("--language", help="the language to begin or bring up to date, such as de or pt_BR")
    arguments = parser.parse_args()
    for file in files(arguments.of, arguments.into, arguments.language):
        print(file)


if __name__ == "__main__":
    main()
