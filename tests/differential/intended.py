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

from tests.differential.differences import Intended

__all__ = ["INTENDED"]

INTENDED: list[Intended] = [
    Intended("front/file *", "request", "static files have a digest in their address", now="?v=<fingerprint>"),
    Intended("front/file *", "headers/cache-control", "every static file is immutable at its address", now="immutable"),
    Intended("front/file *", "headers/etag", "what is immutable is not asked for again", now="(absent)"),
    Intended("front/file by its fingerprint", "headers/cache-control", "an old digest is not cached", now="no-cache"),
    Intended("front/file unchanged", "*", "what is immutable is not asked for again"),
]
