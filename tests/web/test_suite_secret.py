"""The suite's own secret: nobody else reads it, every worker has the same, and nobody chooses it by accident."""

import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from potluck.commands.operator_rules import open_operator_rules
from potluck.people.entities import SecretCheck
from potluck.settings import Settings, SettingsError
from potluck.suite import opened
from potluck.web.people.invitations import invite_newcomer
from potluck.web.suite_secret import derived, load_secret

STARTING = 8


@pytest.fixture
def settings(tmp_path):
    return Settings(data=tmp_path / "data")


def test_it_is_made_at_the_first_start_for_its_owner_alone(settings):
    before = os.umask(0)
    try:
        secret = load_secret(settings)
    finally:
        os.umask(before)
    assert len(secret) >= 32
    assert settings.data.stat().st_mode & 0o777 == 0o700
    assert (settings.data / "secret").stat().st_mode & 0o777 == 0o600
    assert load_secret(settings) == secret
    assert [file.name for file in settings.data.iterdir()] == ["secret"]


def test_two_folders_have_two_secrets(tmp_path):
    assert load_secret(Settings(data=tmp_path / "one")) != load_secret(Settings(data=tmp_path / "two"))


def test_a_secret_that_is_given_is_taken_and_nothing_is_written(tmp_path):
    given = "given by the operator, and long enough"
    assert load_secret(Settings(data=tmp_path / "data", secret=given)) == given.encode()
    assert not (tmp_path / "data").exists()


def test_on_dynamodb_it_must_be_given_and_the_refusal_says_how(tmp_path):
    settings = Settings(engine="aws", data=tmp_path)
    with pytest.raises(SettingsError, match=r"POTLUCK_SECRET is not set.*openssl rand -hex 32"):
        load_secret(settings)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "secret").write_text("the file of an earlier version, long enough")
    with pytest.raises(SettingsError, match="set POTLUCK_SECRET to its content"):
        load_secret(settings)


def test_of_processes_that_start_at_once_one_makes_it_and_all_have_it(settings):
    script = (
        "import sys; from pathlib import Path; from potluck.settings import Settings;"
        "from potluck.web.suite_secret import load_secret; print('here', flush=True); sys.stdin.readline();"
        "print(load_secret(Settings(data=Path(sys.argv[1]))).decode())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(settings.data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(STARTING)
    ]
    try:
        for process in processes:
            assert process.stdout.readline() == "here\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        read = [process.communicate(timeout=60)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert len(set(read)) == 1
    assert read[0].encode().strip() == load_secret(settings)
    assert [file.name for file in settings.data.iterdir()] == ["secret"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_one_that_others_could_read_is_refused_and_not_repaired(settings, mode):
    secret = load_secret(settings)
    file = settings.data / "secret"
    file.chmod(mode)
    with pytest.raises(SettingsError, match=f"mode {mode:o}") as refused:
        load_secret(settings)
    assert secret.decode() not in str(refused.value)
    assert file.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("content", [b"", b"short\n", b" " * 100])
def test_a_file_without_a_secret_in_it_is_refused(settings, content):
    load_secret(settings)
    (settings.data / "secret").write_bytes(content)
    with pytest.raises(SettingsError, match="holds no secret"):
        load_secret(settings)


def test_what_is_derived_for_one_purpose_is_no_use_for_another():
    secret = b"x" * 32
    assert derived(secret, "cursors") == derived(secret, "cursors")
    assert len(derived(secret, "cursors")) == 32
    assert len({derived(secret, "cursors"), derived(secret, "links"), derived(b"y" * 32, "cursors"), secret}) == 4


async def test_the_first_account_is_an_admins_in_a_new_store_alone(tmp_path):
    for folder, invite_first in (("new", False), ("invited", True)):
        settings = Settings(data=tmp_path / folder)
        if invite_first:
            # Rows that are there before the suite is first started.
            async with open_operator_rules(settings, create=True) as operator:
                await operator.do(invite_newcomer, None)
        async with opened(settings) as (core, _):
            assert (await core.store.one(SecretCheck.of_store())).has_admins
    # Made by a version that recorded no such thing.
    settings = Settings(data=tmp_path / "old")
    async with opened(settings) as (core, _):
        await core.store.put(replace(await core.store.one(SecretCheck.of_store()), has_admins=False))
    async with opened(settings) as (core, _):
        assert not (await core.store.one(SecretCheck.of_store())).has_admins
