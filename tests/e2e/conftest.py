from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Browser

from tests.e2e.browsing import LOOKED_AT, Visit, launched, open_visit
from tests.e2e.every_page import not_kept_by
from tests.e2e.toys import Toy
from tests.needs import need


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test that is to look at pages has looked at them."""
    LOOKED_AT.clear()
    yield
    missed = not_kept_by(f"{item.path.stem}.{item.name}", LOOKED_AT)
    assert missed == [], f"tests/e2e/every_page.py says that axe is asked about these here: {missed}"


@pytest.fixture(scope="session")
def address(tmp_path_factory) -> Iterator[str]:
    """The suite in a process of its own, with the toy among its apps."""
    with Toy(tmp_path_factory.mktemp("suite")) as toy:
        yield toy.address


# One for each module, not for the session: while it is open, no event loop can be started in this thread.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need("chromium", "axe-core")
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(browser, address) -> Iterator[Callable[..., Visit]]:
    """Opens a page; at the end of the test, every window must have stayed free of errors."""
    with ExitStack() as windows:

        def visited(
            path: str, screen: str = "phone", theme: str = "light", status: int = 200, at: str = "", **options
        ) -> Visit:
            visit = windows.enter_context(open_visit(browser, at or address, screen, theme, **options))
            visit.open(path, status)
            return visit

        yield visited


@pytest.fixture(scope="module")
def windows(browser, address) -> Iterator[dict[tuple[str, str], Visit]]:
    with ExitStack() as opened:

        class Windows(dict[tuple[str, str], Visit]):
            def __missing__(self, key: tuple[str, str]) -> Visit:
                return self.setdefault(key, opened.enter_context(open_visit(browser, address, *key)))

        yield Windows()


@pytest.fixture
def look(windows) -> Iterator[Callable[..., Visit]]:
    """Opens a page in a window that is kept: for tests that only look."""
    used = []

    def looked(path: str, screen: str = "phone", theme: str = "light", status: int = 200) -> Visit:
        visit = windows[screen, theme]
        used.append(visit)
        visit.open(path, status)
        return visit

    yield looked
    for visit in used:
        visit.check()
