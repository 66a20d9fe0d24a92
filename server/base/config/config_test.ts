import assert from "node:assert/strict";
import { ConfigError, parseConfig } from "./config.ts";
import { DEFAULT_LIMITS } from "./limits.ts";

/** Asserts that the setting stops start-up, is named, and is not repeated. */
function assertRefused(env: Record<string, string>, variable: string, allowed: RegExp): void {
  assert.throws(() => parseConfig(env), (error: Error) => {
    assert.ok(error instanceof ConfigError, error.name);
    assert.ok(error.message.startsWith(`${variable} `), error.message);
    assert.match(error.message, allowed);
    const value = env[variable];
    if (value !== undefined && value.length > 3) assert.ok(!error.message.includes(value));
    return true;
  }, `${variable}=${env[variable]}`);
}

const KEY_A = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
const KEY_B = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

Deno.test("parseConfig() gives the documented defaults for an empty environment", () => {
  const config = parseConfig({});
  assert.equal(config.port, 8000);
  assert.equal(config.host, "127.0.0.1");
  assert.equal(config.baseUrl, "http://127.0.0.1:8000");
  assert.equal(config.baseUrlGiven, false);
  assert.equal(config.dataDir, "./data");
  assert.equal(config.kvUrl, undefined);
  assert.equal(config.hosted, false);
  assert.equal(config.sharedStore, false);
  assert.equal(config.onDeploy, false);
  assert.equal(config.adminToken, undefined);
  assert.deepEqual(config.custodyKeys, []);
  assert.deepEqual(config.lostCustodyKeys, []);
  assert.equal(config.trustedProxyHops, 0);
  assert.equal(config.requireKeyProof, false);
  assert.equal(config.clockCheck, true);
  assert.deepEqual(config.limits, DEFAULT_LIMITS);
});

Deno.test("parseConfig() takes empty and blank values for unset", () => {
  assert.deepEqual(parseConfig({ PORT: "", RELAY_ADMIN_TOKEN: " ", RELAY_KV_URL: "" }), {
    ...parseConfig({}),
  });
});

Deno.test("parseConfig() reads PORT and HOST and derives the base URL from them", () => {
  assert.equal(parseConfig({ PORT: "0" }).port, 0);
  assert.equal(parseConfig({ PORT: "65535" }).port, 65535);
  assert.equal(parseConfig({ HOST: "0.0.0.0", PORT: "81" }).baseUrl, "http://0.0.0.0:81");
  assert.equal(parseConfig({ HOST: "::1" }).baseUrl, "http://[::1]:8000");
  assert.equal(parseConfig({ HOST: "[::1]" }).host, "::1");
  for (const PORT of ["65536", "-1", "80.5", "http", "0x50", "1e3"]) {
    assertRefused({ PORT }, "PORT", /integer from 0 to 65535/);
  }
  for (const HOST of ["a b", "http://x", "-x.example", "1:2", "a/b"]) {
    assertRefused({ HOST }, "HOST", /host name or an IP address/);
  }
});

Deno.test("parseConfig() takes RELAY_BASE_URL as an origin only", () => {
  const given = (RELAY_BASE_URL: string) => parseConfig({ RELAY_BASE_URL });
  assert.equal(given("https://Relay.Example/").baseUrl, "https://relay.example");
  assert.equal(given("https://relay.example:8443").baseUrl, "https://relay.example:8443");
  assert.equal(given("https://relay.example").baseUrlGiven, true);
  for (
    const RELAY_BASE_URL of [
      "relay.example",
      "ftp://relay.example",
      "https://relay.example/api",
      "https://relay.example/?a",
      "https://relay.example/#a",
      "https://user:pass@relay.example",
    ]
  ) assertRefused({ RELAY_BASE_URL }, "RELAY_BASE_URL", /scheme, host and port|begins with/);
});

Deno.test("parseConfig() counts a KV server and Deno Deploy as hosted and shared", () => {
  const server = parseConfig({
    RELAY_KV_URL: "https://kv.example/",
    DENO_KV_ACCESS_TOKEN: "secret-of-kv",
  });
  assert.equal(server.kvUrl, "https://kv.example/");
  assert.deepEqual([server.hosted, server.sharedStore, server.onDeploy], [true, true, false]);
  for (const variable of ["DENO_DEPLOY", "DENO_DEPLOYMENT_ID"]) {
    const deploy = parseConfig({ [variable]: "1", RELAY_SHARED_STORE: "false" });
    assert.deepEqual([deploy.hosted, deploy.sharedStore, deploy.onDeploy], [true, true, true]);
  }
  const local = parseConfig({ RELAY_SHARED_STORE: "true" });
  assert.deepEqual([local.hosted, local.sharedStore], [false, true]);
  assertRefused({ RELAY_KV_URL: "kv.example" }, "RELAY_KV_URL", /begins with https:/);
  assertRefused({ RELAY_KV_URL: "https://kv.example" }, "DENO_KV_ACCESS_TOKEN", /RELAY_KV_URL/);
});

Deno.test("parseConfig() refuses an admin token under 32 characters", () => {
  const token = "a".repeat(32);
  assert.equal(parseConfig({ RELAY_ADMIN_TOKEN: token }).adminToken, token);
  assertRefused({ RELAY_ADMIN_TOKEN: "b".repeat(31) }, "RELAY_ADMIN_TOKEN", /at least 32/);
  assertRefused({ RELAY_ADMIN_TOKEN: "a b".repeat(20) }, "RELAY_ADMIN_TOKEN", /without spaces/);
  assertRefused({ RELAY_ADMIN_TOKEN: "é".repeat(40) }, "RELAY_ADMIN_TOKEN", /ASCII/);
});

