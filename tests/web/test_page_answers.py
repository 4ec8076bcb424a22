"""What pages and forms answer besides their own template: cookies, other pages, redirects, flash messages, headers."""

from collections.abc import AsyncIterator, Iterator
from html import unescape
from typing import Any

import httpx
import pytest
import pytest_asyncio
from msgspec import Struct
from starlette.responses import PlainTextResponse, Response

from potluck.validation.errors import FieldError, ValidationError
from potluck.web.access import Anyone
from potluck.web.actions import Actions, Show
from potluck.web.app import App, Core
from potluck.web.cookies import SealedCookie
from potluck.web.declarations import Redirect
from potluck.web.entity_fields import DeclarationError
from potluck.web.errors import ProblemError
from potluck.web.flash import Flash
from potluck.web.forms import Line
from potluck.web.inputs import FormOf, Input
from potluck.web.writes import Writes
from tests.web.suites import API, app_with, client_at, signed_up, suite_on

HERE = {"sec-fetch-site": "same-origin", "accept": "text/html"}


class Stale(ProblemError, slug="stale", title="Stale", detail="It is stale"):
    """It is not fresh."""


class Gone(ProblemError, slug="gone-off", status=410, title="Gone off", detail="It has gone off"):
    """It has gone off."""


class VeryStale(Stale):
    """Staler."""


class Sold(ProblemError, slug="sold", title="Sold", detail="It is sold"):
    """Somebody else has it."""


class AtStall(Anyone):
    """Anyone who has the address of a stall."""

    unlisted = True
    preview = "stall/preview.html"
    stall: str

    async def admit(self, *rows: Any) -> None:
        if self.stall == "closed":
            raise Gone


class AtAnyStall(AtStall):
    """The same, even if it is closed."""

    async def admit(self, *rows: Any) -> None:
        pass


class Order(Input):
    """What is ordered."""

    apples: int
    pears: int = 0


class OrderForm(FormOf[Order]):
    count: dict[str, Line] = {}  # noqa: RUF012 - copied by msgspec
    note: Line = ""

    errors_at = {"apples": "count", "pears": "count"}  # noqa: RUF012 - declared in FormOf

    def as_input(self, at: Any) -> Order:
        if not all(each.isdecimal() for each in self.count.values()):
            raise ValidationError(FieldError("count", f"How many, at {at.stall}?"))
        return Order(**{name: int(text) for name, text in self.count.items()})


class Ordered(Struct):
    key: str
    what: str


order_key = SealedCookie("potluck-stall-key", path="/stalls/{stall}", days=2)
seen = SealedCookie("potluck-stall-seen")

stalls: Actions[Any] = Actions(AtStall, api="/stalls/{stall}", page="/stalls/{stall}")


@stalls.page(None, "stall/closed.html")
async def closed(at: AtAnyStall, show: Show) -> dict[str, Any]:
    return {"why": str(show.refusal), "stall": at.stall}


@stalls.page("", "stall/stall.html", instead={Gone: closed})
async def stall_page(at: AtStall, show: Show) -> Any:
    if show.query.get("moved"):
        return show.redirect(f"/stalls/{at.stall}", "It is here now." if show.query["moved"] == "1" else "")
    if at.stall == "empty":
        return show.template("stall/closed.html", {"why": "nothing here", "stall": at.stall}, status=404)
    show.set(seen, at.stall)
    return {"stall": at.stall, "key": order_key.value(at.visitor), "form": show.form(OrderForm)}


@stalls.page("/leave")
async def leave(at: AtStall, show: Show) -> Response:
    show.drop(seen)
    return PlainTextResponse("bye")


@stalls.action("POST", "/orders")
async def order(at: AtStall, sent: Order) -> Writes[Ordered]:
    """Order something."""
    match sent.apples:
        case 0:
            raise Stale
        case 13:
            raise ValidationError(FieldError("apples", "Not thirteen"))
        case 99:
            raise VeryStale
        case 98:
            raise Sold
        case 97:
            raise Gone
    return Writes(Ordered(f"key{sent.apples}", f"<b>{sent.apples} apples</b>"))


stalls.form(
    "/order",
    takes=OrderForm,
    on=stall_page,
    then="/stalls/{stall}",
    flash="{what} at {stall}.",
    sets={order_key: "key", seen: lambda at, ordered: None},
    instead={Stale: "/stalls/{stall}?stale=1", Sold: Redirect("/stalls/{stall}", "Sold!"), Gone: closed},
)(order)


