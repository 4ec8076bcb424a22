"""Draw the picture at the top of the README anew: pages of the demo, as phones show them."""

import base64
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "potluck.webp"
POTLUCK = str(Path(sys.executable).with_name("potluck"))

PHONE: ViewportSize = {"width": 390, "height": 844}
SIGN_IN = re.compile(r"(mara@\S+)\s+(\S+)")
SHEET = """
<style>
  body { margin: 0; padding: 28px; display: flex; gap: 22px; background: #f6efe6 }
  img { width: 290px; border-radius: 26px; border: 7px solid #211c18 }
</style>
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        told = subprocess.run([POTLUCK, "demo", "--data", folder], check=True, capture_output=True, text=True).stdout
        server = subprocess.Popen(
            [POTLUCK, "serve", "--data", folder, "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        try:
            draw(told, address_of(server))
        finally:
            server.terminate()
            server.wait()


def address_of(server: "subprocess.Popen[str]") -> str:
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise SystemExit("potluck serve ended before it said where it is")


def draw(told: str, address: str) -> None:
    def path(of: str) -> str:
        found = re.search(of + r".*\n\s+http://[^/]+(\S+)", told)
        assert found is not None, of
        return found[1]

    pages = [
        "/",
        path("Campfire packing list"),
        "/shopping",
        "/journal/stats",
        path("Where does the club go") + "/results",
        path("Hall shelf"),
    ]
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_context(viewport=PHONE, device_scale_factor=2).new_page()
        sign_in(page, address, told)
        phones = [seen(page, address + each) for each in pages]
        sheet = browser.new_context(viewport={"width": 1000, "height": 700}, device_scale_factor=1).new_page()
        sheet.set_content(SHEET + "".join(f'<img src="data:image/png;base64,{each}">' for each in phones))
        sheet.wait_for_function("[...document.images].every((image) => image.complete)")
        width, height = sheet.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        sheet.set_viewport_size({"width": width + 28, "height": height})
        session = sheet.context.new_cdp_session(sheet)
        taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})
        PICTURE.write_bytes(base64.b64decode(taken["data"]))
        browser.close()


def sign_in(page: Page, address: str, told: str) -> None:
    found = SIGN_IN.search(told)
    assert found is not None
    page.goto(f"{address}/sign-in")
    page.fill("input[name=email]", found[1])
    page.fill("input[type=password]", found[2])
    with page.expect_navigation(wait_until="load"):
        page.keyboard.press("Enter")


def seen(page: Page, address: str) -> str:
    page.goto(address, wait_until="load")
    page.evaluate("document.fonts.ready.then(() => true)")
    # Up to where a live page says that it is one.
    page.wait_for_timeout(1500)
    return base64.b64encode(page.screenshot()).decode()


if __name__ == "__main__":
    main()
