"""Where the suite now answers otherwise than it was recorded, on purpose, and why.

    INTENDED = [
        Intended("front/health with HEAD", "status", "HEAD is answered wherever GET is", now="200"),
        Intended("*", "headers/vary", "cookies do not matter to what has no session"),
        Intended("polls_pages/ballot*", "html", "the legend names the poll", now="<legend>"),
    ]

`step` and `where` are patterns with *. `where` is `status`, `headers/NAME`, `guards/NAME`, `cookies`, `json/PATH`,
`text`, `html` (the main part of a page, by pieces that differ), `around` (what stands around it), `events/PATH`,
`zip/PATH`, or `step` for one that is on one side only. `now` is a part of what is there now; `rewrite` makes that
of what was, and covers only what it changes. An entry that matches no difference fails: it is taken out when the
recording is made anew.
"""

import re

from tests.differential.differences import Intended

__all__ = ["INTENDED"]

DECIDED = "results say what no votes decided"
ONE_MESSAGE = "a field has one message, in forms as in JSON"
LATER = "the page of each new problem is looked at first, which takes a second of the script's clock"
THREE_DIGITS = "times in answers have three digits"
BY_FIELD = "a conflict is shown field by field"
PASSED_ON = "a page that invites says that nothing is sent, and that the link has to be passed on"
ONE_STOCK = "things at home have different names, whatever their case"
ON_ITS_PAGE = "what is refused is told on the page of the form"


def to_the_millisecond(text: str) -> str:
    return re.sub(r"(T\d\d:\d\d:\d\d)Z", r"\1.000Z", text)


def as_text_input(html: str) -> str:
    return re.sub(r' name="(address|description)" ', r' name="\1" type="text" ', html)


SHOPPING = [
    *(
        Intended(step, where, ONE_STOCK)
        for step, where in (
            ("shopping/add a thing of the same name", "*"),
            ("shopping/change a thing to another's name", "*"),
            ("shopping/*", "json/*name"),
            ("shopping/*", "json/*version"),
            ("shopping/things*", "json/items*"),
            ("shopping/inventory to follow", "json/items*"),
        )
    ),
    Intended("front/problem name-taken", "html", ONE_STOCK, now="inventory"),
    Intended("shopping/*", "headers/etag", "lists carry an ETag", now="<hash>"),
    Intended("shopping_pages/*", "headers/content-type", "a redirect has no body, and says nothing of its kind"),
    Intended(
        "people/export", "zip/shopping/*", "columns are in the order of the view's declaration: computed ones last"
    ),
    *(
        Intended(f"shopping_pages/{step}", "html", ONE_MESSAGE, now=now)
        for step, now in (
            ("a family of a malformed id", "Invalid family ID format"),
            ("add a wrong thing", "Quantity must be an integer"),
            ("add a wrong thing", "Threshold must be an integer"),
            ("change a thing wrongly", "Quantity must be an integer"),
            ("one of nothing", "By must be an integer"),
            ("tick as nothing", "Status must be 'pending' or 'purchased'"),
            ("invite to a bad address", "of at most 254 characters"),
            ("add nothing", "Lines must name something to buy"),
            ("add a long line", "Line 1: Name must be 1-100 characters"),
        )
    ),
    Intended("shopping_pages/add a long line", "html", "what is wrong stands by the line, not in the hidden form"),
    *(
        Intended(f"shopping_pages/{step}", "html", "everything that is wrong is told at once", now="aria-invalid")
        for step in ("add a wrong thing", "change a line wrongly")
    ),
    *(
        Intended(
            "shopping_pages/keep as nothing", where, "a choice that is none is refused, and does not mean archived"
        )
        for where in ("status", "headers/location", "around", "html")
    ),
    *(
        Intended("shopping/*", where, "a name is one line: the line end is after it, and trimmed", now="Pie and cake")
        for where in ("sent/name", "json/name", "json/items/*/name")
    ),
    Intended("shopping_pages/add it twice by one page", "headers/location", "a repeat leads where the first one led"),
    *(
        Intended(f"shopping_pages/{step}", where, ON_ITS_PAGE)
        for step in ("count to nothing", "make Ben nothing", "member sends /members/*")
        for where in ("around", "html")
    ),
    *(
        Intended(f"shopping_pages/{step}", "html", ON_ITS_PAGE, now="Only an admin of the family may do this")
        for step in ("member sends /invitations", "member sends /name", "member sends /delete")
    ),
    Intended(
        "shopping_pages/member sends /*", "around", "a refusal that the page does not tell stands above it", now="admin"
    ),
    Intended("shopping_pages/member sends /delete", "status", "who may comes before what was sent", now="403"),
]

