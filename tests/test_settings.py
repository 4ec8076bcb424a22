from pathlib import Path

import pytest

from potluck.settings import Settings, SettingsError


def test_an_empty_environment_gives_working_defaults():
    assert Settings.from_environment({}) == Settings()
    assert Settings().file == Path("data/potluck.db")


def test_every_setting_is_read_from_its_variable():
    assert Settings.from_environment(
        {
            "POTLUCK_ENGINE": "aws",
            "POTLUCK_DATA": "/srv/potluck",
            "POTLUCK_HOST": "::1",
            "POTLUCK_PORT": "8080",
            "POTLUCK_REGION": "eu-central-1",
            "POTLUCK_ENDPOINT": "http://127.0.0.1:8001",
            "POTLUCK_TABLE_PREFIX": "staging-",
        }
    ) == Settings(
        engine="aws",
        data=Path("/srv/potluck"),
        host="::1",
        port=8080,
        region="eu-central-1",
        endpoint="http://127.0.0.1:8001",
        table_prefix="staging-",
    )


def test_an_empty_variable_counts_as_not_set():
    assert Settings.from_environment({"POTLUCK_PORT": "", "POTLUCK_ENGINE": "", "POTLUCK_REGION": ""}) == Settings()


def test_other_variables_are_left_alone():
    assert Settings.from_environment({"PORT": "1", "ENGINE": "aws", "AWS_REGION": "x"}) == Settings()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("POTLUCK_ENGINE", "sqlite"),
        ("POTLUCK_PORT", "eighty"),
        ("POTLUCK_PORT", "-1"),
        ("POTLUCK_PORT", "65536"),
        ("POTLUCK_PORT", "٨٠"),
        ("POTLUCK_ENDPOINT", "localhost:8000"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(variable, value):
    with pytest.raises(SettingsError, match=f"{variable} is '{value}'"):
        Settings.from_environment({variable: value})
