"""Pictures from elsewhere: made small and plain, and never more work or memory than they may be."""

import asyncio
import inspect
import io
import os

import pytest
from PIL import Image

from potluck.apps.library import covers, picture_processes, pictures
from potluck.apps.library.picture_processes import MOST_AT_ONCE, PictureProcesses
from potluck.apps.library.pictures import NotAPicture, plain_picture
from potluck.web.outbound import Outbound
from tests.apps.library.calls import calls_on, problem
from tests.apps.library.made_pictures import picture, png_of, with_scans
from tests.elsewhere import Said, another_host
from tests.patience import PATIENCE_SECONDS, stopped, until

HANGS = """
import sys, time
found = sys.stdin.buffer.read()
if found.startswith(b"hang"):
    time.sleep(3600)
sys.stdout.buffer.write(found)
"""


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF"])
def test_a_picture_is_written_anew_small_and_plain(kind):
    found = plain_picture(picture(kind, **({"comment": b"a secret"} if kind == "GIF" else {})))
    with Image.open(io.BytesIO(found)) as plain:
        assert (plain.format, plain.size, plain.mode) == ("JPEG", (400, 533), "RGB")
        # What is half transparent lies on white; a GIF is not.
        assert plain.getpixel((5, 5)) == pytest.approx((200, 30, 30) if kind == "GIF" else (227, 142, 142), abs=4)
    assert b"secret" not in found


def test_what_a_camera_wrote_into_a_picture_is_gone():
    exif = Image.Exif()
    exif[0x010F] = "Secret Camera"
    exif[0x0112] = 6
    found = plain_picture(picture("JPEG", (300, 100), "RGB", exif=exif.tobytes()))
    assert b"Secret" not in found
    with Image.open(io.BytesIO(found)) as plain:
        assert plain.size == (100, 300)


@pytest.mark.parametrize(
    "found",
    [
        b"", b"hello", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        picture()[:200], picture("BMP", (10, 10), "RGB"), picture("PNG", (5_000, 5_000), "1", color=0),
    ],
    ids=["nothing", "text", "svg", "cut", "bmp", "huge"],
)  # fmt: skip
def test_what_is_no_picture_is_refused(found):
    with pytest.raises(NotAPicture):
        plain_picture(found)


@pytest.mark.parametrize("size", [(1, 24_000_000), (10_001, 1), (5_000, 4_801)])
def test_each_side_and_all_pixels_are_bounded(size):
    with pytest.raises(NotAPicture, match=r"^it has \d+ times \d+ pixels$"):
        plain_picture(png_of(size))


def test_scans_are_counted_before_any_is_decoded():
    assert plain_picture(with_scans(pictures.MOST_SCANS))
    for number in (pictures.MOST_SCANS + 1, 226_190):
        with pytest.raises(NotAPicture, match="scans"):
            plain_picture(with_scans(number))


def test_bytes_that_look_like_scans_but_are_none_are_not_counted():
    noted = picture("JPEG", (300, 200), "RGB", progressive=True, comment=b"\xff\xda" * 500)
    assert plain_picture(noted + b"\xff\xda" * 500)


async def test_a_picture_is_decoded_in_a_process_of_its_own():
    plain = await PictureProcesses().plain(picture(), "ada")
    with Image.open(io.BytesIO(plain)) as opened:
        assert (opened.format, opened.size) == ("JPEG", (400, 533))
    with pytest.raises(NotAPicture, match="cannot identify"):
        await PictureProcesses().plain(b"hello", "ada")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has such limits")
@pytest.mark.parametrize("work", ["while True: pass", "bytes(MEMORY_BYTES)"], ids=["time", "memory"])
async def test_a_decoder_that_takes_more_than_it_may_is_ended(monkeypatch, tmp_path, work):
    program = tmp_path / "program.py"
    monkeypatch.setattr(picture_processes, "PROGRAM", program)
    monkeypatch.setattr(picture_processes, "SECONDS", PATIENCE_SECONDS)
    # With the decoder's own limits, but for the time that a test has.
    decoder = inspect.getsource(pictures).replace("PROCESSOR_SECONDS = 5", "PROCESSOR_SECONDS = 1")
    program.write_text(decoder.replace("plain = plain_picture(sys.stdin.buffer.read())", work))
    assert work in program.read_text()
    with pytest.raises(NotAPicture, match="too much"):
        await PictureProcesses().plain(b"", "eve")


