"""The files in `deploy/` are valid, and fit what Potluck does."""

import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from potluck.settings import Settings
from potluck.web.server.serve import GRACE_SECONDS
from tests.connections.proxies import DEPLOY, nginx_with
from tests.patience import PATIENCE_SECONDS

# systemd's own figure, from 0 (nothing is exposed) to 10.
EXPOSED_AT_MOST = 1.5


def run(*command, **options):
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False, **options
    )


def service_here(folder):
    """The service, with a program that exists on this machine."""
    text = (DEPLOY / "potluck.service").read_text()
    assert "ExecStart=/opt/potluck/bin/potluck serve\n" in text
    file = folder / "potluck.service"
    file.write_text(text.replace("/opt/potluck/bin/potluck", sys.executable))
    return file


@pytest.mark.needs("systemd-analyze")
def test_the_service_is_valid_and_may_do_little(tmp_path):
    file = service_here(tmp_path)
    verified = run("systemd-analyze", "verify", file)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    analyzed = run("systemd-analyze", "security", "--offline=true", "--no-pager", file)
    exposure = re.search(r"Overall exposure level for potluck\.service: ([0-9.]+)", analyzed.stdout)
    assert exposure is not None, analyzed
    assert float(exposure[1]) <= EXPOSED_AT_MOST


def test_the_service_waits_until_potluck_has_stopped():
    stop = re.search(r"^TimeoutStopSec=(\d+)s$", (DEPLOY / "potluck.service").read_text(), re.M)
    assert stop is not None
    assert int(stop[1]) > GRACE_SECONDS


@pytest.mark.needs("caddy")
def test_caddy_accepts_its_file(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    validated = run("caddy", "validate", "--adapter", "caddyfile", "--config", DEPLOY / "Caddyfile", env=environment)
    assert validated.returncode == 0, validated.stderr
    # Exits with 1 for a file that it would format in another way.
    assert run("caddy", "fmt", "--diff", DEPLOY / "Caddyfile", env=environment).returncode == 0


def test_no_proxy_compresses_what_potluck_does_not():
    assert "gzip off;" in (DEPLOY / "nginx.conf").read_text()
    assert "encode" not in (DEPLOY / "Caddyfile").read_text()


@pytest.mark.needs("nginx")
def test_nginx_accepts_its_file(tmp_path):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "potluck.example")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    (tmp_path / "certificate").write_bytes(built.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM))
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key").write_bytes(plain)
    # Not pytest's folder: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory() as folder:
        sockets = {
            "listen 80;": f"listen unix:{folder}/a;",
            "listen [::]:80;": f"listen unix:{folder}/b;",
            "listen 443 ssl http2;": f"listen unix:{folder}/c ssl http2;",
            "listen [::]:443 ssl http2;": f"listen unix:{folder}/d ssl http2;",
            "/etc/letsencrypt/live/potluck.example/fullchain.pem": f"{tmp_path}/certificate",
            "/etc/letsencrypt/live/potluck.example/privkey.pem": f"{tmp_path}/key",
        }
        (tmp_path / "nginx.conf").write_text(nginx_with(folder, sockets))
        tested = run("nginx", "-t", "-q", "-e", "stderr", "-c", tmp_path / "nginx.conf")
    assert tested.returncode == 0, tested.stderr


def instructions(file):
    """The instructions of a container file, each in one line."""
    text = re.sub(r"\\\n\s*", "", file.read_text())
    return [tuple(line.split(maxsplit=1)) for line in text.splitlines() if line and not line.startswith("#")]


def test_the_container_runs_without_root_and_without_a_shell():
    steps = instructions(DEPLOY / "Containerfile")
    last = steps[max(index for index, (name, _) in enumerate(steps) if name == "FROM") :]
    settings = {name: value for name, value in last if name != "COPY"}
    assert settings["USER"] == "10001:10001"
    assert settings["VOLUME"] == "/data"
    assert settings["ENTRYPOINT"] == '["potluck"]'
    assert "/livez" in settings["HEALTHCHECK"]
    commands = [value for name, value in steps if name in ("RUN", "CMD", "ENTRYPOINT")]
    assert all(command.startswith("[") for command in commands), "no shell reads these"


def test_the_container_has_settings_that_exist():
    (environment,) = [value for name, value in instructions(DEPLOY / "Containerfile") if name == "ENV"]
    variables = dict(pair.split("=", 1) for pair in environment.split())
    settings = Settings.from_environment({name: value for name, value in variables.items() if "POTLUCK" in name})
    assert (settings.data, settings.host, settings.port) == (Path("/data"), "0.0.0.0", 8000)


def test_a_build_copies_files_that_are_there_and_no_data():
    root = DEPLOY.parent
    copied = [value.split()[:-1] for name, value in instructions(DEPLOY / "Containerfile") if name == "COPY"]
    sources = [source for sources in copied if not sources[0].startswith("--from") for source in sources]
    assert all((root / source).exists() for source in sources)
    ignored = (root / ".dockerignore").read_text().split("\n")
    assert {line[1:] for line in ignored if line.startswith("!")} == set(sources)
    assert "*" in ignored
