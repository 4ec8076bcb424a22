"""The API document: who may send a token need not, and every call is there."""

from potluck.apps.shareables.app import ShareablesApp
from potluck.web.openapi import document


def test_a_token_of_a_shareable_may_be_sent_and_need_not():
    paths = document(ShareablesApp.subjects)["paths"]
    one = paths["/api/v1/shareables/{shortId}"]["get"]
    assert one["security"] == [{}, {"bearer": []}, {"cookie": []}]
    assert {each["name"] for each in one["parameters"]} == {"shortId", "If-None-Match"}
    assert {"401", "404", "410"} <= one["responses"].keys()
    assert "security" not in paths["/api/v1/shareables"]["get"]
    assert paths["/api/v1/shareables"]["post"]["security"] == []
    unlock = paths["/api/v1/shareables/{shortId}/sessions"]["post"]
    assert {"201", "401", "429"} <= unlock["responses"].keys()