def at_home():
    """Names of the Internet that lead to this machine."""
    return Outbound(permits=lambda address: True, resolve=lambda host, port: ["127.0.0.1"])


@pytest.fixture
def hanging(monkeypatch, tmp_path):
    """A decoder that never ends for some pictures, and returns the others as they are."""
    program = tmp_path / "hangs.py"
    program.write_text(HANGS)
    monkeypatch.setattr(picture_processes, "PROGRAM", program)


async def test_a_decoder_that_does_not_end_is_killed(hanging, monkeypatch):
    monkeypatch.setattr(picture_processes, "SECONDS", 0.5)
    processes = PictureProcesses()
    decoding = asyncio.create_task(processes.plain(b"hang", "eve"))
    process = await until(running_in(processes, 1))
    with pytest.raises(NotAPicture, match="too long"):
        await decoding
    await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)


def running_in(processes, number):
    async def running():
        return len(processes._running) == number and next(iter(processes._running))

    return running


async def test_others_go_on_while_a_decoder_hangs_and_a_stop_waits_for_none(hanging, monkeypatch):
    monkeypatch.setattr(picture_processes, "SECONDS", 3600.0)
    processes = PictureProcesses()
    # However many one owner has, they take one place.
    stuck = [asyncio.create_task(processes.plain(b"hang", "eve")) for _ in range(MOST_AT_ONCE + 1)]
    process = await until(running_in(processes, 1))
    for owner in ("ada", "ben"):
        assert await asyncio.wait_for(processes.plain(b"picture", owner), PATIENCE_SECONDS) == b"picture"
    assert not any(task.done() for task in stuck)
    processes.stop()
    for task in stuck:
        with pytest.raises(NotAPicture):
            await asyncio.wait_for(task, PATIENCE_SECONDS)
    await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)


async def test_a_decoder_ends_with_the_request_that_waits_for_it(hanging):
    processes = PictureProcesses()
    decoding = asyncio.create_task(processes.plain(b"hang", "eve"))
    process = await until(running_in(processes, 1))
    await stopped(decoding)
    await asyncio.wait_for(process.wait(), PATIENCE_SECONDS)
    assert not processes._running


async def test_a_server_that_stops_answers_who_waits_for_a_cover(hanging, monkeypatch, tmp_path):
    monkeypatch.setattr(picture_processes, "SECONDS", 3600.0)

    with another_host(lambda path: Said(b"hang", media_type="image/png")) as host:
        async with calls_on(tmp_path, at_home) as calls:
            ada = await calls.person()
            home = await calls.library(ada)
            told = {"title": "One", "pictureUrl": host.address("/1.png", "covers.example")}
            item = await calls.make(f"{home}/books", told, by=ada)
            asking = asyncio.create_task(calls.ask("POST", f"{home}/items/{item['itemId']}/cover", by=ada))
            async with asyncio.timeout(PATIENCE_SECONDS):
                # The consumer's, and the one that was asked for.
                while len(host.asked) < 2:  # noqa: ASYNC110 - another thread does it
                    await asyncio.sleep(0.02)
            await calls.application.state.on_stopping()
            problem(await asyncio.wait_for(asking, PATIENCE_SECONDS), 409, "no-cover")


async def test_a_cover_that_takes_long_keeps_no_other_waiting(hanging, monkeypatch, tmp_path):
    monkeypatch.setattr(picture_processes, "SECONDS", 3600.0)
    monkeypatch.setattr(covers, "SLOW_SECONDS", 0.1)
    good = picture("JPEG", (40, 60), "RGB")

    with another_host(lambda path: Said(b"hang" if path == "/hang" else good)) as host:
        async with calls_on(tmp_path, at_home) as calls:
            eve, ada = await calls.person("Eve"), await calls.person("Ada")
            theirs, home = await calls.library(eve), await calls.library(ada)
            for _ in range(3):
                told = {"title": "One", "pictureUrl": host.address("/hang", "covers.example")}
                await calls.make(f"{theirs}/books", told, by=eve)
            told = {"title": "Two", "pictureUrl": host.address("/good", "covers.example")}
            item = await calls.make(f"{home}/books", told, by=ada)

            async def shown():
                return (await calls.get(f"{home}/items/{item['itemId']}", by=ada))["hasPicture"]

            assert await until(shown)
