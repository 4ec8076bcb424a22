import pytest

from potluck.people.devices import PROGRAMS, SYSTEMS, device_of

MOZILLA = "Mozilla/5.0"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
APPLE = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
HEADERS = {
    f"{MOZILLA} (Linux; Android 10; K) {WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36": ("Chrome", "Android"),
    f"{MOZILLA} (iPhone; CPU iPhone OS 18_1 like Mac OS X) {APPLE} Version/18.1 Mobile/15E148 Safari/604.1": (
        "Safari",
        "iPhone",
    ),
    f"{MOZILLA} (iPhone; CPU iPhone OS 18_1 like Mac OS X) {APPLE} CriOS/131.0 Mobile/15E148 Safari/604.1": (
        "Chrome",
        "iPhone",
    ),
    f"{MOZILLA} (Macintosh; Intel Mac OS X 10_15_7) {APPLE} Version/18.1 Safari/605.1.15": ("Safari", "Mac"),
    f"{MOZILLA} (Windows NT 10.0; Win64; x64; rv:132.0) Gecko/20100101 Firefox/132.0": ("Firefox", "Windows"),
    f"{MOZILLA} (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0": ("Edge", "Windows"),
    f"{MOZILLA} (Linux; Android 10; K) {WEBKIT} SamsungBrowser/26.0 Chrome/122.0 Mobile Safari/537.36": (
        "Samsung Internet",
        "Android",
    ),
    f"{MOZILLA} (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/131.0.0.0 Safari/537.36": ("Chrome", "ChromeOS"),
    f"{MOZILLA} (X11; Linux x86_64) {WEBKIT} HeadlessChrome/131.0.0.0 Safari/537.36": ("Chrome", "Linux"),
    "curl/8.5.0": ("curl", None),
    "python-httpx/0.28.1": ("Python", None),
    "Mozilla/5.0 (X11; Linux x86_64) Kitchen/1": (None, "Linux"),
    "": (None, None),
    "<script>": (None, None),
    "x" * 100_000 + " Firefox/1": (None, None),
}


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header[:60])
def test_a_header_names_the_browser_and_the_system(header):
    assert device_of(header) == HEADERS[header]


def test_every_name_fits_its_field():
    assert max(len(name) for _, name in (*PROGRAMS, *SYSTEMS)) <= 30
