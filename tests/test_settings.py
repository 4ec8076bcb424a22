from ipaddress import ip_network
from pathlib import Path

import pytest

from potluck.acceleration import ALL, PLAIN
from potluck.settings import AssistantSettings, BackupSettings, IdentityProviderSettings, Settings, SettingsError

# Whatever POTLUCK_PLAIN is where the tests run.
DEFAULTS = Settings(accelerations=ALL)


def test_an_empty_environment_gives_working_defaults():
    assert Settings.from_environment({}) == DEFAULTS
    assert Settings().file == Path("data/potluck.db")


def test_every_setting_is_read_from_its_variable():
    assert Settings.from_environment(
        {
            "POTLUCK_ENGINE": "aws",
            "POTLUCK_DATA": "/srv/potluck",
            "POTLUCK_HOST": "::1",
            "POTLUCK_PORT": "8080",
            "POTLUCK_WORKERS": "4",
            "POTLUCK_FANOUT": "redis://127.0.0.1:6379/0",
            "POTLUCK_BACKGROUND": "elsewhere",
            "POTLUCK_TAKEOVER": "60",
            "POTLUCK_ORIGIN": "https://potluck.example",
            "POTLUCK_PROXIES": "127.0.0.1, 10.0.0.0/8,2001:db8::/32",
            "POTLUCK_REGISTRATION": "invited",
            "POTLUCK_SECRET": "a secret of thirty-two characters",
            "POTLUCK_LOG": "requests",
            "POTLUCK_METRICS": "[::1]:9100",
            "POTLUCK_STORE_BUDGET": "500 MB",
            "POTLUCK_REGION": "eu-central-1",
            "POTLUCK_ENDPOINT": "http://127.0.0.1:8001",
            "POTLUCK_TABLE_PREFIX": "staging-",
            "POTLUCK_OPEN_LIBRARY": "http://books.lan:8080/",
            "POTLUCK_TMDB_KEY": "a key",
            "POTLUCK_PLAIN": "1",
        }
    ) == Settings(
        engine="aws",
        fanout="redis://127.0.0.1:6379/0",
        data=Path("/srv/potluck"),
        host="::1",
        port=8080,
        workers=4,
        background="elsewhere",
        takeover=60,
        origin="https://potluck.example",
        proxies=(ip_network("127.0.0.1/32"), ip_network("10.0.0.0/8"), ip_network("2001:db8::/32")),
        registration="invited",
        secret="a secret of thirty-two characters",
        log="requests",
        metrics=("::1", 9100),
        store_budget=500_000_000,
        region="eu-central-1",
        endpoint="http://127.0.0.1:8001",
        table_prefix="staging-",
        open_library="http://books.lan:8080",
        tmdb_key="a key",
        accelerations=PLAIN,
    )


def test_backups_on_a_schedule_are_read():
    environment = {"POTLUCK_BACKUP_EVERY": "36h", "POTLUCK_BACKUP_KEEP": "14", "POTLUCK_BACKUP_TO": "/mnt/backups"}
    assert Settings.from_environment(environment).backup == BackupSettings(
        every=36 * 3600, keep=14, to=Path("/mnt/backups")
    )


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"POTLUCK_BACKUP_EVERY": "24h"}, "POTLUCK_BACKUP_TO must name a folder"),
        (
            {"POTLUCK_BACKUP_EVERY": "24h", "POTLUCK_BACKUP_TO": "/b", "POTLUCK_ENGINE": "aws"},
            "turn on point-in-time recovery",
        ),
    ],
)
def test_backup_settings_that_do_not_fit_together_are_refused(environment, said):
    with pytest.raises(SettingsError, match=said):
        Settings.from_environment(environment)


