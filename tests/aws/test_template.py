"""deploy/aws/template.yaml: it has the tables as they are designed, cfn-lint accepts it, and the suite runs on it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from cfnlint.api import lint_file
from cfnlint.decode.cfn_yaml import load

from benchmarks.everyday import everyday
from potluck.apps.shareables import short_ids
from potluck.aws.policies import Resources, policy
from potluck.aws.template import NOT_CONSUMED, with_generated
from potluck.commands.main import main
from potluck.commands.table_modules import suite_tables
from potluck.people.passwords import Passwords
from potluck.settings import Settings
from potluck.suite import APPS, assembled
from tests.patience import until
from tests.people.assembly import CountingHasher
from tests.web.suites import ask, client_at, signed_up, suite_on

ROOT = Path(__file__).parent.parent.parent
FILE = ROOT / "deploy" / "aws" / "template.yaml"
REGION = "us-east-1"
ACCOUNT = "123456789012"


def template() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(load(str(FILE))))
    return loaded


def of_type(resources: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: each["Properties"] for name, each in resources.items() if each["Type"] == kind}


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_its_tables_are_those_that_the_design_prints(capsys):
    assert main(["design", "--format", "cloudformation"]) == 0
    printed = json.loads(capsys.readouterr().out)["Resources"]
    resources = template()["Resources"]
    assert {name: each for name, each in resources.items() if each["Type"] == "AWS::DynamoDB::Table"} == printed
    assert len(printed) == len(suite_tables())


def test_what_is_generated_is_up_to_date(tmp_path, capsys):
    document = FILE.read_text()
    assert with_generated(document, suite_tables()) == document, "run: potluck tables template deploy/aws/template.yaml"
    copy = tmp_path / "template.yaml"
    copy.write_text(document.replace("ReportBatchItemFailures", "Changed"))
    assert main(["tables", "template", str(copy)]) == 0
    assert copy.read_text() == document
    copy.write_text("Resources:\n")
    assert main(["tables", "template", str(copy)]) == 1
    assert "it has no marker" in capsys.readouterr().err


def test_cfn_lint_finds_nothing():
    assert lint_file(FILE) == []


def test_its_policies_are_those_that_are_printed():
    policies = of_type(template()["Resources"], "AWS::IAM::ManagedPolicy")
    here = Resources("${AWS::Region}", "${AWS::AccountId}", "${TablePrefix}", "${AWS::Partition}")
    for role in ("web", "consumers"):
        document = policies[f"{role.title()}Policy"]["PolicyDocument"]
        for statement in document["Statement"]:
            statement["Resource"] = [resource["Fn::Sub"] for resource in statement["Resource"]]
        assert document == policy(suite_tables(), [role], here)
        named = json.dumps(policy(suite_tables(), [role], Resources("ap-southeast-2", ACCOUNT, "a-long-prefix-")))
        # The limit of a managed policy, not counting white space.
        assert len(re.sub(r"\s", "", named)) < 6_144


def test_no_role_may_do_everything():
    for name, role in of_type(template()["Resources"], "AWS::IAM::Role").items():
        for inline in role.get("Policies", ()):
            for statement in inline["PolicyDocument"]["Statement"]:
                actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
                assert not [action for action in actions if "*" in action], name
                assert statement["Resource"] != "*" or actions == ["ecr:GetAuthorizationToken"], name


async def test_every_table_that_a_consumer_follows_is_delivered_with_partial_failures(tmp_path: Path) -> None:
    async with suite_on(tmp_path, APPS) as (_, application):
        core = application.state.core
        followed = {consumer.table.name for make in APPS for consumer in make(core).all_consumers()}
    assert followed == {table.name for table in suite_tables() if table.stream} - NOT_CONSUMED
    mappings = of_type(template()["Resources"], "AWS::Lambda::EventSourceMapping").values()
    assert len(mappings) == len(followed)
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["BisectBatchOnFunctionError"] is True
        assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": {"Fn::GetAtt": ["DeadLetters", "Arn"]}}}


def test_its_settings_exist():
    there = template()
    (task,) = of_type(there["Resources"], "AWS::ECS::TaskDefinition").values()
    (container,) = task["ContainerDefinitions"]
    given = container["Environment"] + container["Secrets"]
    web = {(each["Fn::If"][1] if "Fn::If" in each else each)["Name"] for each in given}
    functions = set(there["Globals"]["Function"]["Environment"]["Variables"])
    known = {setting.variable for setting in Settings.declared()}
    assert web <= known
    assert functions - {"SECRET_ARN"} <= known


# --- created in moto --------------------------------------------------------------------------------------------------


def expanded(document: dict[str, Any]) -> dict[str, Any]:
    """The template with functions as the SAM transform makes them, as far as moto needs them."""
    variables = document.pop("Globals")["Function"]["Environment"]
    document.pop("Transform")
    for resource in document["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Type"] = "AWS::Lambda::Function"
            properties = resource["Properties"]
            properties.pop("Events", None)
            properties |= {"Code": {"ImageUri": properties.pop("ImageUri")}, "Environment": variables}
    return document


@pytest.fixture(scope="module", params=["web", "functions"])
def stack(request: pytest.FixtureRequest, moto_endpoint: str) -> Iterator[dict[str, Any]]:
    """What the template made in moto, by logical names."""
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "tests")

        def client(service: str) -> Any:
            return boto3.client(service, region_name=REGION, endpoint_url=moto_endpoint)

        subnets = client("ec2").describe_subnets()["Subnets"][:2]
        certificate = client("acm").request_certificate(DomainName="potluck.example")["CertificateArn"]
        values = {
            "Image": f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/potluck:latest",
            "Origin": "https://potluck.example",
            "CertificateArn": certificate,
            "VpcId": subnets[0]["VpcId"],
            "Subnets": ",".join(subnet["SubnetId"] for subnet in subnets),
            "AlarmEmail": "ada@example.org",
            "TablePrefix": f"{request.param}-",
            "Background": request.param,
        }
        client("cloudformation").create_stack(
            StackName=request.param,
            TemplateBody=json.dumps(expanded(template())),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()],
            Capabilities=["CAPABILITY_IAM"],
        )
        yield {"endpoint": moto_endpoint, "background": request.param, "client": client}


@pytest.fixture
def settings(stack: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of the web tasks, as far as they concern the tables."""
    background = "here" if stack["background"] == "web" else "elsewhere"
    for name, value in {
        "ENGINE": "aws",
        "REGION": REGION,
        "ENDPOINT": stack["endpoint"],
        "BACKGROUND": background,
        "TABLE_PREFIX": f"{stack['background']}-",
        "DATA": str(tmp_path),
        "OPEN_LIBRARY": "off",
        "SECRET": "the secret of the tests, on every machine",
    }.items():
        monkeypatch.setenv(f"POTLUCK_{name}", value)
    # moto takes milliseconds for each of four thousand ids.
    monkeypatch.setattr(short_ids, "POOL_PARTITIONS", 20)
    return Settings.from_environment()


