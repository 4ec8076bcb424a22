"""What is nobody's own: home, health, files, problem pages, and requests that no app ever sees."""

import re

from tests.differential.script import PASSWORD, Script


async def front(script: Script) -> None:
    program, browser = script.program("somebody"), script.browser("somebody")
    await program.page("health", "/healthz")
    await program.page("readiness", "/readyz")
    await program.call("health with HEAD", "HEAD", "/healthz")
    await program.call("health by POST", "POST", "/healthz")
    await browser.page("home of a visitor", "/")
    await program.page("home for a program", "/")
    await browser.call("home with HEAD", "HEAD", "/")
    listed = await browser.page("all problems", "/problems")
    for slug in [*re.findall(r'href="/problems/([a-z-]+)"', listed.text), "no-such-problem"]:
        await browser.page(f"problem {slug}", f"/problems/{slug}")
    await program.page("a problem for a program", "/problems/not-found")
    await browser.page("style", "/style")
    await browser.page("style in an app's hue", "/style/shopping")
    await browser.page("style in no app's hue", "/style/nothing")

    files = listed.find(r"(/static/[0-9a-f]+)/")
    for name in ("shell.css", "js/start.js", "plate.svg", "manifest.webmanifest", "vendor/lucide/icons.svg"):
        await browser.page(f"file {name}", f"{files}/web/static/{name}")
    await browser.page("file again", f"{files}/web/static/tokens.css")
    await browser.page("file unchanged", f"{files}/web/static/tokens.css", if_none_match='"1"')
    await browser.page("file by its fingerprint", "/static/000000000000/web/static/tokens.css")
    await browser.call("file with HEAD", "HEAD", f"{files}/web/static/shell.css")
    await browser.page("file that is not there", "/static/nothing.css")
    await browser.page("file outside the folder", "/static/..%2f..%2fpyproject.toml")
    await browser.call("file by POST", "POST", f"{files}/web/static/shell.css")
    await browser.page("home for its files", "/shopping/offline")
    await browser.page("an app's file", f"{files}/apps/shopping/static/shopping.css")
    await browser.page("an app's file from before", "/static/000000000000/apps/shopping/static/list.js")
    await browser.page("an app's file that is not there", f"{files}/apps/shopping/static/nothing.js")
    await browser.page("another app's file from before", "/static/000000000000/apps/polls/static/polls.css")
    await browser.page("service worker", "/shopping/worker.js")
    await browser.call("service worker with HEAD", "HEAD", "/shopping/worker.js")

    await browser.page("page that is not there", "/nothing")
    await program.page("page that is not there for a program", "/nothing")
    await browser.page("page that is not there, a piece of it", "/nothing", hx_request="true")
    await browser.page("page with a slash too many", "/sign-in/")
    await program.api("address that is not there", "GET", "/nothing")
    await browser.call("address that is not there for a browser", "GET", "/api/v1/nothing")
    await program.api("not a method of the address", "PUT", "/families")
    await program.api("what may be asked", "OPTIONS", "/families")
    await browser.call("what may be asked of a page", "OPTIONS", "/sign-in")
    await program.call("no method at all", "BREW", "/api/v1/me")
    await browser.call("page by DELETE", "DELETE", "/sign-in")
    await program.api("base of the API", "GET", "")

    # Before anybody is known.
    await program.api("nobody", "GET", "/me")
    await program.api("nobody with HEAD", "HEAD", "/me")
    await program.api("a made-up token", "GET", "/me", authorization="Bearer pls_" + "0" * 64)
    await program.api("a token of another kind", "GET", "/me", authorization="Basic YTpi")
    await program.api("a token without its word", "GET", "/me", authorization="pls_" + "0" * 64)

    # Bodies that are not read, or not as they are.
    account = {"email": "bodies@example.org", "password": PASSWORD, "name": "Bodies"}
    await program.api("no body", "POST", "/accounts")
    await program.api("not JSON", "POST", "/accounts", b"{", content_type="application/json")
    await program.api("JSON of another shape", "POST", "/accounts", [1, 2])
    await program.api("JSON null", "POST", "/accounts", b"null", content_type="application/json")
    await program.api("not UTF-8", "POST", "/accounts", b'{"name": "\xff"}', content_type="application/json")
    await program.api("another media type", "POST", "/accounts", b"<a/>", content_type="application/xml")
    await program.api(
        "a form to the API", "POST", "/accounts", b"a=1", content_type="application/x-www-form-urlencoded"
    )
    await program.api("no media type", "POST", "/accounts", b'{"email": "a"}')
    await program.api("too large", "POST", "/accounts", b" " * 1_000_001, content_type="application/json")
    await program.api("unknown fields", "POST", "/accounts", account | {"colour": "red"})
    await program.api(
        "field said twice", "POST", "/accounts", b'{"name": "a", "name": "b"}', content_type="application/json"
    )
    await program.api("every field wrong", "POST", "/accounts", {"email": "a", "password": "short", "name": " "})
    await program.api("fields of other types", "POST", "/accounts", {"email": 1, "password": None, "name": ["a"]})
    await program.api("unknown parameter", "POST", "/accounts?colour=red", account)
    await program.api("key too long", "POST", "/accounts", account, idempotency_key="k" * 129)
    await program.api("key of nobody", "POST", "/accounts", account, idempotency_key="not-a-uuid")
    await browser.form("form too large", "/sign-in", {"email": "a" * 1_000_001})
    await browser.form("form of another type", "/sign-in", {"email": "a"}, content_type="text/plain")
    await browser.call("form without a body", "POST", "/sign-in")
    await browser.form("form with unknown fields", "/sign-in", {"email": "a", "password": "b", "colour": "red"})
    await browser.page("page with an unknown parameter", "/sign-in?colour=red")

    # From elsewhere.
    ada = script.browser("Ada")
    await ada.form("Ada signs up", "/sign-up", {"name": "Ada", "email": "ada@example.org", "password": PASSWORD})
    await ada.page("home of somebody", "/")
    for label, path in (("form", "/account/name"), ("another form", "/shopping/families"), ("sign-out", "/sign-out")):
        await ada.form(f"{label} from another site", path, {"name": "X", "version": "1"}, sec_fetch_site="cross-site")
        await ada.form(f"{label} from a site beside", path, {"name": "X", "version": "1"}, sec_fetch_site="same-site")
    bare = script.browser("Ada's older")
    bare.client.cookies = ada.client.cookies
    del bare.client.headers["sec-fetch-site"]
    await bare.form("form that says nothing of where it is from", "/account/name", {"name": "X", "version": "9"})
    await bare.form("form by its origin", "/account/name", {"name": "X", "version": "9"}, origin="http://testserver")
    await bare.form(
        "form by another origin", "/account/name", {"name": "X", "version": "9"}, origin="http://evil.example"
    )
    await bare.form("form by no origin", "/account/name", {"name": "X", "version": "9"}, origin="null")
    await bare.api("API by cookie from elsewhere", "POST", "/families", {"name": "X"}, origin="http://evil.example")
    await bare.api("API by cookie", "GET", "/me")
    await ada.api("API by cookie from here", "POST", "/families", {"name": "Lovelace"})
    await ada.api("API by cookie from another site", "POST", "/families", {"name": "X"}, sec_fetch_site="cross-site")
    await ada.page("link from another site", "/account", sec_fetch_site="cross-site")
    await ada.page("home with a family", "/")

    # Over https.
    secure = script.browser("Bea", origin="https://testserver")
    await secure.page("sign-in page over https", "/sign-in")
    await secure.form(
        "sign-up over https", "/sign-up", {"name": "Bea", "email": "bea@example.org", "password": PASSWORD}
    )
    await secure.page("account over https", "/account")
    await secure.form("sign-out over https", "/sign-out")


