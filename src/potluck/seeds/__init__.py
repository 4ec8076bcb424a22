"""Seeds: the tables and items that a store starts with, from the files of a folder."""