POLLS = [
    Intended("polls/change a vote*", "headers/etag", "every single thing has a tag"),
    Intended("polls/*'s polls", "headers/etag", "every list has a tag", now="hash"),
    *(
        Intended("polls/*", f"{where}{field}", reason)
        for where in ("json/", "events/*/data/results/", "json/changes/*/item/results/")
        for field, reason in (
            ("decidedBy", DECIDED),
            ("winnersByTie", DECIDED),
            ("rules/*", "results say every rule that a count can be made by"),
        )
    ),
    Intended("polls*/*table*", "text", "tables have pairs and what decided", now="result"),
    Intended("polls/ballots as a table", "text", "ballots carry their lots", now="lot order"),
    Intended("polls_pages/ballot of two seats", "html", "it says who are elected, not only how many", now="candidates"),
    *(
        Intended(f"polls/{step}", "headers/etag", "what time changes is in the tag, and files have one")
        for step in ("a poll*", "its copy", "*table*", "ballots*", "results as*")
    ),
    Intended("polls_pages/make one of twins", "html", "names that look alike are told beside the field", now="differ"),
    Intended("polls_pages/*", "headers/content-type", "a redirect has no body", now="absent"),
    Intended("polls_pages/*", "html", "who signs in on a shared browser votes for themselves", now="on a shared one"),
    Intended("polls_pages/thanks", "html", "what a browser keeps is one person's", now="remembers it for you"),
    Intended("polls_pages/edit by an old version", "status", "a clash is 409 on every page", now="409"),
    Intended("polls_pages/a poll of a malformed id", "html", "the field's own message", now="must be a UUID"),
]

