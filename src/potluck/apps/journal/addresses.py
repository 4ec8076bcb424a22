"""The addresses of the journal's pages."""

HOME = "/journal"
# Also for people who only coach: their home page is the list of their athletes.
WRITE = f"{HOME}?write=1"
ENTRIES = f"{HOME}/entries"
STATS = f"{HOME}/stats"
ASK = f"{HOME}/ask"
COACHES = f"{HOME}/coaches"
ATHLETES = f"{HOME}/athletes"
SETTINGS = f"{HOME}/settings"
IMPORT = f"{SETTINGS}/import"
