"""Lists and polls that anyone opens by a short id."""
