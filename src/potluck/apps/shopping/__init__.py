"""Shopping: a family's inventory and its shopping list."""
