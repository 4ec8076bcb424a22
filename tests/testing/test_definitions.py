"""Tables from templates of CloudFormation and SAM."""

import json
from pathlib import Path

import pytest

from potluck.dynamo.cloudformation import TemplateError, tables_of_template
from potluck.table.design.cloudformation import cloudformation
from potluck.testing.definitions import creation_of
from tests.toy.entities import notes_table as toys

SAM = """
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: {Type: String, Default: test}
  Owner: {Type: String}
Resources:
  Notes:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "${AWS::StackName}-notes-${Stage}"
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions:
        - {AttributeName: PK, AttributeType: S}
        - {AttributeName: SK, AttributeType: S}
        - {AttributeName: GSI1PK, AttributeType: S}
      KeySchema:
        - {AttributeName: PK, KeyType: HASH}
        - {AttributeName: SK, KeyType: RANGE}
      GlobalSecondaryIndexes:
        - IndexName: GSI1
          KeySchema: [{AttributeName: GSI1PK, KeyType: HASH}]
          Projection: {ProjectionType: ALL}
          ContributorInsightsSpecification: {Enabled: true}
      StreamSpecification: {StreamViewType: NEW_IMAGE}
      TimeToLiveSpecification: {AttributeName: until, Enabled: true}
      PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
      SSESpecification: {SSEEnabled: true, KMSMasterKeyId: !GetAtt Key.Arn}
      Tags:
        - {Key: stage, Value: !Ref Stage}
  Sessions:
    Type: AWS::Serverless::SimpleTable
    Properties:
      TableName: !Join ["-", [!Ref Owner, sessions]]
      PrimaryKey: {Name: token, Type: String}
  Function:
    Type: AWS::Serverless::Function
    Properties:
      Policies: [{DynamoDBCrudPolicy: {TableName: !Ref Notes}}]
"""


@pytest.fixture
def template(tmp_path: Path) -> Path:
    path = tmp_path / "template.yaml"
    path.write_text(SAM)
    return path


def test_a_template_names_its_tables_and_resolves_what_it_can(template):
    tables = tables_of_template(template)
    (_, create), (operation, expiry) = tables["Notes"]
    assert create["TableName"] == "stack-notes-test"
    assert create["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert create["Tags"] == [{"Key": "stage", "Value": "test"}]
    assert create["GlobalSecondaryIndexes"][0].keys() == {"IndexName", "KeySchema", "Projection"}
    assert (operation, expiry["TimeToLiveSpecification"]["AttributeName"]) == ("UpdateTimeToLive", "until")
    [(_, sessions)] = tables["Sessions"]
    assert sessions["TableName"] == "Sessions", "the owner is known when it is deployed"
    assert sessions["KeySchema"] == [{"AttributeName": "token", "KeyType": "HASH"}]


def test_a_table_of_a_template_is_made_as_it_says(template, dynamodb_table, dynamodb_client):
    table = dynamodb_table(template, resource="Notes")
    assert table.name == "stack-notes-test"
    described = dynamodb_client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    assert dynamodb_table(str(template), resource="Sessions").name == "Sessions"


def test_one_of_several_tables_is_chosen(template):
    with pytest.raises(LookupError, match=r"choose a table of .* it has: Notes, Sessions"):
        creation_of(template)
    with pytest.raises(LookupError, match="has no table Other"):
        creation_of(template, "Other")


def test_our_own_templates_make_our_own_tables(tmp_path, dynamodb_table):
    path = tmp_path / "template.json"
    path.write_text(cloudformation([toys]))
    [requests] = tables_of_template(path).values()
    create, *others = toys.creation()
    theirs = {**requests[0][1], "TableName": create.body["TableName"]}
    assert {name: theirs[name] for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")} == {
        name: create.body[name] for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")
    }
    assert [operation for operation, _ in requests[1:]] == [request.operation for request in others]
    dynamodb_table(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "cannot be read"),
        ("[]", "is no template"),
        ("{}", "it has no Resources"),
        (json.dumps({"Resources": {"T": {"Type": "AWS::DynamoDB::Table", "Properties": {"Tags": [{}]}}}}), "table T"),
    ],
)
def test_what_is_no_template_is_refused(tmp_path, text, problem):
    path = tmp_path / "template.json"
    path.write_text(text)
    with pytest.raises(TemplateError, match=problem):
        tables_of_template(path)