async def openapi(script: Script) -> None:
    """What the API says of itself: what can be asked, with what, and what it may answer; not every word of it."""
    browser = script.browser("somebody")
    answer = await browser.page("document", "/schema/openapi.json")
    document = answer.json or {}
    noted = script.entries[-1]
    noted.pop("json", None)
    noted["json"] = {
        "openapi": document.get("openapi"),
        "info": sorted(document.get("info", {})),
        "operations": {
            f"{method.upper()} {path}": _operation(document, operation)
            for path, methods in sorted(document.get("paths", {}).items())
            for method, operation in sorted(methods.items())
        },
    }
    await browser.page("document unchanged", "/schema/openapi.json", if_none_match=answer.etag)
    await browser.page("page", "/schema")
    page = script.entries[-1]
    page["html"] = [
        line for line in page.get("html", []) if line.startswith(("<title", "<h1", "<h2", "<h3", "<section"))
    ]
    await browser.call("page with HEAD", "HEAD", "/schema")


def _operation(document, operation):
    content = operation.get("requestBody", {}).get("content", {})
    return {
        "parameters": sorted(f"{each['in']} {each['name']}" for each in operation.get("parameters", [])),
        "required parameters": sorted(each["name"] for each in operation.get("parameters", []) if each.get("required")),
        "body": {kind: _body(document, said.get("schema", {})) for kind, said in content.items()},
        "answers": sorted(operation.get("responses", {})),
    }


def _body(document, schema):
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return {"properties": sorted(schema.get("properties", {})), "required": sorted(schema.get("required", []))}
