"""What each call costs, counted; the README has the same table."""

from pathlib import Path

import potluck.apps.shopping
from tests.apps.call_costs import CallCosts

README = Path(potluck.apps.shopping.__file__).with_name("README.md")


async def measured(shop):
    """Each call with its requests, read units and write units, on a family where everything is small."""
    ada, family = await shop.family()
    ben = await shop.joined(ada, family)
    families, members, inventory = shop.shopping.families, shop.shopping.members, shop.shopping.inventory
    stores, todo = shop.shopping.stores, shop.shopping.shopping_list
    clearing, restocking = shop.shopping.clearing, shop.shopping.restocking
    grocer = await stores.add(ada, family, "Grocer")
    # How many there are is counted with the first of each kind, and again ten minutes later.
    first = await todo.add(ada, family, name="First")
    await todo.delete(ada, family, first.shopping_item_id)
    first = await inventory.add(ada, family, "First")
    await inventory.delete(ada, family, first.item_id)
    costs = CallCosts(shop.recording)
    cost = costs.count

    await cost("the whole shopping list", todo.all(ada, family))
    await cost("the list of one store", todo.all(ada, family, store_id=grocer.store_id))
    cake = await cost("add free text", todo.add(ada, family, name="Cake", store_id=grocer.store_id))
    milk = await cost("add to the inventory", inventory.add(ada, family, "Milk", preferred_store_id=grocer.store_id))
    linked = await cost("add from the inventory", todo.add(ada, family, item_id=milk.item_id))
    await cost("add two lines", todo.add_lines(ada, family, "tea\nsalt"))
    await cost("look at one item", todo.one(ada, family, linked.shopping_item_id))
    await cost("edit", todo.edit(ada, family, cake.shopping_item_id, 1, notes="big"))
    await cost("check off free text", todo.set_status(ada, family, cake.shopping_item_id, 2, status="purchased"))
    await cost("check off what is linked", todo.set_status(ada, family, linked.shopping_item_id, 1, status="purchased"))
    await cost("restock", restocking.restock(ada, family, linked.shopping_item_id))
    cleared = await cost("clear two purchased", clearing.clear_purchased(ada, family))
    await cost("undo that", clearing.undo(ada, family, cleared.undo_token))
    await cost("delete from the list", todo.delete(ada, family, cake.shopping_item_id))
    await cost("the inventory", inventory.all(ada, family))
    await cost("what is low", inventory.all(ada, family, low_stock=True))
    await cost("adjust", inventory.adjust(ada, family, milk.item_id, 1))
    await cost("delete from the inventory, with one link", inventory.delete(ada, family, milk.item_id))
    tea = await inventory.add(ada, family, "Tea", preferred_store_id=grocer.store_id)
    await cost("look at one thing of the inventory", inventory.one(ada, family, tea.item_id))
    await cost("edit a thing of the inventory", inventory.edit(ada, family, tea.item_id, 1, threshold=2))
    await cost("the stores, or the locations", stores.all(ada, family))
    await cost("look at a store", stores.one(ada, family, grocer.store_id))
    baker = await cost("add a store", stores.add(ada, family, "Baker"))
    await cost("give a store another address", stores.edit(ada, family, baker.store_id, 1, address="Here"))
    await cost("give a store another name", stores.edit(ada, family, baker.store_id, 2, name="Bakery"))
    await cost("delete a store, with no link", stores.delete(ada, family, baker.store_id))
    made = await cost("make a family", families.create(ada, "Byron"))
    await cost("my two families", families.all(ada))
    await cost("look at a family", families.one(ada, family))
    await cost("give a family another name", families.rename(ada, family, 1, name="King"))
    await cost("the members", members.all(ada, family))
    await cost("change a role", members.change_role(ada, family, ben.user_id, 1, role="admin"))
    await cost("remove a member", members.remove(ada, family, ben.user_id))
    invited = await cost("invite", members.invite(ada, family, "member"))
    await cost("who is invited", members.invitations(ada, family))
    await cost("accept", members.accept(ben, invited.secret))
    other = await members.invite(ada, family, "member")
    await cost("withdraw an invitation", members.withdraw(ada, family, other.invitation_id))
    await cost("delete a family of one", families.delete(ada, made.family_id))
    return costs


async def test_the_readme_has_what_each_call_costs(embedded_shop):
    (await measured(embedded_shop)).must_be_in(README)
