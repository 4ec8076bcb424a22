"""People: accounts, sessions, tokens, passwords, invitations and leaving, by the API and by pages."""

from potluck.web.people.access import AddressOnly
from potluck.web.people.invitations import invite_newcomer
from potluck.web.people.password_resets import issue_reset
from tests.differential.chapters.sweep import sweep
from tests.differential.script import PASSWORD, Script

ANOTHER = "battery staple"
NEVER = "00000000-0000-4000-8000-ffffffffffff"
ANYONES = "00000000-0000-4000-8000-0000000000{:02}"


async def people(script: Script) -> None:
    nobody = script.program("nobody")
    ada, eve = await script.person("Ada"), await script.person("Eve")
    account = {"email": "ben@example.org", "password": PASSWORD, "name": "Ben"}
    key = ANYONES.format(1)
    made = await nobody.api("sign up", "POST", "/accounts", account, idempotency_key=key)
    await nobody.api("sign up once more", "POST", "/accounts", account, idempotency_key=key)
    await nobody.api(
        "sign up as another by the same key", "POST", "/accounts", account | {"name": "X"}, idempotency_key=key
    )
    ben = script.program("Ben", made["token"])
    await nobody.api("sign up with a taken address", "POST", "/accounts", account)
    await nobody.api("sign up with it in capitals", "POST", "/accounts", account | {"email": " BEN@example.org "})
    await nobody.api("sign up with a bad name", "POST", "/accounts", account | {"email": "x@y", "name": "a\u202eb"})
    await nobody.api("sign up with a long name", "POST", "/accounts", account | {"email": "x@y", "name": "n" * 101})
    await nobody.api("sign up with a long password", "POST", "/accounts", account | {"password": "p" * 129})
    await nobody.api("sign up with a made-up invitation", "POST", "/accounts", account | {"invitation": "pli_1"})

    await nobody.api("sign in", "POST", "/sessions", {"email": "ben@example.org", "password": PASSWORD})
    await nobody.api("sign in in capitals", "POST", "/sessions", {"email": "BEN@EXAMPLE.ORG", "password": PASSWORD})
    await nobody.api(
        "sign in with another password", "POST", "/sessions", {"email": "ben@example.org", "password": ANOTHER}
    )
    await nobody.api(
        "sign in with no such address", "POST", "/sessions", {"email": "x@example.org", "password": PASSWORD}
    )
    await nobody.api("sign in with nothing", "POST", "/sessions", {})
    key = ANYONES.format(2)
    sign_in = {"email": "ben@example.org", "password": PASSWORD}
    await nobody.api("sign in by a key", "POST", "/sessions", sign_in, idempotency_key=key)
    await nobody.api("sign in by a key once more", "POST", "/sessions", sign_in, idempotency_key=key)
    guesser = script.program("a guesser")
    for _ in range(3):
        await guesser.api("guess", "POST", "/sessions", {"email": "eve@example.org", "password": ANOTHER})
    await guesser.api("guess right at last", "POST", "/sessions", {"email": "eve@example.org", "password": PASSWORD})

    hurried = script.program("somebody in a hurry")
    guess = {"email": "nobody@example.org", "password": ANOTHER}
    await hurried.quietly(20, "POST", "/api/v1/sessions", json=guess)
    await hurried.api("guess too often", "POST", "/sessions", guess)

    me = await ben.api("me", "GET", "/me")
    await ben.api("me unchanged", "GET", "/me", if_none_match=me.etag)
    await ben.api("me by any tag", "GET", "/me", if_none_match="*")
    await ben.api("me with HEAD", "HEAD", "/me")
    await ben.api("me with an unknown parameter", "GET", "/me?colour=red")
    await ben.api("rename", "PATCH", "/me", {"name": " Benjamin ", "version": 1}, idempotency_key="name")
    await ben.api("rename once more", "PATCH", "/me", {"name": " Benjamin ", "version": 1}, idempotency_key="name")
    await ben.api("rename by an old version", "PATCH", "/me", {"name": "Benny", "version": 1})
    await ben.api("rename by an old If-Match", "PATCH", "/me", {"name": "Benny"}, if_match='"1"')
    await ben.api("rename by If-Match", "PATCH", "/me", {"name": "Ben"}, if_match='"2"')
    await ben.api("rename by no version", "PATCH", "/me", {"name": "Benny"})
    await ben.api("rename to nothing", "PATCH", "/me", {"name": "", "version": 3})
    await ben.api("rename with a version of text", "PATCH", "/me", {"name": "Ben", "version": "3"})
    await nobody.api("rename nobody", "PATCH", "/me", {"name": "X", "version": 1})

    await ben.api("change the address", "PUT", "/me/email", {"email": "benjamin@example.org", "password": PASSWORD})
    await ben.api("change it to a taken one", "PUT", "/me/email", {"email": "ada@example.org", "password": PASSWORD})
    await ben.api(
        "change it with another password", "PUT", "/me/email", {"email": "b@example.org", "password": ANOTHER}
    )
    await ben.api("change it to none", "PUT", "/me/email", {"email": "nowhere", "password": PASSWORD})
    await nobody.api("change nobody's address", "PUT", "/me/email", {"email": "b@example.org", "password": PASSWORD})

    token = await ben.api("make a token", "POST", "/me/tokens", {"name": "Script"}, idempotency_key="token")
    await ben.api("make a token once more", "POST", "/me/tokens", {"name": "Script"}, idempotency_key="token")
    await ben.api("make a token without a name", "POST", "/me/tokens", {"name": " "})
    await nobody.api("make nobody's token", "POST", "/me/tokens", {"name": "Script"})
    await ben.api("make a second token", "POST", "/me/tokens", {"name": "Another"})
    await ben.api("tokens", "GET", "/me/tokens")
    await ben.api("tokens with a bad cursor", "GET", "/me/tokens?cursor=bad")
    await nobody.api("tokens of nobody", "GET", "/me/tokens")
    by_token = script.program("Ben's token", token["token"])
    await by_token.api("me by a token", "GET", "/me")
    await by_token.api("tokens by a token", "GET", "/me/tokens")
    await by_token.api("make a token by a token", "POST", "/me/tokens", {"name": "More"})
    await by_token.api("change the password by a token", "PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER})
    await by_token.api("change the address by a token", "PUT", "/me/email", {"email": "x@y.z", "password": PASSWORD})
    await by_token.api("sessions by a token", "GET", "/me/sessions")
    await by_token.api("sign out by a token", "DELETE", "/sessions/current")
    await by_token.api("leave by a token", "POST", "/me/delete", {"password": PASSWORD})
    await by_token.api("rename by a token", "PATCH", "/me", {"name": "Ben T", "version": 4})
    await by_token.api("export by a token", "GET", "/me/export")
    await eve.api("revoke another's token", "DELETE", f"/me/tokens/{token['id']}")
    await ben.api("revoke a token of a malformed id", "DELETE", "/me/tokens/script")
    await ben.api("revoke a token", "DELETE", f"/me/tokens/{token['id']}", idempotency_key="revoke")
    await ben.api("revoke a token once more", "DELETE", f"/me/tokens/{token['id']}", idempotency_key="revoke")
    await ben.api("revoke a token that is gone", "DELETE", f"/me/tokens/{token['id']}")
    await by_token.api("me by a revoked token", "GET", "/me")

    await ben.api("sessions", "GET", "/me/sessions")
    await nobody.api("sessions of nobody", "GET", "/me/sessions")
    await ben.api("end the other sessions", "POST", "/me/sessions/end-others", idempotency_key="end")
    await ben.api("end the other sessions once more", "POST", "/me/sessions/end-others", idempotency_key="end")
    await ben.api("sessions that are left", "GET", "/me/sessions")
    await nobody.api("end nobody's sessions", "POST", "/me/sessions/end-others")
    await ben.api("change the password", "PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER})
    await ben.api("change it from another", "PUT", "/me/password", {"current": PASSWORD, "new": ANOTHER})
    await ben.api("change it to a short one", "PUT", "/me/password", {"current": ANOTHER, "new": "short"})
    await nobody.api("change nobody's password", "PUT", "/me/password", {"current": ANOTHER, "new": PASSWORD})

    await nobody.api(
        "reset by a made-up secret", "POST", "/password-resets", {"token": "plr_" + "0" * 64, "new": ANOTHER}
    )
    async with script.operator() as operator:
        reset = await operator.do(issue_reset, None, AddressOnly(email="benjamin@example.org"))
        invited = await operator.do(invite_newcomer, None)
    await nobody.api("reset to a short one", "POST", "/password-resets", {"token": reset, "new": "short"})
    await nobody.api("reset", "POST", "/password-resets", {"token": reset, "new": PASSWORD})
    await nobody.api("reset again", "POST", "/password-resets", {"token": reset, "new": PASSWORD})
    await ben.api("me after the reset", "GET", "/me")
    back = await nobody.api(
        "sign in after it", "POST", "/sessions", {"email": "benjamin@example.org", "password": PASSWORD}
    )
    ben = script.program("Ben again", back["token"])

    await nobody.api("look at an invitation", "POST", "/invitations/look", {"token": invited})
    await nobody.api("look at a made-up one", "POST", "/invitations/look", {"token": "pli_" + "0" * 64})
    await nobody.api("look at none", "POST", "/invitations/look", {})
    await ada.api("accept an invitation to nowhere", "POST", "/invitations/accept", {"token": invited})
    await ada.api("accept a made-up one", "POST", "/invitations/accept", {"token": "pli_" + "0" * 64})
    await nobody.api("accept as nobody", "POST", "/invitations/accept", {"token": invited})

    family = await ben.api("a family", "POST", "/families", {"name": "Ben's"})
    here = f"/families/{family['familyId']}"
    invited = await ben.api("invite", "POST", f"{here}/invitations", {"role": "member"})
    await ada.api("come in", "POST", "/invitations/accept", {"token": invited["token"]})
    await ben.api("a thing", "POST", f"{here}/inventory", {"name": "=1+1", "quantity": 2})
    await ben.api("a line", "POST", f"{here}/shopping-list", {"name": "Milk"})
    await ben.api("a poll", "POST", "/polls", {"title": "Where?", "candidates": ["A", "B"]})
    book = await ben.api("a book", "POST", "/books", {"name": "Plans"})
    await ben.api("a note", "POST", f"/books/{book['bookId']}/notes", {"title": "Hello"})
    await ben.api("export", "GET", "/me/export")
    await ben.api("export with HEAD", "HEAD", "/me/export")
    await nobody.api("export nobody", "GET", "/me/export")
    await ben.api("leave with another password", "POST", "/me/delete", {"password": ANOTHER})
    await ben.api("leave as the last admin", "POST", "/me/delete", {"password": PASSWORD})
    await nobody.api("leave as nobody", "POST", "/me/delete", {"password": PASSWORD})
    await eve.api("leave", "POST", "/me/delete", {"password": PASSWORD})
    await eve.api("me after leaving", "GET", "/me")
    await nobody.api("sign in after leaving", "POST", "/sessions", {"email": "eve@example.org", "password": PASSWORD})
    await ada.api("sign out", "DELETE", "/sessions/current")
    await ada.api("sign out again", "DELETE", "/sessions/current")
    await ada.api("me after signing out", "GET", "/me")
    prefixes = tuple(f"/api/v1/{name}" for name in ("accounts", "sessions", "me", "password-resets", "invitations"))
    await sweep(script, prefixes, {}, {"nobody": (nobody, nobody)}, {"Ben": (ben, ben)})
    script.clock.forward(days=31)
    await ben.api("me after a month", "GET", "/me")


async def people_pages(script: Script) -> None:
    ada, other, nobody = (script.browser(name) for name in ("Ada", "Ada's other", "nobody"))
    for name in ("sign-up", "sign-in", "forgotten", "reset", "invitation", "goodbye", "account", "account/delete"):
        await nobody.page(f"{name} for a visitor", f"/{name}")
        await nobody.call(f"{name} with HEAD", "HEAD", f"/{name}")
    await nobody.page("sign-in on the way to a page", "/sign-in?next=/shopping")
    await nobody.page("sign-in on the way to another site", "/sign-in?next=//evil.example")
    await nobody.page("sign-up on the way to a page", "/sign-up?next=/polls/new")

    who = {"name": "Ada", "email": "ada@example.org", "password": PASSWORD}
    await ada.form("sign up with everything wrong", "/sign-up", {"name": " ", "email": "ada", "password": "short"})
    await ada.form("sign up with nothing", "/sign-up")
    await ada.form("sign up", "/sign-up", who | {"next": "/account"})
    await nobody.form("sign up with a taken address", "/sign-up", who | {"name": "Another <b>"})
    await nobody.submit(
        "sign up with a made-up invitation", "/sign-up", who | {"email": "x@example.org", "invitation": "pli_1"}
    )
    await nobody.submit(
        "sign up on the way elsewhere", "/sign-up", who | {"email": "y@example.org", "next": "//evil.example"}
    )
    await nobody.form("sign out again", "/sign-out")
    await ada.page("sign-up of who is in", "/sign-up?next=/account")
    await ada.page("sign-in of who is in", "/sign-in")
    await other.form("sign in wrongly", "/sign-in", {"email": "ada@example.org", "password": ANOTHER, "next": "/polls"})
    await other.form("sign in with nothing", "/sign-in", {"email": "", "password": ""})
    await other.form("sign in", "/sign-in", {"email": "ada@example.org", "password": PASSWORD, "next": "/polls"})
    guesser = script.browser("a guesser")
    guess = {"email": "ada@example.org", "password": ANOTHER}
    await guesser.quietly(20, "POST", "/sign-in", data=guess)
    await guesser.form("guess too often", "/sign-in", guess)

    await ada.page("home", "/")
    await ada.page("account", "/account")
    await ada.submit("rename", "/account/name", {"name": "Ada L", "version": "1"})
    await ada.submit("rename to nothing", "/account/name", {"name": " ", "version": "2"})
    await ada.submit("rename by an old version", "/account/name", {"name": "Countess <b>", "version": "1"})
    await ada.submit("rename without a version", "/account/name", {"name": "Countess"})
    await nobody.submit("rename nobody", "/account/name", {"name": "X", "version": "1"})
    await ada.submit("change the address", "/account/email", {"email": "countess@example.org", "password": PASSWORD})
    await ada.submit(
        "change it with another password", "/account/email", {"email": "c@example.org", "password": ANOTHER}
    )
    await ada.submit("change it to none", "/account/email", {"email": "nowhere", "password": PASSWORD})
    await ada.submit("change it to a taken one", "/account/email", {"email": "y@example.org", "password": PASSWORD})
    await ada.submit(
        "change the password from another", "/account/password", {"current": ANOTHER, "new": PASSWORD + "s"}
    )
    await ada.submit("change the password to a short one", "/account/password", {"current": PASSWORD, "new": "short"})
    page = await ada.page("account for a token", "/account")
    key = page.find(r'name="key" value="([^"]+)"')
    await ada.submit("make a token without a name", "/account/tokens", {"name": "", "key": key})
    await ada.submit("make a token", "/account/tokens", {"name": "Script <b>", "key": key})
    await ada.submit("make a token once more", "/account/tokens", {"name": "Script <b>", "key": key})
    await ada.submit("make a token without a key", "/account/tokens", {"name": "Script"})
    page = await ada.page("account with a token", "/account")
    token = page.find(r"/account/tokens/([0-9a-f-]{36})/revoke")
    await ada.submit("revoke a token", f"/account/tokens/{token}/revoke")
    await ada.submit("revoke a token again", f"/account/tokens/{token}/revoke")
    await ada.submit("revoke a token of a malformed id", "/account/tokens/script/revoke")
    await other.page("account elsewhere", "/account")
    await other.form("sign in elsewhere", "/sign-in", {"email": "countess@example.org", "password": PASSWORD})
    await other.page("account elsewhere again", "/account")
    await ada.submit("end the other sessions", "/account/sessions/end-others")
    await other.page("account after it ended", "/account")
    await other.submit("a form after it ended", "/account/name", {"name": "X", "version": "2"})
    await ada.submit("change the password", "/account/password", {"current": PASSWORD, "new": ANOTHER})
    await ada.submit("export", "/account/export")
    await nobody.submit("export nobody", "/account/export")

    async with script.operator() as operator:
        reset = await operator.do(issue_reset, None, AddressOnly(email="countess@example.org"))
    await nobody.submit("reset by a made-up secret", "/reset", {"token": "plr_1", "new": PASSWORD})
    await nobody.submit("reset to a short one", "/reset", {"token": reset, "new": "short"})
    await nobody.submit("reset", "/reset", {"token": reset, "new": PASSWORD})
    await ada.page("account after the reset", "/account")
    await ada.form("sign in after it", "/sign-in", {"email": "countess@example.org", "password": PASSWORD})

    await nobody.form("hold no invitation", "/invitation", {"invitation": ""})
    await nobody.form("hold a made-up one", "/invitation", {"invitation": "pli_" + "0" * 64})
    started = await ada.submit("a family", "/shopping/families", {"name": "Lovelace"})
    invited = await ada.submit("invite", f"{started.location}/invitations", {"role": "member"})
    secret = invited.find(r"(pli_[0-9a-f]{64})")
    ben = script.browser("Ben")
    await ben.form("hold an invitation", "/invitation", {"invitation": f" {secret} "})
    await ben.page("the invitation of a visitor", "/invitation")
    await ben.page("sign-up with an invitation", "/sign-up")
    await ben.submit(
        "sign up with an invitation", "/sign-up", {"name": "Ben", "email": "ben@example.org", "password": PASSWORD}
    )
    await ben.page("the invitation", "/invitation")
    await ben.submit("come in", "/shopping/invitation")
    await ben.submit("come in by nothing", "/shopping/invitation")
    await ben.page("the invitation afterwards", "/invitation")

    await ada.page("leaving", "/account/delete")
    await ada.submit("leave unsure", "/account/delete", {"password": PASSWORD})
    await ada.submit("leave with another password", "/account/delete", {"password": ANOTHER, "sure": "on"})
    await ada.submit("leave as the last admin", "/account/delete", {"password": PASSWORD, "sure": "on"})
    await nobody.submit("leave as nobody", "/account/delete", {"password": PASSWORD, "sure": "on"})
    await ben.submit("leave", "/account/delete", {"password": PASSWORD, "sure": "on"})
    await ben.page("goodbye", "/goodbye")
    await ben.page("account after leaving", "/account")
    prefixes = ("/account", "/sign", "/reset", "/forgotten", "/invitation", "/goodbye")
    await sweep(script, prefixes, {}, {"nobody": (nobody, nobody)}, {"Ada": (ada, ada)})
    await ada.form("sign out", "/sign-out")
    await ada.page("home after signing out", "/")


async def invited_only(script: Script) -> None:
    """Where only the invited may sign up."""
    program, browser = script.program("nobody"), script.browser("nobody")
    account = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
    await browser.page("sign-up", "/sign-up")
    await browser.page("sign-in", "/sign-in")
    await browser.page("home", "/")
    await program.api("sign up without an invitation", "POST", "/accounts", account)
    await program.api("sign up with a made-up one", "POST", "/accounts", account | {"invitation": "pli_" + "0" * 64})
    await browser.form("sign up without an invitation", "/sign-up", account)
    await browser.form("sign up with a made-up one", "/sign-up", account | {"invitation": "pli_" + "0" * 64})
    async with script.operator() as operator:
        secrets = [await operator.do(invite_newcomer, None) for _ in range(2)]
    await program.api("look", "POST", "/invitations/look", {"token": secrets[0]})
    await program.api("sign up with an invitation", "POST", "/accounts", account | {"invitation": secrets[0]})
    await program.api(
        "sign up by it again", "POST", "/accounts", account | {"email": "b@c.d", "invitation": secrets[0]}
    )
    await browser.form("hold an invitation", "/invitation", {"invitation": secrets[1]})
    await browser.page("the invitation", "/invitation")
    await browser.page("sign-up with it", "/sign-up")
    await browser.form("sign up with it", "/sign-up", account | {"email": "ben@example.org"})


async def closed(script: Script) -> None:
    """Where nobody may sign up."""
    program, browser = script.program("nobody"), script.browser("nobody")
    account = {"email": "ada@example.org", "password": PASSWORD, "name": "Ada"}
    await browser.page("sign-up", "/sign-up")
    await browser.page("sign-in", "/sign-in")
    await program.api("sign up", "POST", "/accounts", account)
    await browser.form("sign up", "/sign-up", account)
