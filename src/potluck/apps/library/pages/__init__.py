"""The pages: libraries and their shelves, one book or video, adding, loans, search, and sharing."""
