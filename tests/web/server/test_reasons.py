"""What an operator reads when something fails: what, where and what to do, by the real failure where there is one."""

import asyncio
import errno
import json
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import apsw
import pytest

from potluck.commands.main import main
from potluck.dynamo.database import Database
from potluck.engines import open_engine
from potluck.web.http import clients
from potluck.web.http.clients import Clients
from potluck.web.server.reasons import reason_of

NOBODY = 65_534


def said(capsys, *arguments):
    assert main([*arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("potluck: ")
    assert "Errno" not in line
    return line.removeprefix("potluck: ")


# --- folders and files ------------------------------------------------------------------------------------------------


def test_a_data_folder_that_is_a_file(tmp_path, capsys):
    file = tmp_path / "data"
    file.write_text("hello")
    assert said(capsys, "serve", "--port", "0", "--data", str(file)) == (
        f"{file} is a file, and a folder is needed: move the file away, or choose another folder with --data or "
        "POTLUCK_DATA"
    )
    below = file / "below"
    assert said(capsys, "serve", "--port", "0", "--data", str(below)).startswith(f"{below} cannot be: ")


def test_a_data_folder_that_may_not_be_written(tmp_path, capsys):
    folder = tmp_path / "data"
    folder.mkdir(mode=0o500)
    # Root may write everywhere, so it becomes another user for this.
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        reason = said(capsys, "serve", "--port", "0", "--data", str(folder / "new"))
    finally:
        if is_root:
            os.seteuid(0)
    assert str(folder / "new") in reason
    assert "change its owner or permissions" in reason


def test_a_disk_without_room():
    with pytest.raises(OSError, match="No space") as full, open("/dev/full", "w") as file:
        file.write("x")
    assert reason_of(full.value).startswith("there is no room left on the disk of ")


def test_no_error_of_the_system_is_told_by_its_number():
    for number in errno.errorcode:
        reason = reason_of(OSError(number, os.strerror(number), "/srv/potluck"))
        assert "Errno" not in reason
        assert str(number) not in reason
        assert reason_of(OSError(number, os.strerror(number)))


def test_a_store_of_a_later_version(tmp_path, capsys):
    store = tmp_path / "potluck.db"

    async def make():
        async with await Database.open(store):
            pass

    asyncio.run(make())
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA user_version=99")
    connection.close()
    reason = said(capsys, "people", "list", "--data", str(tmp_path))
    assert reason == (
        f"{store} was written by a later version of Potluck (format 99; this version reads 1): install that version "
        "again, or restore a backup from before it"
    )


def test_a_port_that_is_in_use(tmp_path, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert "is already in use; choose another with --port" in said(
            capsys, "serve", "--port", port, "--data", str(tmp_path / "data")
        )
        assert said(capsys, "dynamodb", "--port", port).startswith("the port is in use already: choose another")


# --- Amazon DynamoDB --------------------------------------------------------------------------------------------------


def reason_of_call(monkeypatch, endpoint, **environment):
    """What a call at this endpoint fails with, in words."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in ({"AWS_EC2_METADATA_DISABLED": "true"} | environment).items():
        monkeypatch.setenv(name, value)

    async def call():
        engine = await open_engine("aws", region="eu-central-1", endpoint=endpoint)
        try:
            await engine.call("GetItem", {"TableName": "Accounts", "Key": {"PK": {"S": "x"}}})
        finally:
            await engine.close()

    with pytest.raises(Exception) as refused:  # noqa: PT011
        asyncio.run(call())
    reason = reason_of(refused.value)
    assert reason is not None
    assert "Errno" not in reason
    return reason


KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}


def test_an_endpoint_where_nothing_listens(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
        reason = reason_of_call(monkeypatch, endpoint, **KEYS)
    assert reason == (
        f"no connection to {endpoint}/: connection refused: check the network, POTLUCK_REGION and POTLUCK_ENDPOINT"
    )


def test_no_credentials(monkeypatch, tmp_path):
    files = {"AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"), "AWS_CONFIG_FILE": str(tmp_path / "none")}
    assert "no AWS credentials were found: set AWS_ACCESS_KEY_ID" in reason_of_call(
        monkeypatch, "http://127.0.0.1:1", **files
    )


@pytest.fixture
def refusing():
    """An endpoint on this machine that refuses every call as it is told."""
    answers = {}

    class Refuses(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            body = json.dumps(answers["body"]).encode()
            self.send_response(400)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Refuses)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()

    def refuse(code, message):
        answers["body"] = {"__type": f"com.amazon.coral.service#{code}", "message": message}
        return f"http://127.0.0.1:{server.server_port}"

    yield refuse
    server.shutdown()
    thread.join()
    server.server_close()


# As the service says it.
@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (
            "InvalidSignatureException",
            "Signature expired: 20261119T031500Z is now earlier than 20261119T041000Z (20261119T042500Z - 15 min.)",
            "the clock of this machine is wrong",
        ),
        (
            "InvalidSignatureException",
            "Signature not yet current: 20261119T051500Z is still later than 20261119T044000Z",
            "the clock of this machine is wrong",
        ),
        ("RequestTimeTooSkewed", "The difference is too large.", "the clock of this machine is wrong"),
        (
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
            "AWS does not accept the credentials: check AWS_ACCESS_KEY_ID",
        ),
        (
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided.",
            "AWS does not accept the credentials",
        ),
        ("ExpiredTokenException", "The security token included in the request is expired", "have expired: renew them"),
        (
            "AccessDeniedException",
            "User: arn:aws:iam::1:user/a is not authorized to perform: dynamodb:GetItem on resource: "
            "arn:aws:dynamodb:eu-central-1:1:table/Accounts because no identity-based policy allows it",
            "does not allow dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:1:table/Accounts",
        ),
        ("ResourceNotFoundException", "Requested resource not found", "a table is missing: `potluck tables create`"),
        ("ThrottlingException", "Rate of requests exceeds the allowed throughput.", "because there are too many"),
    ],
)
def test_what_aws_refuses(monkeypatch, refusing, code, message, reason):
    assert reason in reason_of_call(monkeypatch, refusing(code, message), **KEYS)


# --- proxies ----------------------------------------------------------------------------------------------------------


def test_a_proxy_that_the_settings_do_not_name_is_logged_once(caplog, monkeypatch):
    monkeypatch.setattr(clients, "_noted", set())

    def request(peer):
        return {"client": (peer, 4000), "headers": [(b"x-forwarded-for", b"198.51.100.7")]}

    # Anyone can send the header: a stranger's address is no proxy of the operator's.
    Clients().client_of(request("8.8.8.8"))
    assert caplog.messages == []
    for _ in range(3):
        assert Clients().client_of(request("172.18.0.2")) == "172.18.0.2"
    (line,) = caplog.messages
    assert "set POTLUCK_PROXIES=172.18.0.2" in line