@stalls.form(
    "/cancel",
    then="/stalls/{stall}",
    drops=order_key,
    drops_anonymous=True,
    flash=lambda at, _: Flash("Cancelled.", "Undo", f"/stalls/{at.stall}/order", {"count-apples": "1"}),
)
async def cancel(at: AtStall) -> Writes[None]:
    return Writes(None)


TEMPLATES = {
    "stall.html": '{% extends "page.html" %}{% block main %}<p>{{ stall }} {{ key }}</p>'
    "<i>{{ form.values.count or '' }}</i><u>{{ form.errors.count }}</u>{% endblock %}",
    "closed.html": '{% extends "page.html" %}{% block main %}<p>closed: {{ why }}</p>{% endblock %}',
    "preview.html": '{% extends "page.html" %}{% block main %}<p>A stall</p>{% endblock %}',
}


@pytest_asyncio.fixture
async def client(tmp_path) -> AsyncIterator[httpx.AsyncClient]:
    folder = tmp_path / "templates"
    (folder / "stall").mkdir(parents=True)
    for name, text in TEMPLATES.items():
        (folder / "stall" / name).write_text(text)

    def stall_app(core: Core) -> App:
        return app_with("stall", subjects=[stalls], templates=folder)(core)

    async with suite_on(tmp_path, [stall_app]) as (client, application):
        client.headers.update(HERE)
        client.application = application
        yield client


async def order_of(client: httpx.AsyncClient, apples: object, stall: str = "fruit") -> httpx.Response:
    return await client.post(f"/stalls/{stall}/order", data={"count-apples": str(apples)})


def toast(answer: httpx.Response) -> str:
    region = answer.text.partition('id="toasts" role="status">')[2].partition("<template")[0]
    return unescape(region.partition("<p>")[2].partition("</p>")[0])


# --- cookies ----------------------------------------------------------------------------------------------------------


