"""A proxy in front of DynamoDB that denies what an IAM policy does not allow, in the service's words.

It decides by X-Amz-Target and the names in the request; a shard iterator stands for the stream that it was got for.
"""

import contextlib
import json
from collections.abc import AsyncIterator, Iterator
from fnmatch import fnmatchcase
from typing import Any

import aiohttp
from aiohttp import web

__all__ = ["GuardingProxy"]

ACCOUNT = "arn:aws:dynamodb:us-east-1:000000000000"
CALLER = "arn:aws:sts::000000000000:assumed-role/potluck/tests"
# The permission that each action of a transaction needs.
IN_TRANSACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
    "Get": "GetItem",
}

Permission = tuple[str, str]
"""An action, such as dynamodb:GetItem, and the ARN of a resource."""


class GuardingProxy:
    """Sends on what the policy allows, and records what it denied and what was used."""

    def __init__(self, endpoint: str, policy: dict[str, Any]) -> None:
        self.denied: list[Permission] = []
        self.used: set[Permission] = set()
        self.policy = policy
        self._endpoint = endpoint
        self._streams: dict[str, str] = {}

    def allows(self, permission: Permission) -> bool:
        action, resource = permission
        return any(
            action in statement["Action"] and any(fnmatchcase(resource, pattern) for pattern in statement["Resource"])
            for statement in self.policy["Statement"]
        )

    async def answer(self, request: web.Request) -> web.Response:
        operation = request.headers["X-Amz-Target"].rpartition(".")[2]
        body = await request.read()
        sent = json.loads(body)
        for permission in self._needed(operation, sent):
            if not self.allows(permission):
                self.denied.append(permission)
                return web.json_response(_refusal(permission), status=400)
            self.used.add(permission)
        headers = {name: value for name, value in request.headers.items() if name.lower() != "host"}
        async with self._session.post(self._endpoint, data=body, headers=headers) as answered:
            answer = await answered.read()
            if answered.status == 200 and operation in ("GetShardIterator", "GetRecords"):
                self._follow(operation, sent, json.loads(answer))
            return web.Response(body=answer, status=answered.status)

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        application = web.Application(client_max_size=32 * 1024 * 1024)
        application.router.add_post("/", self.answer)
        runner = web.AppRunner(application)
        async with aiohttp.ClientSession() as self._session:
            await runner.setup()
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            try:
                yield f"http://{host}:{port}"
            finally:
                await runner.cleanup()

    def _needed(self, operation: str, sent: dict[str, Any]) -> Iterator[Permission]:
        action = f"dynamodb:{operation}"
        if "TransactItems" in sent:
            for item in sent["TransactItems"]:
                for kind, part in item.items():
                    yield f"dynamodb:{IN_TRANSACTIONS[kind]}", _table(part["TableName"])
        elif "RequestItems" in sent:
            for table in sent["RequestItems"]:
                yield action, _table(table)
        elif "StreamArn" in sent:
            yield action, sent["StreamArn"]
        elif "ShardIterator" in sent:
            yield action, self._streams[sent["ShardIterator"]]
        elif "IndexName" in sent:
            yield action, f"{_table(sent['TableName'])}/index/{sent['IndexName']}"
        else:
            yield action, _table(sent.get("TableName", "*"))

    def _follow(self, operation: str, sent: dict[str, Any], answer: dict[str, Any]) -> None:
        if operation == "GetShardIterator":
            self._streams[answer["ShardIterator"]] = sent["StreamArn"]
        elif "NextShardIterator" in answer:
            self._streams[answer["NextShardIterator"]] = self._streams[sent["ShardIterator"]]


def _table(name: str) -> str:
    return f"{ACCOUNT}:table/{name}"


def _refusal(permission: Permission) -> dict[str, str]:
    action, resource = permission
    message = (
        f"User: {CALLER} is not authorized to perform: {action} on resource: {resource} because no identity-based "
        f"policy allows the {action} action"
    )
    return {"__type": "com.amazon.coral.service#AccessDeniedException", "Message": message}
