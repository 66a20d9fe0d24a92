/**
 * Every setting of a relay, in a start under exactly the permissions that `deno task permissions` prints:
 * a setting that needs more stops here, not on somebody's machine.
 */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SETTING_NAMES } from "../../server/base/config/setting_names.ts";
import { encodeBase64Key, newKey } from "../support/custody_key.ts";
import { TEST_INBOUND_SECRET } from "../support/inbound_secret.ts";
import { findKvServer, startKvServer } from "../support/kv_server.ts";
import { askMail } from "../support/mail_relay.ts";
import { dkimKey } from "../support/outgoing_mail.ts";
import { startScriptedSmtp } from "../support/scripted_smtp.ts";
import { type PrintedRelay, startWithPrintedPermissions } from "./printed_permissions.ts";

type Settings = Record<string, string>;

const CERTIFICATES = fileURLToPath(new URL("../base/outgoing/certificates/", import.meta.url));
const pem = (name: string) => join(CERTIFICATES, `${name}.pem`);
/** Reaches this machine by an address that does not count as loopback: TLS is checked. */
const ANOTHER_HOST = "0.0.0.0";

/** Settings by the starts that have them, with the least that each start needs in addition. */
const STARTS = {
  "one process": () => ({
    HOST: "127.0.0.1",
    RELAY_BASE_URL: "https://relay.example",
    RELAY_ADMIN_TOKEN: "a-token-of-tests-of-32-characters",
    RELAY_OPERATOR_CONTACT: "operator@example.org",
    RELAY_CUSTODY_KEY: encodeBase64Key(newKey()),
    RELAY_LOST_CUSTODY_KEYS: "0123456789abcdef",
    RELAY_TRUSTED_PROXY_HOPS: "1",
    RELAY_CLOCK_CHECK: "off",
    RELAY_REQUIRE_KEY_PROOF: "true",
    RELAY_KV_HOSTS: "kv.example:443",
    RELAY_LIMITS: JSON.stringify({ sendsPerAgentPerMinute: 120 }),
  }),
  "processes on one file": () => ({ RELAY_SHARED_STORE: "true" }),
  "local mode": () => ({ RELAY_MAIL_DEV: "true" }),
  "mail": () => ({
    RELAY_SMTP_URL: "smtps://127.0.0.1:9",
    RELAY_SMTP_CA: pem("ca"),
    RELAY_SMTP_CONNECTIONS: "4",
    RELAY_MAIL_FROM: "Relay <relay@relay.example>",
    RELAY_MAIL_DOMAIN: "agents.example",
    RELAY_MAIL_POSTMASTER: "postmaster@example.org",
    RELAY_MAIL_BOUNCES: "false",
    RELAY_MAIL_LISTEN: "127.0.0.1:2525",
    RELAY_MAIL_PROXY: "127.0.0.1,fd00::/64",
    RELAY_MAIL_TLS_CERT: pem("server"),
    RELAY_MAIL_TLS_KEY: pem("server_key"),
    RELAY_MAIL_TRUSTED_SEALERS: "lists.example.org",
    RELAY_MAIL_INBOUND_SECRET: Buffer.from(TEST_INBOUND_SECRET).toString("base64"),
    RELAY_MAIL_DKIM_KEY: dkimKey().privateKeyPem,
    RELAY_MAIL_DKIM_SELECTOR: "relay1",
    RELAY_DNS_SERVERS: "127.0.0.1:53",
    RELAY_GOOGLE_CLIENT_ID: "id.apps.example",
    RELAY_GOOGLE_JWKS_URL: "http://127.0.0.1:9/keys",
    RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true",
    RELAY_WEBHOOKS: "true",
    NODE_USE_ENV_PROXY: "0",
  }),
} satisfies Record<string, () => Settings>;

/** Settings that the starts above do not have, and why. */
const ELSEWHERE: Settings = {
  PORT: "each start here has a free one",
  RELAY_DATA_DIR: "each start here has one",
  RELAY_KV_URL: "the start on a KV server, where the machine has one",
  DENO_KV_ACCESS_TOKEN: "goes with RELAY_KV_URL",
  DENO_DEPLOY: "Deno Deploy sets it, and gives permissions of its own",
  DENO_DEPLOYMENT_ID: "as DENO_DEPLOY",
};

Deno.test("every setting of a relay is in a start under the printed permissions", () => {
  const given = Object.values(STARTS).flatMap((settings) => Object.keys(settings()));
  assert.deepEqual([...given, ...Object.keys(ELSEWHERE)].sort(), [...SETTING_NAMES].sort());
});

/** Mail wants 2 GiB free, which machines of tests may not have. */
const ROOM_FOR_MAIL = { RELAY_LIMITS: JSON.stringify({ mailMinFreeDiskBytes: 0 }) };

async function assertServes(relay: PrintedRelay): Promise<void> {
  for (const path of ["/health/db", "/openapi.json", "/docs"]) {
    const answer = await fetch(relay.url + path);
    await answer.body?.cancel();
    assert.equal(answer.status, 200, path);
  }
  const { stderr } = await relay.end();
  assert.doesNotMatch(stderr, /NotCapable|Requires \w+ access/);
}

for (const [name, settings] of Object.entries(STARTS)) {
  Deno.test(`a relay starts under the printed permissions: ${name}`, async () => {
    const env: Settings = { ...ROOM_FOR_MAIL, ...settings() };
    await using relay = await startWithPrintedPermissions(env);
    await assertServes(relay);
  });
}

const kvServer = findKvServer();
Deno.test({
  name: "a relay starts under the printed permissions: a KV server",
  ignore: kvServer === null,
  async fn() {
    await using server = await startKvServer(kvServer!);
    const env = { ...server.env, RELAY_CUSTODY_KEY: encodeBase64Key(newKey()) };
    await using relay = await startWithPrintedPermissions(env);
    await assertServes(relay);
  },
});

Deno.test("a relay under the printed permissions mails by a next hop whose certificate rests on RELAY_SMTP_CA", async () => {
  const [key, cert] = await Promise.all(
    ["server_key", "server"].map((name) => Deno.readTextFile(pem(name))),
  );
  await using smtp = startScriptedSmtp({ key: key!, cert: cert! });
  const RELAY_SMTP_URL = `smtps://${ANOTHER_HOST}:${smtp.port}`;
  const env = { ...ROOM_FOR_MAIL, ...STARTS.mail(), RELAY_SMTP_URL };
  await using relay = await startWithPrintedPermissions(env);
  const arrived = smtp.reached("content");
  const asked = await askMail(relay.url, "POST", "/v1/mail/org/magic", {
    body: { email: "owner@example.org" },
  });
  assert.equal(asked.status, 202);
  await arrived;
  assert.match(smtp.contents[0]!, /^To: owner@example\.org\r?$/m);
});
