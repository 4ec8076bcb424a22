"""Fetch what tools/vendored.toml names from npm into the pages' static files, and write down the hashes."""

import subprocess
import tarfile
import tempfile
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from smaller_font import COMMON, letters_of, smaller
from trimmed_css import own_sheets, texts_of, trimmed

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "potluck"
STATIC = SOURCE / "web" / "static"
LIST = ROOT / "tools" / "vendored.toml"
SUMS = STATIC / "vendor" / "SHA256SUMS"
SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)


def packages() -> list[dict[str, Any]]:
    return tomllib.loads(LIST.read_text())["package"]


def unpacked(name: str, version: str, folder: Path) -> Path:
    """The package's files, as npm serves them; npm checks the archive against its own record."""
    packed = subprocess.run(
        ["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}"],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    with tarfile.open(folder / packed.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def sprite(icons: Path, names: list[str], title: str) -> str:
    """One file of symbols; size, stroke and colour are left to the style sheet."""
    symbols = []
    for name in names:
        shapes = ElementTree.parse(icons / f"{name}.svg").getroot()
        inside = "".join(ElementTree.tostring(shape, encoding="unicode").strip() for shape in shapes)
        inside = inside.replace(f' xmlns="{SVG}"', "")
        symbols.append(f'<symbol id="{name}" viewBox="0 0 24 24">{inside}</symbol>\n')
    body = "".join(symbols)
    return f'<svg xmlns="{SVG}">\n<!-- {title}: see LICENSE -->\n{body}</svg>\n'


def main() -> None:
    written = []
    for package in packages():
        with tempfile.TemporaryDirectory() as folder:
            source = unpacked(package["name"], package["version"], Path(folder))
            for inside, name in package["files"]:
                target = STATIC / name
                target.parent.mkdir(parents=True, exist_ok=True)
                content = (source / inside).read_bytes()
                if "weights" in package and target.suffix == ".woff2":
                    letters = letters_of(content)
                    if name in package["split"]:
                        rest = target.with_stem(target.stem + "-rest")
                        rare = [letter for letter in letters if letter not in COMMON]
                        rest.write_bytes(smaller(content, *package["weights"], rare))
                        written.append(rest)
                        letters = [letter for letter in letters if letter in COMMON]
                    content = smaller(content, *package["weights"], letters)
                if name in package.get("trimmed", ()):
                    own = "".join(sheet.read_text() for sheet in own_sheets(SOURCE))
                    sheet, left_out = trimmed(content.decode(), texts_of(SOURCE), own)
                    content = sheet.encode()
                    listed = target.with_name("left-out.txt")
                    listed.write_text("".join(f"{word}\n" for word in left_out))
                    written.append(listed)
                target.write_bytes(content)
                written.append(target)
            if "sprite" in package:
                target = STATIC / package["sprite"]
                title = f"{package['name']} {package['version']}, {package['licence']}"
                target.write_text(sprite(source / "icons", package["icons"], title))
                written.append(target)
    lines = [f"{sha256(file.read_bytes()).hexdigest()}  {file.relative_to(SUMS.parent)}\n" for file in sorted(written)]
    SUMS.write_text("".join(lines))
    print(f"{len(written)} files; their hashes are in {SUMS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
