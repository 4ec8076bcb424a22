"""Books and videos: who has them, and who may look."""
