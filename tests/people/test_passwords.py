"""Passwords are hashed with argon2id in threads, a few at a time, and nobody's costs what a wrong one costs."""

import asyncio
import threading
import time

import pytest

from potluck.people import passwords as passwords_module
from potluck.people.errors import Throttled
from potluck.people.passwords import Passwords, argon2id
from tests.people.assembly import CountingHasher


@pytest.fixture
def hasher():
    return CountingHasher()


@pytest.fixture
def passwords(hasher):
    made = Passwords(hasher)
    hasher.computed.clear()
    yield made
    made.close()


def test_real_passwords_are_hashed_with_argon2id_at_the_recommended_cost():
    assert argon2id().hash(b"correct horse").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


async def test_a_password_is_known_by_its_hash_and_two_hashes_of_it_differ(passwords):
    one, two = await passwords.hash("correct horse"), await passwords.hash("correct horse")
    assert one != two
    assert await passwords.verify("correct horse", one)
    assert not await passwords.verify("correct house", one)
    assert len(one) <= 200


async def test_one_password_is_the_same_however_its_accents_are_composed(passwords):
    assert await passwords.verify("cafe\u0301 au lait", await passwords.hash("caf\u00e9 au lait"))


async def test_any_text_has_a_hash(passwords):
    for text in ("\ud800 half of a character", "\0" * 10, "🐴" * 128):
        assert await passwords.verify(text, await passwords.hash(text))


async def test_nobodys_password_is_wrong_after_the_same_work(passwords, hasher):
    stored = await passwords.hash("correct horse")
    hasher.computed.clear()
    assert not await passwords.verify("wrong horse!", stored)
    wrong, hasher.computed = hasher.computed, []
    assert not await passwords.verify("wrong horse!", None)
    assert hasher.computed == wrong == ["verify"]


async def test_what_is_no_hash_is_nobodys_password(passwords):
    assert not await passwords.verify("correct horse", "not a hash")


async def test_a_hash_of_other_parameters_is_outdated_and_still_good(passwords):
    costlier = Passwords(CountingHasher(passes=2))
    old = await passwords.hash("correct horse")
    assert not passwords.outdated(old)
    assert costlier.outdated(old)
    assert await costlier.verify("correct horse", old)
    costlier.close()


class SlowHasher(CountingHasher):
    def __init__(self):
        super().__init__()
        self.at_once = self.most_at_once = 0
        self.threads = set()
        self._lock = threading.Lock()

    def hash(self, password):
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self.threads.add(threading.current_thread())
        time.sleep(0.01)
        with self._lock:
            self.at_once -= 1
        return super().hash(password)


async def test_no_more_than_a_few_are_computed_at_once_and_never_on_the_event_loop():
    hasher = SlowHasher()
    passwords = Passwords(hasher, at_once=2)
    hasher.threads.clear()
    await asyncio.gather(*(passwords.hash(f"password {each}") for each in range(10)))
    assert hasher.most_at_once == 2
    assert threading.main_thread() not in hasher.threads
    passwords.close()


async def test_past_a_long_queue_they_are_asked_to_come_back(monkeypatch):
    monkeypatch.setattr(passwords_module, "HASHES_WAITING", 5)
    passwords = Passwords(SlowHasher(), at_once=1)
    ended = await asyncio.gather(*(passwords.hash("correct horse") for _ in range(8)), return_exceptions=True)
    assert [type(each) for each in ended] == [str] * 5 + [Throttled] * 3
    assert await passwords.hash("correct horse")
    passwords.close()


async def test_one_client_is_not_the_whole_queue(monkeypatch):
    monkeypatch.setattr(passwords_module, "HASHES_OF_ONE", 3)
    passwords = Passwords(SlowHasher(), at_once=1)
    clients = ["192.0.2.1"] * 5 + ["192.0.2.2"]
    ended = await asyncio.gather(*(passwords.hash("correct horse", each) for each in clients), return_exceptions=True)
    assert [type(each) for each in ended] == [str] * 3 + [Throttled] * 2 + [str]
    assert await passwords.hash("correct horse", "192.0.2.1")
    passwords.close()
