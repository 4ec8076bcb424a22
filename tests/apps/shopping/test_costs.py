"""What each call costs, counted; the README has the same table."""

from pathlib import Path

import potluck.apps.shopping
from potluck.apps.shopping.clearing import clear_purchased, undo
from potluck.apps.shopping.families import families
from potluck.apps.shopping.inventory import (
    add_inventory_item,
    adjust,
    change_inventory_item,
    delete_inventory_item,
    inventory_item,
    inventory_items,
)
from potluck.apps.shopping.restocking import restock
from potluck.apps.shopping.shopping_list import (
    add_lines,
    add_to_list,
    change_shopping_item,
    check_off,
    delete_shopping_item,
    items_on_list,
    shopping_item,
)
from potluck.apps.shopping.stores import add_store, all_stores, change_store, delete_store, one_store
from tests.apps.call_costs import CallCosts

README = Path(potluck.apps.shopping.__file__).with_name("README.md")


async def measured(shop):
    """Each call with its requests, read units and write units, on a family where everything is small."""
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    grocer = await shop.do(add_store, ada, family, name="Grocer")
    # How many there are is counted with the first of each kind, and again ten minutes later.
    first = await shop.do(add_to_list, ada, family, name="First")
    await shop.do(delete_shopping_item, ada, family, first.shopping_item_id)
    first = await shop.do(add_inventory_item, ada, family, name="First")
    await shop.do(delete_inventory_item, ada, family, first.item_id)
    costs = CallCosts(shop.recording)
    cost = costs.count

    await cost("the whole shopping list", shop.do(items_on_list, ada, family))
    await cost("the list of one store", shop.do(items_on_list, ada, family, store_id=grocer.store_id))
    cake = await cost("add free text", shop.do(add_to_list, ada, family, name="Cake", store_id=grocer.store_id))
    milk = await cost(
        "add to the inventory",
        shop.do(add_inventory_item, ada, family, name="Milk", preferred_store_id=grocer.store_id),
    )
    linked = await cost("add from the inventory", shop.do(add_to_list, ada, family, item_id=milk.item_id))
    await cost("add two lines", shop.do(add_lines, ada, family, lines="tea\nsalt"))
    await cost("look at one item", shop.do(shopping_item, ada, family, linked.shopping_item_id))
    await cost("edit", shop.do(change_shopping_item, ada, family, cake.shopping_item_id, version=1, notes="big"))
    await cost(
        "check off free text", shop.do(check_off, ada, family, cake.shopping_item_id, version=2, status="purchased")
    )
    await cost(
        "check off what is linked",
        shop.do(check_off, ada, family, linked.shopping_item_id, version=1, status="purchased"),
    )
    await cost("restock", shop.do(restock, ada, family, linked.shopping_item_id))
    cleared = await cost("clear two purchased", shop.do(clear_purchased, ada, family))
    await cost("undo that", shop.do(undo, ada, family, undo_token=cleared.undo_token))
    await cost("delete from the list", shop.do(delete_shopping_item, ada, family, cake.shopping_item_id))
    await cost("the inventory", shop.do(inventory_items, ada, family))
    await cost("what is low", shop.do(inventory_items, ada, family, low_stock=True))
    await cost("adjust", shop.do(adjust, ada, family, milk.item_id, by=1))
    await cost("delete from the inventory, with one link", shop.do(delete_inventory_item, ada, family, milk.item_id))
    tea = await shop.do(add_inventory_item, ada, family, name="Tea", preferred_store_id=grocer.store_id)
    await cost("look at one thing of the inventory", shop.do(inventory_item, ada, family, tea.item_id))
    await cost(
        "edit a thing of the inventory",
        shop.do(change_inventory_item, ada, family, tea.item_id, version=1, threshold=2),
    )
    await cost("the stores, or the locations", shop.do(all_stores, ada, family))
    await cost("look at a store", shop.do(one_store, ada, family, grocer.store_id))
    baker = await cost("add a store", shop.do(add_store, ada, family, name="Baker"))
    await cost(
        "give a store another address", shop.do(change_store, ada, family, baker.store_id, version=1, address="Here")
    )
    await cost(
        "give a store another name", shop.do(change_store, ada, family, baker.store_id, version=2, name="Bakery")
    )
    await cost("delete a store, with no link", shop.do(delete_store, ada, family, baker.store_id))
    made = await cost("make a family", shop.do(families.create, ada, name="Byron"))
    await cost("my two families", shop.do(families.all, ada))
    await cost("look at a family", shop.do(families.one, ada, family))
    await cost("give a family another name", shop.do(families.rename, ada, family, version=1, name="King"))
    await cost("the members", shop.do(families.all_members, ada, family))
    await cost("change a role", shop.do(families.change_role, ada, family, ben.user_id, version=1, role="admin"))
    await cost("remove a member", shop.do(families.remove_member, ada, family, ben.user_id))
    invited = await cost("invite", shop.do(families.invite, ada, family, role="member"))
    await cost("who is invited", shop.do(families.open_invitations, ada, family))
    await cost("accept", shop.accept(ben, invited.token))
    other = await shop.do(families.invite, ada, family, role="member")
    await cost("withdraw an invitation", shop.do(families.withdraw_invitation, ada, family, other.id))
    await cost("delete a family of one", shop.do(families.delete, ada, made.family_id))
    return costs


async def test_the_readme_has_what_each_call_costs(embedded_shop):
    (await measured(embedded_shop)).must_be_in(README)