SITE = [
    Intended("*", "*", THREE_DIGITS, rewrite=to_the_millisecond),
    Intended("people*/export*", "zip/manifest.json/files/*/bytes", THREE_DIGITS),
    *(
        Intended("front/style*", "html", "the page of all pieces has those that came with shareables", now=now)
        for now in ("Rolled oats", "data-share=", "#grip-vertical", "#log-out")
    ),
    *(
        Intended("front/style*", "html", "the page of all pieces has the icons of the library", now=now)
        for now in ("#clipboard-paste", "#scan-barcode", "#user-plus", "#barcode", "#layout-grid")
    ),
    *(
        Intended("front/style*", "html", "the page of all pieces has the icons of the journal", now=now)
        for now in ("#mail", "#send-horizontal", "#upload")
    ),
    Intended("front/style*", "html", "the days of a heat map stand in rows, for arrow keys", now="567 pieces"),
    Intended("*", "html", "what is wrong, or has just been made, has the focus", now="autofocus"),
    Intended("*", "around", "a new name is shown at the top at once, by its id", now='id="me"'),
    *(
        Intended("*", "html", "a new name is shown at the top at once, by its id", now=now)
        for now in ('id="my-initials"', 'id="my-name"', "hx-select-oob")
    ),
    *(
        Intended("*", "html", PASSED_ON, now=now)
        for now in ("We never send e-mail", "We didn’t send this link", "Join our household")
    ),
    Intended(
        "shopping_pages/*",
        "html",
        "a refused address is told beside its field, as every text is",
        rewrite=as_text_input,
    ),
    Intended("polls_pages/delete*", "headers/location", "whoever deleted a poll is told so", now="said=deleted"),
    *(
        Intended("*", where, "pages count the apps that are there, of which the toy is the sixth", now="six")
        for where in ("around", "html")
    ),
    Intended("*", "around", "an app beyond the five brings its hue", now="/hues.css"),
    *(
        Intended("*", "around", "a page knows whose it is, and is left when somebody else is there", now=now)
        for now in ("data-person", "js/whose.js")
    ),
    Intended("*", "cookies", "what a browser keeps opens only for who it was given to", now="=<opaque>"),
    Intended("front/sign-out over https", "cookies", "an invitation is sealed, and goes by one name"),
    *(
        Intended("*", "html", "an invitation says when its link expires, and its button what it does", now=now)
        for now in ("This link works once", "Join")
    ),
    *(
        Intended(step, "html", "an invitation lets in whoever has it, and says so", now=now)
        for step, now in (
            ("*_pages/*", "A link without a note"),
            ("*_pages/*", "Lets in whoever has it"),
            ("shopping_pages/*", "Meant for"),
        )
    ),
    *(
        Intended("front/health with HEAD", where, "HEAD is answered wherever GET is")
        for where in ("status", "headers/allow", "headers/content-type")
    ),
    Intended("front/health by POST", "headers/allow", "HEAD is answered wherever GET is", now="HEAD"),
    *(
        Intended("front/file*", f"headers/{name}", "a file of a page is known by its ETag, and is shown, not kept")
        for name in ("content-disposition", "last-modified")
    ),
    *(
        Intended("front/file unchanged", where, "a file answers its If-None-Match")
        for where in ("status", "headers/content-type", "text")
    ),
    Intended("front/file with HEAD", "headers/content-type", "HEAD has the headers of GET"),
    Intended("front/*", "headers/content-type", "a redirect has no body", now="absent"),
    *(
        Intended(*step, f"there is a limit, and a problem that says so: {slug}", now=now)
        for slug in ("poll-full", "no-room")
        for step, now in ((("front/all problems", "html"), slug), ((f"front/problem {slug}", "step"), ""))
    ),
    *(
        Intended(*step, "a damaged store is a problem of its own, and no longer called busy", now=now)
        for step, now in (
            (("front/all problems", "html"), "store-damaged"),
            (("front/problem store-damaged", "step"), ""),
        )
    ),
    *(
        Intended(f"front/{step}", where, LATER, now=now)
        for step, where, now in (
            ("form by its origin", "html", "datetime"),
            ("link from another site", "html", "datetime"),
            ("account over https", "html", "datetime"),
            ("API by cookie", "json/createdAt", ""),
            ("API by cookie from here", "json/*At", ""),
        )
    ),
    Intended("openapi/document", "json/operations/GET */answers", "lists carry an ETag", now="304"),
    Intended("openapi/document", "json/operations/GET */parameters", "lists carry an ETag", now="If-None-Match"),
    Intended("openapi/document", "json/operations/*/answers", "the document names the refusals that a rule declares"),
    Intended("openapi/document", "json/operations/PUT */parameters", "every action takes a key", now="Idempotency-Key"),
]

PEOPLE = [
    Intended("people_pages/*", "headers/location", "after signing in, one is back at the whole address", now="%3F"),
    *(
        Intended(f"{pages}/*", "headers/content-type", "a redirect has no body", now="absent")
        for pages in ("people_pages", "invited_only")
    ),
    Intended("people/*", "headers/etag", "lists carry an ETag", now="hash"),
    *(
        Intended("people/sign up with a bad name", where, "the character that is refused is named", now="U+202E")
        for where in ("json/detail", "json/errors/0/message")
    ),
    *(
        Intended("people/change the password", where, "who changes a password hears how many tokens are left")
        for where in ("status", "json", "headers/content-type", "guards/*")
    ),
    Intended("openapi/document", "json/operations/PUT /api/v1/me/password/body/*", "a password ends API tokens"),
    *(
        Intended("people/export", where, "a password ends API tokens")
        for where in ("zip/manifest.json/files", "zip/people.json/apiTokens", "zip/people/apiTokens.csv")
    ),
    *(
        Intended(f"people_pages/{step}", "html", "a password ends API tokens, and who changes it is asked", now=now)
        for step, now in (
            ("*", "endTokens"),
            ("*", "End my API tokens too"),
            ("*", "end-tokens-hint"),
            ("*", "Whoever knew the old password"),
            ("reset*", "your API tokens end"),
        )
    ),
    Intended("people/rename with a version of text", "json/*", ONE_MESSAGE, now="Version must be a positive integer"),
    Intended("people/export", "zip/polls/*", "columns are in the order of the view's declaration"),
    *(Intended(f"people_pages/{step}", "html", ONE_MESSAGE) for step in ("sign up with*", "change it to none")),
    *(
        Intended("people_pages/rename without a version", where, "a form without its version is 428, as a call is")
        for where in ("status", "around", "html")
    ),
]

