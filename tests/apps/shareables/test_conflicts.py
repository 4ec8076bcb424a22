"""Two admins change a list at once: nothing that one saved is undone by the other without a word."""

from contextlib import asynccontextmanager

from tests.apps.shareables.doors import ADMIN
from tests.apps.shareables.test_pages import posted, shown
from tests.web.reading import fields_of


@asynccontextmanager
async def two_admins(calls, **said):
    made = await calls.made(["Table"], adminPasscode=ADMIN, name="Fair", note="At noon", **said)
    path = f"/shareables/{made['shortId']}"
    async with calls.from_address("192.0.2.1") as one, calls.from_address("192.0.2.2") as other:
        for browser in (one, other):
            await posted(browser, f"{path}/manage", passcode=ADMIN)
        yield one, other, path, made


async def test_saving_after_a_conflict_keeps_what_only_the_other_admin_changed(calls):
    async with two_admins(calls) as (one, other, path, made):
        mine, theirs = [fields_of(await shown(each, f"{path}/edit"), f"{path}/settings") for each in (one, other)]
        await posted(other, f"{path}/settings", **theirs | {"note": "At one", "viewersCanTick": "false"})
        asked = await posted(one, f"{path}/settings", 409, **mine | {"name": "Summer fair"})
        assert "Someone else changed <bdi>Fair</bdi> while you were editing." in asked.text
        assert "At one" in asked.text
        # Pressing Save is enough.
        await posted(one, f"{path}/settings", **fields_of(asked.text, f"{path}/settings"))
        seen = await calls.seen(made)
        assert (seen["name"], seen["note"], seen["viewersCanTick"]) == ("Summer fair", "At one", False)


async def test_what_both_changed_is_asked_field_by_field(calls):
    async with two_admins(calls) as (one, other, path, made):
        mine, theirs = [fields_of(await shown(each, f"{path}/edit"), f"{path}/settings") for each in (one, other)]
        await posted(other, f"{path}/settings", **theirs | {"name": "Spring fair", "note": "At one"})
        asked = await posted(one, f"{path}/settings", 409, **mine | {"name": "Summer fair", "note": "At two"})
        question = "You and someone else both changed <bdi>Spring fair</bdi>. Which version do you want to keep?"
        assert question in asked.text
        answer = fields_of(asked.text, f"{path}/settings")
        # Neither is chosen for them.
        assert not [name for name in answer if name.startswith("keep:")]
        await posted(one, f"{path}/settings", **answer | {"keep:name": "theirs", "keep:note": "mine"})
        seen = await calls.seen(made)
        assert (seen["name"], seen["note"]) == ("Spring fair", "At two")


async def test_the_chosen_version_can_be_edited_before_it_is_saved(calls):
    async with two_admins(calls) as (one, other, path, made):
        (item,) = (await calls.seen(made))["items"]
        address = f"{path}/items/{item['checklistItemId']}/edit"
        mine, theirs = [fields_of(await shown(each, address), address) for each in (one, other)]
        await posted(other, address, **theirs | {"name": "Long table"})
        asked = await posted(one, address, 409, **mine | {"name": "Two tables"})
        answer = fields_of(asked.text, address) | {"keep:name": "mine", "edit-first": "true"}
        form = fields_of((await posted(one, address, 200, **answer)).text, address)
        assert form["name"] == "Two tables"
        assert (await calls.seen(made))["items"][0]["name"] == "Long table"
        await posted(one, address, **form | {"name": "Two long tables"})
        assert (await calls.seen(made))["items"][0]["name"] == "Two long tables"


async def test_a_third_change_while_the_question_is_open_is_asked_again(calls):
    async with two_admins(calls) as (one, other, path, made):
        (item,) = (await calls.seen(made))["items"]
        address = f"{path}/items/{item['checklistItemId']}/edit"
        mine, theirs = [fields_of(await shown(each, address), address) for each in (one, other)]
        await posted(other, address, **theirs | {"name": "Long table"})
        asked = await posted(one, address, 409, **mine | {"name": "Two tables"})
        await posted(other, address, **fields_of(await shown(other, address), address) | {"note": "By the door"})
        answer = fields_of(asked.text, address) | {"keep:name": "mine"}
        asked = await posted(one, address, 409, **answer)
        await posted(one, address, **fields_of(asked.text, address))
        item = (await calls.seen(made))["items"][0]
        assert (item["name"], item["note"]) == ("Two tables", "By the door")


async def test_a_form_that_was_wrong_is_still_about_the_version_it_was_loaded_with(calls):
    async with two_admins(calls) as (one, other, path, made):
        (item,) = (await calls.seen(made))["items"]
        address = f"{path}/items/{item['checklistItemId']}/edit"
        mine, theirs = [fields_of(await shown(each, address), address) for each in (one, other)]
        await posted(other, address, **theirs | {"note": "By the door"})
        wrong = fields_of((await posted(one, address, 422, **mine | {"name": ""})).text, address)
        asked = await posted(one, address, 409, **wrong | {"name": "Two tables"})
        await posted(one, address, **fields_of(asked.text, address))
        item = (await calls.seen(made))["items"][0]
        assert (item["name"], item["note"]) == ("Two tables", "By the door")


async def test_the_rules_beside_a_list_undo_neither_its_name_nor_its_note(calls):
    async with two_admins(calls) as (one, other, path, made):
        rules = fields_of(await shown(one, path), f"{path}/settings")
        assert "name" not in rules
        wrong = await posted(one, f"{path}/settings", 422, **rules | {"until": "2999-01-01"})
        # Shown again with everything that the form of the page has, as it is.
        assert fields_of(wrong.text, f"{path}/settings")["note"] == "At noon"
        names = fields_of(await shown(other, f"{path}/edit"), f"{path}/settings")
        await posted(other, f"{path}/settings", **names | {"note": "At one"})
        asked = await posted(one, f"{path}/settings", 409, **rules | {"viewersCanTick": "false"})
        await posted(one, f"{path}/settings", **fields_of(asked.text, f"{path}/settings"))
        seen = await calls.seen(made)
        assert (seen["name"], seen["note"], seen["viewersCanTick"]) == ("Fair", "At one", False)