async def test_a_form_sets_a_cookie_from_its_answer_and_a_page_reads_it(client):
    answer = await order_of(client, 3)
    assert (answer.status_code, answer.headers["location"]) == (303, "/stalls/fruit")
    (header,) = [each for each in answer.headers.get_list("set-cookie") if each.startswith("potluck-stall-key=")]
    attributes = {each.strip().lower() for each in header.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/stalls/fruit", "max-age=172800"} <= attributes
    assert "key3" not in header, "it is sealed"
    assert "potluck-stall-seen" not in str(answer.headers), "None leaves a cookie as it was"
    assert "fruit key3" in (await client.get("/stalls/fruit")).text
    assert "key3" not in (await client.get("/stalls/bread")).text


async def test_a_form_and_a_page_drop_cookies(client):
    await order_of(client, 3)
    await client.get("/stalls/fruit")
    assert "potluck-stall-seen" in client.cookies
    assert (await client.get("/stalls/fruit/leave")).text == "bye"
    assert "potluck-stall-seen" not in client.cookies
    await client.post("/stalls/fruit/cancel")
    assert not {"potluck-stall-key", "potluck-browser"} & {*client.cookies}


async def test_cookies_are_secure_over_https(client):
    async with client_at(client.application, origin="https://testserver") as secure:
        answer = await secure.post("/stalls/fruit/order", data={"count-apples": "3"}, headers=HERE)
    assert answer.headers.get_list("set-cookie")
    assert all("secure" in each.lower() for each in answer.headers.get_list("set-cookie"))


# --- refusals that lead elsewhere ------------------------------------------------------------------------------------


@pytest.mark.parametrize("apples", [0, 99])
async def test_a_refusal_or_one_of_its_kind_redirects(client, apples):
    answer = await order_of(client, apples)
    assert (answer.status_code, answer.headers["location"]) == (303, "/stalls/fruit?stale=1")
    assert toast(await client.get("/stalls/fruit")) == ""


async def test_a_refusal_redirects_with_a_message(client):
    answer = await order_of(client, 98)
    assert (answer.status_code, answer.headers["location"]) == (303, "/stalls/fruit")
    assert toast(await client.get("/stalls/fruit")) == "Sold!"


async def test_a_refusal_shows_another_page_in_place_with_its_status(client):
    by_form, by_page = await order_of(client, 97), await client.get("/stalls/closed")
    for answer in (by_form, by_page):
        assert (answer.status_code, "closed: It has gone off" in answer.text) == (410, True)
    # A page without a path has no address of its own.
    assert (await client.get("/stalls/fruit/None")).status_code == 404


async def test_what_is_not_named_is_shown_on_the_page_of_the_form_with_what_was_typed(client):
    answer = await order_of(client, "many")
    assert answer.status_code == 422
    assert "<u>How many, at fruit?</u>" in answer.text
    assert "{'apples': 'many'}" in unescape(answer.text)


async def test_errors_of_the_input_are_shown_at_the_field_that_asks_for_it(client):
    assert "<u>Not thirteen</u>" in (await order_of(client, 13)).text


async def test_the_rule_gets_the_same_input_from_a_page_and_from_json(client):
    answer = await client.post(f"{API}/stalls/fruit/orders", json={"apples": 3})
    assert answer.json() == {"key": "key3", "what": "<b>3 apples</b>"}


async def test_a_page_answers_with_another_template_or_a_redirect(client):
    answer = await client.get("/stalls/empty")
    assert (answer.status_code, "closed: nothing here" in answer.text) == (404, True)
    answer = await client.get("/stalls/fruit?moved=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/stalls/fruit")
    assert toast(await client.get("/stalls/fruit")) == "It is here now."


# --- flash messages ---------------------------------------------------------------------------------------------------


async def test_a_flash_is_said_once_by_the_next_page_escaped_and_never_cached(client):
    answer = await order_of(client, 3)
    (header,) = [each for each in answer.headers.get_list("set-cookie") if each.startswith("potluck-flash=")]
    attributes = {each.strip().lower() for each in header.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/", "max-age=60"} <= attributes
    assert "apples" not in header
    # A redirect on the way does not lose it.
    assert (await client.get("/stalls/fruit?moved=2")).status_code == 303
    shown = await client.get("/stalls/fruit")
    assert toast(shown) == "<b>3 apples</b> at fruit."
    assert "<b>3 apples" not in shown.text
    assert shown.headers["cache-control"] == "no-store"
    assert toast(await client.get("/stalls/fruit")) == ""


async def test_a_flash_may_have_a_button(client):
    await client.post("/stalls/fruit/cancel")
    shown = await client.get("/")
    assert toast(shown) == "Cancelled."
    assert '<form method="post" action="/stalls/fruit/order">' in shown.text
    assert '<input type="hidden" name="count-apples" value="1">' in shown.text


async def test_a_page_fetched_in_the_background_leaves_the_flash_to_the_page_that_is_seen(client):
    await order_of(client, 3)
    fetched = {"sec-fetch-mode": "cors"}
    assert toast(await client.get("/stalls/fruit", headers=fetched)) == ""
    assert toast(await client.get("/stalls/fruit", headers={**fetched, "potluck-in-place": "yes"})) != ""


async def test_a_flash_is_shown_where_a_service_worker_passes_the_request_on(client):
    await order_of(client, 3)
    passed_on = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "empty"}
    assert toast(await client.get("/stalls/fruit", headers=passed_on)) != ""


async def test_what_a_script_sends_is_said_by_no_later_page(client):
    data = {"count-apples": "3"}
    answer = await client.post("/stalls/fruit/order", data=data, headers={"accept": "application/json"})
    # A redirect could be that of a proxy.
    assert (answer.status_code, answer.content, "location" in answer.headers) == (204, b"", False)
    assert toast(await client.get("/stalls/fruit")) == ""


async def test_a_flash_cannot_be_made_up_and_is_not_shown_to_the_next_person(client):
    await order_of(client, 3)
    flash = client.cookies["potluck-flash"]
    client.cookies.clear()
    for forged in ('["Send your password"]', flash[:-2] + "AA", ""):
        answer = await client.get("/stalls/fruit", headers={"cookie": f"potluck-flash={forged}"})
        assert (answer.status_code, toast(answer)) == (200, "")
    token = (await signed_up(client))["token"]
    client.cookies.clear()
    seen_by_ada = await client.get("/stalls/fruit", headers={"cookie": f"potluck-flash={flash}; potluck={token}"})
    assert "your account" in seen_by_ada.text
    assert toast(seen_by_ada) == ""


async def test_a_long_flash_is_cut(client):
    await order_of(client, 10**400)
    shown = toast(await client.get("/stalls/fruit"))
    assert len(shown) == 300
    assert shown.endswith("…")


# --- headers of the access --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "/leave", "?moved=1"])
async def test_pages_of_an_unlisted_access_say_so(client, path):
    assert (await client.get(f"/stalls/fruit{path}")).headers["x-robots-tag"] == "noindex"
    assert "x-robots-tag" not in (await client.get("/sign-in")).headers


async def test_a_link_preview_gets_nothing_of_the_page_whether_or_not_it_exists(client):
    by = {"user-agent": "WhatsApp/2.23"}
    bodies = {(await client.get(f"/stalls/{stall}", headers=by)).text for stall in ("fruit", "closed", "empty")}
    (body,) = bodies
    assert "A stall" in body


# --- declarations -----------------------------------------------------------------------------------------------------


def declarations_that_cannot_work() -> Iterator[tuple[dict[str, Any], str]]:
    yield {"sets": {SealedCookie("potluck-x", path="/{shelf}"): "key"}}, r"the path of a cookie: there is no \{shelf\}"
    yield {"sets": {order_key: "lock"}}, r"sets: there is no \{lock\}"
    yield {"flash": "{lock} is open."}, r"flash: there is no \{lock\}"


@pytest.mark.parametrize(("options", "message"), [*declarations_that_cannot_work()], ids=["path", "sets", "flash"])
def test_a_name_that_is_not_there_is_refused_at_import(options, message):
    subject: Actions[Any] = Actions(AtStall, api="/stalls/{stall}", page="/stalls/{stall}")
    with pytest.raises(DeclarationError, match=message):
        subject.form("/order", then="/stalls/{stall}", **options)(order)


def test_no_field_of_a_secret_answer_is_in_a_flash():
    subject: Actions[Any] = Actions(AtStall, api="/stalls/{stall}", page="/stalls/{stall}")
    subject.action("POST", "/orders", secret=True)(order)
    with pytest.raises(DeclarationError, match="flash: the answer has a secret; name nothing of it"):
        subject.form("/order", then="/stalls/{stall}", flash="{key}")(order)
    subject.form("/order", then="/stalls/{stall}", flash="Ordered at {stall}.")(order)


async def test_an_address_that_a_refusal_cannot_lead_to_is_refused_when_the_app_is_put_together(tmp_path):
    subject: Actions[Any] = Actions(AtStall, page="/stalls/{stall}")
    subject.form("/cancel", then="/stalls/{stall}", instead={Stale: "/{shelf}"})(cancel)
    with pytest.raises(DeclarationError, match=r"cancel: instead: there is no \{shelf\}"):
        async with suite_on(tmp_path, [app_with("stall", subjects=[subject])]):
            pass


async def test_a_program_with_a_token_may_carry_a_flash_but_no_cookie_that_entitles_to_anything(client):
    token = (await signed_up(client))["token"]
    client.cookies.clear()
    del client.headers["sec-fetch-site"]
    headers = {"authorization": f"Bearer {token}"}
    for name, status in (("potluck-flash", 303), ("potluck-stall-key", 403)):
        sent = {"headers": {**headers, "cookie": f"{name}=x"}, "data": {"count-apples": "3"}}
        assert (await client.post("/stalls/fruit/order", **sent)).status_code == status


async def test_a_rule_of_no_page_cannot_stand_in_for_a_refusal(tmp_path):
    subject: Actions[Any] = Actions(AtStall, page="/stalls/{stall}")
    subject.form("/cancel", then="/stalls/{stall}", instead={Stale: closed})(cancel)
    with pytest.raises(DeclarationError, match="cancel: instead: closed is the rule of no page of this app"):
        async with suite_on(tmp_path, [app_with("stall", subjects=[subject])]):
            pass


async def test_what_is_done_is_done_even_if_nothing_can_be_said_about_it(tmp_path, caplog):
    subject: Actions[Any] = Actions(AtStall, page="/stalls/{stall}")
    subject.form("/cancel", then="/stalls/{stall}", flash=lambda at, _: at.nothing_of_this_name)(cancel)
    async with suite_on(tmp_path, [app_with("stall", subjects=[subject])]) as (client, _):
        answer = await client.post("/stalls/fruit/cancel", headers=HERE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/stalls/fruit")
    assert "nothing_of_this_name" in caplog.text