def test_the_stack_is_created_with_every_table_as_designed(stack, settings, capsys):
    status = stack["client"]("cloudformation").describe_stacks(StackName=stack["background"])["Stacks"][0]
    assert status["StackStatus"] == "CREATE_COMPLETE"
    main(["tables", "verify"])
    # moto leaves TimeToLiveSpecification and SSESpecification aside; that the template has them is tested above.
    missing = [line for line in capsys.readouterr().out.splitlines() if " its rows do not expire by " not in line]
    assert [line for line in missing if line != f"{len(suite_tables())} tables match their design"] == []
    dynamodb = stack["client"]("dynamodb")
    for table in suite_tables():
        described = dynamodb.describe_table(TableName=f"{settings.table_prefix}{table.name}")["Table"]
        assert described["DeletionProtectionEnabled"]


# Neither with functions: moto then fails every write for which it cannot start a container.
@pytest.mark.parametrize("stack", ["web"], indirect=True)
async def test_the_suite_starts_on_the_tables_of_the_stack(stack: dict[str, Any], settings: Settings) -> None:
    async with (
        assembled(settings, APPS, passwords=Passwords(CountingHasher())) as application,
        client_at(application) as client,
    ):

        async def ready() -> bool:
            return (await client.get("/readyz")).status_code == 200

        await until(ready)
        ada = await signed_up(client)
        assert (await ask(client, "GET", "/me", by=ada)).status_code == 200


@pytest.mark.soak
@pytest.mark.parametrize("stack", ["web"], indirect=True)
async def test_the_five_apps_run_on_the_tables_of_the_stack(stack: dict[str, Any], settings: Settings) -> None:
    async with (
        assembled(settings, APPS, passwords=Passwords(CountingHasher())) as application,
        client_at(application) as client,
    ):
        calls = [call.what async for call in everyday(client)]
    assert calls[-1] == "delete an account"
