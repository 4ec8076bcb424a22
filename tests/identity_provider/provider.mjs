// An OpenID Connect provider on loopback, for tests: `node provider.mjs PACKAGES PORT CONFIGURATION`.
//
// The npm package oidc-provider does the protocol; here are its people, its two pages and its keys.
// `POST /test/rotate` replaces the keys, and `POST /test/stop` answers nothing from then on but 503.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer } from "node:http";

const [packages, port, configuration] = process.argv.slice(2);
const { default: Provider } = await import(`${packages}/oidc-provider/lib/index.js`);

/** @type {{people: Record<string, Record<string, unknown>>, clients: object[], claimsInIdToken: boolean, seconds: number}} */
const { people, clients, claimsInIdToken, seconds } = JSON.parse(configuration);
const issuer = `http://127.0.0.1:${port}`;
let stopped = false;

function newKeys() {
  const pairs = [
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
    generateKeyPairSync("ec", { namedCurve: "P-256" }),
    generateKeyPairSync("ed25519"),
  ];
  return { keys: pairs.map((pair) => ({ ...pair.privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig" })) };
}

function newProvider() {
  return new Provider(issuer, {
    clients,
    jwks: newKeys(),
    cookies: { keys: [randomUUID()] },
    conformIdTokenClaims: !claimsInIdToken,
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    findAccount: (_, id) => id in people && { accountId: id, claims: () => ({ sub: id, ...people[id] }) },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    ttl: { AccessToken: seconds, IdToken: seconds, AuthorizationCode: 60, Grant: 600, Interaction: 600, Session: 600 },
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "PS256", "ES256", "EdDSA", "HS256"] },
    pkce: { required: () => true },
    // The pages of the package ask other hosts for fonts.
    renderError: (context, out) => {
      context.body = `<!doctype html><title>${out.error}</title>`;
    },
    features: {
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context, form) => {
          context.body = `<!doctype html><html lang="en"><title>Sign out</title>${form}<button form="op.logoutForm">Sign out</button>`;
        },
      },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({ scope: "", audience: resource, accessTokenFormat: "jwt" }),
      },
    },
  });
}

let provider = newProvider();

const SIGN_IN = `<!doctype html><html lang="en"><title>The provider</title><main><h1>The provider</h1>
<form method="post"><label>Who are you? <input name="login" autofocus></label> <button>Sign in</button>
<button name="cancel" value="yes">Cancel</button></form></main></html>`;

async function interact(request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "consent") {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope(params.scope);
    for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope);
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html");
    return response.end(SIGN_IN);
  }
  let sent = "";
  for await (const part of request) sent += part;
  const form = new URLSearchParams(sent);
  const denied = form.has("cancel") || !(form.get("login") in people);
  const result = denied ? { error: "access_denied" } : { login: { accountId: form.get("login") } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

createServer(async (request, response) => {
  if (request.url === "/test/rotate") {
    provider = newProvider();
    response.end();
  } else if (request.url === "/test/stop" || stopped) {
    stopped = true;
    response.writeHead(503).end();
  } else if (request.url?.startsWith("/interaction/")) {
    await interact(request, response);
  } else {
    provider.callback()(request, response);
  }
}).listen(Number(port), "127.0.0.1");
