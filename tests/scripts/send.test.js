import assert from "node:assert/strict";
import { test } from "node:test";
import { newId, send } from "../../src/potluck/web/static/js/kit/send.js";

const JSON_TYPE = { "content-type": "application/problem+json" };

/** What `send` says of this response, and what it requested. */
async function sent(response, options) {
  const requests = [];
  globalThis.fetch = async (address, init) => {
    requests.push({ address, ...init });
    if (response instanceof Error) throw response;
    return response;
  };
  const answer = await send("/things", options);
  return { ...answer, request: requests[0] };
}

const answered = (status, body = {}) => new Response(JSON.stringify(body), { status, headers: JSON_TYPE });

test("an answer is done, refused, for later, or says that the session has ended", async () => {
  const outcomes = {};
  for (const status of [200, 201, 401, 404, 409, 422, 429, 500, 503])
    outcomes[status] = (await sent(answered(status))).outcome;
  assert.deepEqual(outcomes, {
    200: "done",
    201: "done",
    401: "signed-out",
    404: "refused",
    409: "refused",
    422: "refused",
    429: "later",
    500: "later",
    503: "later",
  });
});

test("no answer: no network, a proxy, a portal's own page, half an answer", async () => {
  const portal = new Response("<html>", { status: 200, headers: { "content-type": "text/html" } });
  const half = new Response('{"items": [', { status: 200, headers: JSON_TYPE });
  for (const response of [new TypeError("failed"), answered(502), answered(504), portal, half])
    assert.equal((await sent(response)).outcome, "no-signal");
});

test("a deletion has no content", async () => {
  assert.equal((await sent(new Response(null, { status: 204 }))).outcome, "done");
});

test("a form is accepted without a redirect; one that redirects was answered by a proxy", async () => {
  const response = Object.defineProperties(Response.error(), { type: { value: "opaqueredirect" } });
  assert.equal((await sent(response, { form: { name: "Rice" } })).outcome, "no-signal");
  const { outcome, request } = await sent(new Response(null, { status: 204 }), { form: { name: "Rice" } });
  assert.equal(outcome, "done");
  assert.equal(String(request.body), "name=Rice");
  assert.equal(request.redirect, "manual");
});

test("a refusal says everything that is wrong", async () => {
  const errors = [{ message: "Name is too long" }, { message: "Unit is too long" }];
  assert.equal((await sent(answered(422, { errors }))).message, "Name is too long. Unit is too long");
  assert.equal((await sent(answered(409, { detail: "It is taken" }))).message, "It is taken");
});

test("JSON is sent with its type and its key", async () => {
  const { request } = await sent(answered(201), { json: { name: "Rice" }, key: "k-1" });
  assert.equal(request.body, '{"name":"Rice"}');
  assert.equal(request.method, "POST");
  assert.equal(request.headers["idempotency-key"], "k-1");
  assert.equal(request.headers["content-type"], "application/json");
});

test("an id is a random UUID", () => {
  assert.match(newId(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(newId(), newId());
});