Deno.test("parseConfig() reads several custody keys of exactly 32 bytes in their order", () => {
  const { custodyKeys } = parseConfig({ RELAY_CUSTODY_KEY: `${KEY_A}, ${KEY_B}` });
  assert.deepEqual(custodyKeys.map((key) => [key.length, key[0]]), [[32, 0], [32, 1]]);
  for (
    const RELAY_CUSTODY_KEY of [
      "AAAA",
      KEY_A.slice(0, -1),
      `${KEY_A},`,
      `${KEY_A.slice(0, 43)}A=`,
      "not base64 at all, not at all at all at all",
      KEY_A.replace("A=", "B="),
    ]
  ) assertRefused({ RELAY_CUSTODY_KEY }, "RELAY_CUSTODY_KEY", /exactly 32 bytes/);
});

Deno.test("parseConfig() reads ids of lost custody keys, and takes no key for an id", () => {
  const ids = ["0123456789abcdef", "fedcba9876543210"];
  const { lostCustodyKeys } = parseConfig({ RELAY_LOST_CUSTODY_KEYS: ids.join(" , ") });
  assert.deepEqual(lostCustodyKeys, ids);
  for (const RELAY_LOST_CUSTODY_KEYS of ["0123", `${ids[0]},`, ids[0]!.toUpperCase(), KEY_A]) {
    assertRefused({ RELAY_LOST_CUSTODY_KEYS }, "RELAY_LOST_CUSTODY_KEYS", /16 hex digits/);
  }
});

Deno.test("parseConfig() reads switches as true or false and nothing else", () => {
  assert.equal(parseConfig({ RELAY_REQUIRE_KEY_PROOF: "true" }).requireKeyProof, true);
  assert.equal(parseConfig({ RELAY_REQUIRE_KEY_PROOF: "false" }).requireKeyProof, false);
  for (
    const variable of [
      "RELAY_REQUIRE_KEY_PROOF",
      "RELAY_SHARED_STORE",
      "RELAY_MAIL_BOUNCES",
      "RELAY_ALLOW_LOOPBACK_WEBHOOKS",
      "RELAY_WEBHOOKS",
    ]
  ) {
    for (const value of ["yes", "1", "TRUE"]) {
      assertRefused({ [variable]: value }, variable, /"true" or "false"/);
    }
  }
});

Deno.test("parseConfig() reads RELAY_TRUSTED_PROXY_HOPS and RELAY_LIMITS", () => {
  assert.equal(parseConfig({ RELAY_TRUSTED_PROXY_HOPS: "2" }).trustedProxyHops, 2);
  assertRefused(
    { RELAY_TRUSTED_PROXY_HOPS: "one" },
    "RELAY_TRUSTED_PROXY_HOPS",
    /integer from 0/,
  );
  const { limits } = parseConfig({ RELAY_LIMITS: '{"sendsPerAgentPerMinute":7}' });
  assert.equal(limits.sendsPerAgentPerMinute, 7);
  assert.equal(limits.bodyBytes, DEFAULT_LIMITS.bodyBytes);
  assertRefused({ RELAY_LIMITS: '{"sends":7}' }, "RELAY_LIMITS", /unknown limit "sends"/);
  assertRefused({ RELAY_LIMITS: "[]" }, "RELAY_LIMITS", /JSON object/);
  const tooLarge = { RELAY_LIMITS: '{"rawBodyBytes":393217}' };
  assertRefused(tooLarge, "RELAY_LIMITS", /rawBodyBytes at most 393216/);
});

Deno.test("ConfigError names its variable", () => {
  const error = new ConfigError("PORT", "must be a number");
  assert.deepEqual([error.variable, error.message], ["PORT", "PORT must be a number"]);
});

Deno.test("parseConfig() takes RELAY_CLOCK_CHECK as on or off", () => {
  assert.equal(parseConfig({ RELAY_CLOCK_CHECK: "off" }).clockCheck, false);
  assert.equal(parseConfig({ RELAY_CLOCK_CHECK: "on" }).clockCheck, true);
  assertRefused({ RELAY_CLOCK_CHECK: "false" }, "RELAY_CLOCK_CHECK", /"on" or "off"/);
});

Deno.test("parseConfig() reads RELAY_KV_HOSTS as hosts with ports", () => {
  assert.deepEqual(parseConfig({}).kvHosts, []);
  assert.deepEqual(parseConfig({ RELAY_KV_HOSTS: "data.example, [::1]:8443" }).kvHosts, [
    { host: "data.example", port: 443 },
    { host: "::1", port: 8443 },
  ]);
  assertRefused({ RELAY_KV_HOSTS: "https://data.example" }, "RELAY_KV_HOSTS", /hosts with ports/);
});

Deno.test("parseConfig() takes RELAY_OPERATOR_CONTACT as an e-mail address or a page", () => {
  const given = (contact: string) =>
    parseConfig({ RELAY_OPERATOR_CONTACT: contact }).operatorContact;
  assert.equal(parseConfig({}).operatorContact, undefined);
  assert.equal(given("operator@example.org"), "mailto:operator@example.org");
  assert.equal(given("a?subject=x&b%@example.org"), "mailto:a%3Fsubject%3Dx%26b%25@example.org");
  assert.equal(given("https://example.org/about us"), "https://example.org/about%20us");
  for (const contact of ["me", "javascript:alert(1)", "ftp://x.example", "http://", "a@b@c"]) {
    assertRefused({ RELAY_OPERATOR_CONTACT: contact }, "RELAY_OPERATOR_CONTACT", /e-mail address/);
  }
});
