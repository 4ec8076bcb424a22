"""Scripts and style sheets arrive with what they import, and each script runs once."""

import json
import re
import shutil
import subprocess

import pytest

from potluck.suite import APPS
from potluck.web.assets import OF_SUITE, STATIC
from potluck.web.bundles import OF_EVERY_PAGE, Bundles, NotBundled, without_comments, without_indents

SCRIPTS = {
    "js/page.js": 'import "./broken.js";\nimport "./menu.js";\n',
    "js/broken.js": 'throw new Error("broken");\nimport "./count.js";\n',
    "js/menu.js": 'import { next } from "./count.js";\nran("menu", next());\n',
    "js/count.js": "// How many.\nlet count = 0;\nexport function next() {\n  return ++count;\n}\n",
    "js/list.js": 'import { next as following } from "./count.js";\nimport * as shop from "./shop.js";\n'
    'ran("list", following(), shop.NAME);\n',
    "js/shop.js": 'import { next } from "./count.js";\n/** @type {string} */\nexport const NAME = `shop ${next()}`;\n',
}


def bundles(**changed):
    texts = SCRIPTS | {f"js/{name}.js": text for name, text in changed.items()}
    return Bundles({f"web/static/{name}": text.encode() for name, text in texts.items()})


def ours():
    folders = {OF_SUITE: STATIC}
    for app in APPS:
        name = app.__module__.split(".")[2]
        folders[f"apps/{name}/static"] = STATIC.parent.parent / "apps" / name / "static"
    return {
        f"{place}/{file.relative_to(folder).as_posix()}": file.read_bytes()
        for place, folder in folders.items()
        for file in folder.rglob("*")
        if file.suffix in (".js", ".css")
    }


@pytest.mark.needs("node")
def test_a_script_runs_once_though_several_files_contain_it_and_one_that_fails_stops_no_other(tmp_path):
    served = bundles()
    for path in ("page.js", "list.js", "shop.js"):
        (tmp_path / path).write_bytes(served.served(f"web/static/js/{path}"))
    (tmp_path / "main.mjs").write_text(
        "const log = []; globalThis.ran = (...what) => log.push(what);"
        "globalThis.reportError = (error) => log.push([error.message]);"
        'await import("./page.js"); await import("./list.js");'
        'const { NAME } = await import("./shop.js"); console.log(JSON.stringify([...log, [NAME]]));'
    )
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = subprocess.run([shutil.which("node"), "main.mjs"], cwd=tmp_path, capture_output=True, text=True, check=True)
    # The shop counts before the list does, because the list imports it.
    assert json.loads(done.stdout) == [["broken"], ["menu", 1], ["list", 3, "shop 2"], ["shop 2"]]


def test_a_script_leaves_out_what_every_page_has_and_waits_for_it():
    served = bundles().served("web/static/js/list.js").decode()
    assert served.startswith('import "./page.js";')
    assert "count = 0" not in served
    assert "NAME = " in served


def test_what_is_not_understood_is_served_as_it_is():
    for script in ("export default 1;\n", "export let a = 1;\n", 'import { nothing } from "./count.js";\n'):
        odd = bundles(odd=script)
        assert odd.served("web/static/js/odd.js").decode() == script


def test_indents_and_comments_that_have_lines_of_their_own_are_left_out():
    text = "/**\n * What.\n */\n  const a = 1; // why\n  // where\n/** @type {any} */ (a).b();\n/* all */\n"
    assert without_comments(text) == "  const a = 1; // why\n/** @type {any} */ (a).b();\n"
    assert without_indents("  const a = 1;\n") == "const a = 1;\n"
    kept = "const a = `\n // a text\n`;\n"
    assert without_comments(kept) == without_indents(kept) == kept


def test_a_style_sheet_has_those_it_imports_in_their_layer():
    sheets = {
        "web/static/page.css": b'@import url("tokens.css");\n@import url("shell.css");\n',
        "web/static/tokens.css": b'/* Names. */\n@import url("vendor/p/p.css") layer(p);\n:root { --a: 1; }\n',
        "web/static/shell.css": b"p { margin: 0; }\n",
        "web/static/vendor/p/p.css": b'@charset "UTF-8";/*! MIT */p{color:red}',
    }
    assert Bundles(sheets).served("web/static/page.css").decode().split("\n") == [
        *("@layer p {", "/*! MIT */p{color:red}", "}", ":root { --a: 1; }", "", "p { margin: 0; }", "", ""),
    ]


def test_all_of_ours_are_bundled():
    """Nothing is left that a browser has to ask for one level at a time, but for what pages load by themselves."""
    contents = ours()
    served = Bundles(contents)
    assert OF_EVERY_PAGE in contents
    for path in contents:
        text = served.served(path).decode()
        if path.endswith(".css"):
            assert "@import" not in text
        elif re.search(r"^(import|export)", contents[path].decode(), re.MULTILINE):
            assert "potluckModules" in text, path
            imported = re.findall(r'^import .*?"([^"]+)";$', text, re.MULTILINE)
            assert all(name.endswith(("/page.js", "live.js")) for name in imported), path


@pytest.mark.needs("node")
def test_what_is_served_is_a_module_that_browsers_understand(tmp_path):
    contents = ours()
    served = Bundles(contents)
    scripts = {path: served.served(path).decode() for path in contents if path.endswith(".js")}
    (tmp_path / "scripts.json").write_text(json.dumps(scripts))
    check = (
        "const { SourceTextModule } = require('node:vm');"
        "for (const [path, text] of Object.entries(require('./scripts.json')))"
        " try { new SourceTextModule(text); } catch (error) { console.log(path, error.message); }"
    )
    node = [shutil.which("node"), "--experimental-vm-modules", "--no-warnings", "-e", check]
    assert subprocess.run(node, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == ""


def test_a_script_that_waits_before_it_has_run_keeps_no_other_waiting():
    waiting = bundles(later='import { next } from "./count.js";\nconst ready = await next();\n')
    assert "(async () => {" in waiting.served("web/static/js/later.js").decode()
    exporting = bundles(later='import { next } from "./count.js";\nexport const ready = await next();\n')
    assert exporting.served("web/static/js/later.js").startswith(b"import { next }")


def test_a_cycle_is_not_bundled():
    cyclic = bundles(one='import "./two.js";\n', two='import "./one.js";\n')
    with pytest.raises(NotBundled):
        cyclic._order("web/static/js/one.js")
