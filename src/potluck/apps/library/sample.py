"""A shelf, for the front page."""

from potluck.apps.library.drawn_books import SHARED, face, spine
from potluck.web import Sample

SAMPLE = Sample(
    "library/sample.html",
    {
        "drawn": SHARED,
        "places": [
            spine("Piranesi", "Susanna Clarke"),
            spine("The Left Hand of Darkness", "Ursula K. Le Guin"),
            face("Middlemarch", "George Eliot"),
            spine("Momo", "Michael Ende"),
            spine("Kindred", "Octavia E. Butler"),
            spine("Spirited Away", "Hayao Miyazaki", "video"),
            spine("Beloved", "Toni Morrison"),
            spine("The Dispossessed", "Ursula K. Le Guin"),
        ],
    },
    "sample.css",
)