NOTES = [
    Intended("notes/*", "headers/etag", "lists carry an ETag", now="hash"),
    Intended("notes/*", "json/detail", "what is not there is told in the same words everywhere", now="on purpose"),
    Intended("notes_pages/*", "html", "what is not there is told in the same words everywhere", now="on purpose"),
    Intended("notes_pages/*", "headers/content-type", "a redirect has no body", now="absent"),
    *(
        Intended(f"notes_pages/{step} nobody", where, "a page leads whoever is not signed in to sign in")
        for step in ("books of", "a book for")
        for where in ("status", "headers/*", "around", "html")
    ),
    Intended("notes_pages/*", "html", "the rows of a list change at an address after the list's", now="/notes/events"),
    Intended("notes_pages/events *", "request", "the rows of a list change at an address after the list's"),
    *(
        Intended(
            "notes_pages/a note without a title*",
            where,
            "a refused form is shown on its page, of which htmx takes a part",
        )
        for where in ("around", "html")
    ),
    *(
        Intended(f"notes_pages/{step}, by htmx", "status", "a row is answered with 200 as any piece of a page is")
        for step in ("a note", "delete")
    ),
    *(
        Intended("notes_pages/retitle without a version", where, "a form without its version is 428, as a call is")
        for where in ("status", "html")
    ),
]

IN_SIGHT = "what is asked, and lost signal, stay in sight on a page that is scrolled"
WHAT_IS_LEFT = "what runs low says what is left, where the warning begins, and that it is on the list already"
TO_THE_READER = "a card speaks to who finds it, and is printed without what its maker is told"

LETTER = [
    Intended("*", "around", "menus close on Escape and on a touch elsewhere", now="js/menus.js"),
    Intended("*", "*/entityType", "a thing on the list says what it is, as in the design", now="ShoppingListItem"),
    Intended("*", "*/updatedBy*", "who changed a thing last is told to whoever changed it too"),
    Intended("shopping_pages/*", "html", "who changed a thing last is kept with the list", now='"updatedByName"'),
    *(
        Intended(step, "html", IN_SIGHT, now=now)
        for step in ("front/home for its files", "shopping_pages/*")
        for now in ('id="asked"', "data-asks", "</form></div>")
    ),
    *(
        Intended(f"shopping_pages/{step}", "html", IN_SIGHT)
        for step in ("an empty list, just joined", "the list after coming in")
    ),
    *(
        Intended("shopping_pages/*", "html", WHAT_IS_LEFT, now=now)
        for now in ("Warn at", "warn at", "on the list · no place")
    ),
    *(
        Intended("shopping_pages/home with families", "html", "what is on the list waits for nobody", now=now)
        for now in ("Nothing is waiting", "Your plate is empty")
    ),
    Intended("shopping_pages/*", "html", "the list is not sorted by where one is", now="where things are bought"),
    Intended("*", "html", "a form carries what it was loaded with", now='name="base"'),
    *(Intended("*", "html", BY_FIELD, now=now) for now in ("keep:", "both changed", "also changed", "Edit first")),
    Intended("shopping_pages/change a line by an old version", "html", BY_FIELD),
    Intended("shopping_pages/the list of *", "html", "a list of one store counts what it shows", now="of 7 things"),
    *(Intended("front/style*", "html", TO_THE_READER, now=now) for now in ("Open it with this id", "or scan this")),
    *(
        Intended("polls_pages/share*", "html", TO_THE_READER, now=now)
        for now in ("no-print", "candidates.", "Scan this", "open the link", "by hand", "Closes")
    ),
    Intended("polls_pages/*", "html", "files cannot be had from paper", now="hint no-print"),
]

INVITES = "an invitation names who invites, and is not for the person who made it"
MARKED = "a CSV file begins with the mark by which a spreadsheet reads it as UTF-8"

INVITED = [
    Intended("front/all problems", "html", INVITES, now=""),
    Intended("front/problem own-invitation", "step", INVITES),
    Intended("*look*", "json/invitedBy", INVITES),
    Intended("*_pages/the invitation*", "html", INVITES, now="invites you to"),
]

FILES = [
    Intended("polls*/*", "text", MARKED, now="\ufeff"),
    Intended("people*/export*", "zip/*", MARKED, now="\ufeff"),
]

INTENDED: list[Intended] = [*INVITED, *FILES, *SITE, *PEOPLE, *SHOPPING, *POLLS, *NOTES, *LETTER]
