"""Where the suite now answers otherwise than it was recorded, on purpose, and why.

    INTENDED = [
        Intended("front/health with HEAD", "status", "HEAD is answered wherever GET is", now="200"),
        Intended("*", "headers/vary", "cookies do not matter to what has no session"),
        Intended("polls_pages/ballot*", "html", "the legend names the poll", now="<legend>"),
    ]

`step` and `where` are patterns with *. `where` is `status`, `headers/NAME`, `guards/NAME`, `cookies`, `json/PATH`,
`text`, `html` (the main part of a page, by pieces that differ), `around` (what stands around it), `events/PATH`,
`zip/PATH`, or `step` for one that is on one side only. `now` is a part of what is there now. An entry that matches no
difference fails: it is taken out when the recording is made anew.
"""

from tests.differential.differences import Intended

__all__ = ["INTENDED"]

ONE_MESSAGE = "a field has one message, in forms as in JSON"
ON_ITS_PAGE = "what is refused is told on the page of the form"

SHOPPING = [
    Intended("shopping/*", "headers/etag", "lists carry an ETag", now="<hash>"),
    Intended("shopping_pages/*", "headers/content-type", "a redirect has no body, and says nothing of its kind"),
    Intended(
        "people/export", "zip/shopping/*", "columns are in the order of the view's declaration: computed ones last"
    ),
    *(
        Intended(step, "json/items/*", "a pasted line means what is at home by its name", now=now)
        for step in ("shopping/paste*", "shopping/the list*", "shopping/what is to be bought*", "shopping/*to follow")
        for now in ("RICE", "<itemId of add a thing of the same name>")
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
    Intended("shopping_pages/member sends /delete", "status", "who may comes before what was sent", now="403"),
]

POLLS = [
    Intended("polls/change a vote*", "headers/etag", "every single thing has a tag"),
    Intended("polls/*'s polls", "headers/etag", "every list has a tag", now="hash"),
    Intended("polls_pages/make one of twins", "html", "names that look alike are told beside the field", now="differ"),
    Intended("polls_pages/*", "headers/content-type", "a redirect has no body", now="absent"),
    Intended("polls_pages/edit by an old version", "status", "a clash is 409 on every page", now="409"),
    Intended("polls_pages/a poll of a malformed id", "html", "the field's own message", now="must be a UUID"),
]

SITE = [
    *(
        Intended(step, where, "HEAD is answered wherever GET is")
        for step, where in (
            ("front/health with HEAD", "status"),
            ("front/health with HEAD", "headers/*"),
            ("front/health by POST", "headers/allow"),
        )
    ),
    *(
        Intended("front/file *", f"headers/{name}", "a file is known by a tag of its content, wherever it is served")
        for name in ("last-modified", "content-disposition")
    ),
    *(
        Intended("front/file unchanged", where, "a browser that has a file is told so")
        for where in ("status", "headers/content-type", "text")
    ),
    Intended("front/file with HEAD", "headers/content-type", "HEAD has the headers of GET", now="text/css"),
]

PEOPLE = [
    Intended("people/rename with a version of text", "json/*", "a version has one message", now="positive integer"),
    *(
        Intended(f"people/{step}", "headers/etag", "every list has a tag", now="hash")
        for step in ("tokens", "sessions*")
    ),
    *(
        Intended(f"{chapter}/*", "headers/content-type", "a redirect has no body", now="absent")
        for chapter in ("front", "people_pages", "invited_only")
    ),
    *(
        Intended(f"people_pages/{step}", "html", ONE_MESSAGE, now="of at most 254 characters")
        for step in ("sign up with everything wrong", "change it to none")
    ),
    *(
        Intended("people_pages/sign up with nothing", "html", ONE_MESSAGE, now=now)
        for now in ("1 to 100 characters", "of at most 254 characters", "10 to 128 characters")
    ),
    *(
        Intended("people_pages/rename without a version", where, "a change without a version is 428 on every page")
        for where in ("status", "around", "html")
    ),
]

INTENDED: list[Intended] = [*SHOPPING, *POLLS, *SITE, *PEOPLE]