@pytest.mark.parametrize(
    ("variable", "meant"),
    [
        ("POTLUCK_WORKER", "POTLUCK_WORKERS"),
        ("POTLUCK_ORIGINS", "POTLUCK_ORIGIN"),
        ("POTLUCK_ASISTANT_MODEL", "POTLUCK_ASSISTANT_MODEL"),
        ("POTLUCK_REGISTRATON", "POTLUCK_REGISTRATION"),
        ("potluck_port", "POTLUCK_PORT"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest_name(variable, meant):
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({"POTLUCK_PORT": "8080", variable: "4"})
    assert str(refused.value) == f"{variable} is not a setting. Did you mean {meant}?"


def test_a_setting_unlike_any_other_is_refused_with_where_to_look():
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({"POTLUCK_XYZZY": "1", "POTLUCK_ACCEPT_CONSEQUENCES": "yes", "POTLUCK_OLD": ""})
    assert str(refused.value) == (
        "POTLUCK_ACCEPT_CONSEQUENCES is not a setting. `potluck --help` lists the settings. "
        "POTLUCK_XYZZY is not a setting. `potluck --help` lists the settings."
    )


def test_an_empty_variable_counts_as_not_set():
    assert (
        Settings.from_environment({"POTLUCK_PORT": "", "POTLUCK_ENGINE": "", "POTLUCK_REGION": "", "POTLUCK_PLAIN": ""})
        == DEFAULTS
    )


def test_other_variables_are_left_alone():
    assert Settings.from_environment({"PORT": "1", "ENGINE": "aws", "AWS_REGION": "x"}) == DEFAULTS


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("POTLUCK_ENGINE", "sqlite"),
        ("POTLUCK_PORT", "eighty"),
        ("POTLUCK_PORT", "-1"),
        ("POTLUCK_PORT", "65536"),
        ("POTLUCK_PORT", "٨٠"),
        ("POTLUCK_ENDPOINT", "localhost:8000"),
        ("POTLUCK_WORKERS", "0"),
        ("POTLUCK_BACKGROUND", "there"),
        ("POTLUCK_BACKGROUND", "elsewhere"),
        ("POTLUCK_BACKUP_EVERY", "daily"),
        ("POTLUCK_BACKUP_EVERY", "4m"),
        ("POTLUCK_BACKUP_EVERY", "32d"),
        ("POTLUCK_BACKUP_EVERY", "24"),
        ("POTLUCK_BACKUP_KEEP", "0"),
        ("POTLUCK_TAKEOVER", "4"),
        ("POTLUCK_TAKEOVER", "601"),
        ("POTLUCK_WORKERS", "65"),
        ("POTLUCK_WORKERS", "two"),
        ("POTLUCK_REGISTRATION", "Open"),
        ("POTLUCK_LOG", "debug"),
        ("POTLUCK_METRICS", "on"),
        ("POTLUCK_METRICS", ":9100"),
        ("POTLUCK_METRICS", "65536"),
        ("POTLUCK_METRICS", "10.0.0.5"),
        ("POTLUCK_PLAIN", "yes"),
        ("POTLUCK_ASSISTANT", "gpt"),
        ("POTLUCK_STORE_BUDGET", "500"),
        ("POTLUCK_STORE_BUDGET", "9MB"),
        ("POTLUCK_STORE_BUDGET", "1.5GB"),
        ("POTLUCK_STORE_BUDGET", "-1GB"),
        ("POTLUCK_STORE_BUDGET", "unlimited"),
        ("POTLUCK_ORIGIN", "potluck.example"),
        ("POTLUCK_ORIGIN", "ftp://potluck.example"),
        ("POTLUCK_ORIGIN", "https://potluck.example/suite"),
        ("POTLUCK_ORIGIN", "https://ada@potluck.example"),
        ("POTLUCK_ORIGIN", "https://potluck.example, https://other.example"),
        ("POTLUCK_ORIGIN", "https://"),
        ("POTLUCK_OPEN_LIBRARY", "openlibrary.org"),
        ("POTLUCK_PROXIES", "nginx"),
        ("POTLUCK_PROXIES", "10.0.0.1/8"),
        ("POTLUCK_PROXIES", "127.0.0.1 10.0.0.1"),
    ],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(variable, value):
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({variable: value})
    said = str(refused.value)
    assert said.startswith(f"{variable} is '{value}'; it m")


@pytest.mark.parametrize(
    ("written", "origin"),
    [
        ("https://potluck.example/", "https://potluck.example"),
        ("HTTPS://Potluck.Example:443", "https://potluck.example"),
        ("http://potluck.example:80", "http://potluck.example"),
        ("https://potluck.example:8443", "https://potluck.example:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(written, origin):
    assert Settings.from_environment({"POTLUCK_ORIGIN": written}).origin == origin


@pytest.mark.parametrize("engine", ["embedded", "aws"])
def test_a_fan_out_is_for_aws_and_its_password_is_repeated_nowhere(engine):
    wrong = "127.0.0.1:6379" if engine == "aws" else "redis://ada:hush@127.0.0.1"
    with pytest.raises(SettingsError, match="POTLUCK_FANOUT") as refused:
        Settings.from_environment({"POTLUCK_FANOUT": wrong, "POTLUCK_ENGINE": engine})
    assert "hush" not in str(refused.value)
    assert "6379" not in str(refused.value)


def test_no_message_and_no_repr_repeats_the_secret():
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment({"POTLUCK_SECRET": "hush"})
    assert str(refused.value) == "POTLUCK_SECRET is invalid; it must have at least 32 characters"
    assert "quiet" not in repr(Settings.from_environment({"POTLUCK_SECRET": "quiet" * 10}))
    assert "quiet" not in repr(Settings.from_environment({"POTLUCK_TMDB_KEY": "quiet"}))


def test_every_setting_says_what_it_is_for_and_no_two_share_a_variable():
    declared = list(Settings.declared())
    assert len({each.variable for each in declared}) == len(declared)
    for each in declared:
        assert each.help, each.variable
        assert each.default, each.variable


def test_nobody_is_asked_where_the_operator_says_so():
    assert Settings.from_environment({"POTLUCK_OPEN_LIBRARY": "off"}).open_library is None


def test_the_assistant_is_chosen_and_its_key_is_repeated_nowhere():
    assert Settings.from_environment({"POTLUCK_ASSISTANT_KEY": "sk-1"}).assistant == AssistantSettings()
    given = {
        "POTLUCK_ASSISTANT": "openai",
        "POTLUCK_ASSISTANT_URL": "http://127.0.0.1:11434/v1/",
        "POTLUCK_ASSISTANT_MODEL": "llama",
        "POTLUCK_ASSISTANT_KEY": "sk-1",
        "POTLUCK_ASSISTANT_TIMEOUT": "5",
    }
    settings = Settings.from_environment(given)
    assert settings.assistant == AssistantSettings(
        provider="openai", url="http://127.0.0.1:11434/v1", model="llama", key="sk-1", timeout=5
    )
    assert "sk-1" not in repr(settings)
    named = Settings.from_environment({"POTLUCK_ASSISTANT": "anthropic", "POTLUCK_ASSISTANT_MODEL": "claude"})
    assert named.assistant.url == "https://api.anthropic.com/v1"
    for wrong in ({"URL": "sk-1@host"}, {"MODEL": ""}, {"TIMEOUT": "0"}, {"TIMEOUT": "121"}):
        with pytest.raises(SettingsError, match="POTLUCK_ASSISTANT_") as refused:
            Settings.from_environment(given | {f"POTLUCK_ASSISTANT_{name}": value for name, value in wrong.items()})
        assert "sk-1" not in str(refused.value)


PROVIDER = {
    "POTLUCK_ORIGIN": "https://potluck.example",
    "POTLUCK_OIDC_ISSUER": "https://auth.example.org/realms/home/",
    "POTLUCK_OIDC_CLIENT_ID": "potluck",
}


def test_an_identity_provider_is_read_and_its_secret_is_repeated_nowhere():
    provider = Settings.from_environment(PROVIDER).oidc
    # Exactly as written: it is compared with what the provider calls itself.
    issuer = "https://auth.example.org/realms/home/"
    assert provider == IdentityProviderSettings(issuer=issuer, client_id="potluck", name="auth.example.org")
    settings = Settings.from_environment(
        PROVIDER
        | {
            "POTLUCK_OIDC_CLIENT_SECRET": "hush",
            "POTLUCK_OIDC_NAME": " Our provider ",
            "POTLUCK_OIDC_AUDIENCE": "https://potluck.example/api",
            "POTLUCK_PASSWORDS": "off",
        }
    )
    assert settings.oidc == IdentityProviderSettings(
        issuer=issuer,
        client_id="potluck",
        client_secret="hush",
        name="Our provider",
        audience="https://potluck.example/api",
    )
    assert settings.passwords is False
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    "issuer",
    [
        "http://127.0.0.1:9000", "http://localhost:9000/realm", "http://192.168.1.7", "http://[::1]:9000",
        "https://192.168.1.7", "https://auth.lan:8443",
    ],
)  # fmt: skip
def test_a_provider_may_be_at_home(issuer):
    provider = Settings.from_environment(PROVIDER | {"POTLUCK_OIDC_ISSUER": issuer}).oidc
    assert provider.issuer == issuer


@pytest.mark.parametrize(
    "issuer",
    [
        "auth.example.org", "http://auth.example.org", "http://8.8.8.8", "https://", "ftp://auth.example.org",
        "https://ada@auth.example.org", "https://auth.example.org?x=1", "https://auth.example.org/#x", "http://0.0.0.0",
        "https://auth.example.org:port", "https://auth example.org",
    ],
)  # fmt: skip
def test_a_provider_that_could_not_be_trusted_is_refused(issuer):
    with pytest.raises(SettingsError, match=r"POTLUCK_OIDC_ISSUER is '.*'; it must be an address such as https://"):
        Settings.from_environment(PROVIDER | {"POTLUCK_OIDC_ISSUER": issuer})


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"POTLUCK_OIDC_CLIENT_ID": ""}, "POTLUCK_OIDC_ISSUER needs POTLUCK_OIDC_CLIENT_ID"),
        ({"POTLUCK_ORIGIN": ""}, "POTLUCK_OIDC_ISSUER needs POTLUCK_ORIGIN"),
        ({"POTLUCK_OIDC_NAME": "x" * 41}, "POTLUCK_OIDC_NAME is 'x+'; it must have 1 to 40 printable characters"),
        ({"POTLUCK_OIDC_NAME": "a\nb"}, "POTLUCK_OIDC_NAME is"),
        ({"POTLUCK_OIDC_ISSUER": ""}, "POTLUCK_OIDC_CLIENT_ID is set, and POTLUCK_OIDC_ISSUER is not"),
        ({"POTLUCK_PASSWORDS": "no"}, "POTLUCK_PASSWORDS is 'no'; it may be 'on' or 'off'"),
    ],
)
def test_a_provider_that_is_half_configured_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(SettingsError, match=sentence):
        Settings.from_environment(PROVIDER | changes)


def test_passwords_can_be_turned_off_only_with_a_provider():
    with pytest.raises(SettingsError, match="without POTLUCK_OIDC_ISSUER, no one could sign in"):
        Settings.from_environment({"POTLUCK_PASSWORDS": "off"})
    assert Settings.from_environment({"POTLUCK_PASSWORDS": "on"}).passwords is True
