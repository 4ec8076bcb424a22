"""Real proxies with the files in `deploy/`, on sockets of their own and without certificates."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from tests.patience import PATIENCE_SECONDS, until

__all__ = ["DEPLOY", "PROXIES", "nginx_with", "proxy", "replaced"]

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
NGINX = """
daemon off;
pid {folder}/pid;
worker_processes 1;
events {{ worker_connections 512; }}
http {{
    access_log off;
    keepalive_requests 100000;
    client_body_temp_path {folder}/a;
    proxy_temp_path {folder}/b;
    fastcgi_temp_path {folder}/c;
    uwsgi_temp_path {folder}/d;
    scgi_temp_path {folder}/e;
    # Compression would hold events back, if the site did not say that they must not be.
    gzip on;
    gzip_proxied any;
    gzip_types text/event-stream;
    map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
    {server}
}}
"""


def replaced(text: str, changes: dict[str, str]) -> str:
    """The file with these lines changed; each must be in it."""
    for before, after in changes.items():
        assert before in text, before
        text = text.replace(before, after)
    return text


def caddy_file(folder: str, port: int) -> str:
    site = replaced(
        (DEPLOY / "Caddyfile").read_text(),
        {
            "{$POTLUCK_SITE:potluck.example} {": f"http:// {{\n\tbind unix/{folder}/proxy",
            "{$POTLUCK_UPSTREAM:127.0.0.1:8000}": f"127.0.0.1:{port}",
        },
    )
    return f"{{\n\tadmin off\n\tauto_https off\n}}\n{site}"


def nginx_with(folder: str, changes: dict[str, str]) -> str:
    """The whole configuration of an nginx, with the changed file as its only sites."""
    return NGINX.format(folder=folder, server=replaced((DEPLOY / "nginx.conf").read_text(), changes))


def nginx_file(folder: str, port: int) -> str:
    return nginx_with(
        folder,
        {
            "server 127.0.0.1:8000;": f"server 127.0.0.1:{port};",
            "    listen 80;\n    listen [::]:80;\n": f"    listen unix:{folder}/http;\n",
            "    listen 443 ssl http2;\n    listen [::]:443 ssl http2;\n": f"    listen unix:{folder}/proxy;\n",
            "    ssl_certificate /etc/letsencrypt/live/potluck.example/fullchain.pem;\n": "",
            "    ssl_certificate_key /etc/letsencrypt/live/potluck.example/privkey.pem;\n": "",
            # Potluck needs no upgrades, but operators pass them on as nginx's own documentation says.
            'proxy_set_header Connection "";': (
                "proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $connection_upgrade;"
            ),
        },
    )


PROXIES: dict[str, tuple[Callable[[str, int], str], list[str]]] = {
    "caddy": (caddy_file, ["caddy", "run", "--adapter", "caddyfile", "--config"]),
    "nginx": (nginx_file, ["nginx", "-e", "stderr", "-c"]),
}


@contextmanager
def started(name: str, folder: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    configuration, command = PROXIES[name]
    file = Path(folder, "configuration")
    file.write_text(configuration(folder, port))
    environment = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_DATA_HOME": folder, "XDG_CONFIG_HOME": folder}
    with Path(folder, "log").open("wb") as log:
        process = subprocess.Popen([*command, file], env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@asynccontextmanager
async def proxy(name: str, port: int) -> AsyncIterator[str]:
    """The path of the proxy's socket, which forwards to the port."""
    # Not pytest's folder: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory() as folder, started(name, folder, port) as process:
        path = f"{folder}/proxy"

        async def listens() -> bool:
            assert process.poll() is None, Path(folder, "log").read_text()  # noqa: ASYNC240 - it failed
            with suppress(OSError):
                _, writer = await asyncio.open_unix_connection(path)
                writer.close()
                return True
            return False

        await until(listens)
        yield path
