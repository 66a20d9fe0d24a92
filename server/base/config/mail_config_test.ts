import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { base64 } from "@scure/base";
import { decodeInboundSecret } from "../../../toolkit/client/inbound_secret.ts";
import { parseMailConfig } from "./mail_config.ts";

function assertRefused(env: Record<string, string>, variable: string): void {
  assert.throws(() => parseMailConfig(env), (error: Error) => {
    assert.equal(error.name, "ConfigError");
    assert.ok(error.message.startsWith(`${variable} must`), error.message);
    for (const value of Object.values(env)) {
      if (value.length > 8) assert.ok(!error.message.includes(value), "repeats the value");
    }
    return true;
  }, `${variable}=${env[variable]}`);
}

const rsa = (bits: number) =>
  generateKeyPairSync("rsa", { modulusLength: bits }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  }) as string;

Deno.test("parseMailConfig() has nothing on by default", () => {
  assert.deepEqual(parseMailConfig({}), {
    connections: 10,
    bounces: true,
    dnsServers: [],
    proxies: [],
    trustedSealers: [],
    googleJwksUrl: "https://www.googleapis.com/oauth2/v3/certs",
    allowLoopbackWebhooks: false,
    webhooks: true,
    envProxy: false,
    local: false,
  });
});

Deno.test("parseMailConfig() has defaults for local mode, which other settings replace", () => {
  const RELAY_MAIL_DEV = "true";
  const { local, domain, from, postmaster, allowLoopbackWebhooks } = parseMailConfig({
    RELAY_MAIL_DEV,
  });
  assert.deepEqual({ local, domain, from, postmaster, allowLoopbackWebhooks }, {
    local: true,
    domain: "agents.test",
    from: { name: "", address: "relay@relay.test" },
    postmaster: "relay@relay.test",
    allowLoopbackWebhooks: true,
  });
  assert.equal(parseMailConfig({ RELAY_MAIL_DEV, RELAY_MAIL_DOMAIN: "a.test" }).domain, "a.test");
});

Deno.test("parseMailConfig() reads RELAY_SMTP_URL with its login decoded", () => {
  const smtp = (RELAY_SMTP_URL: string) => parseMailConfig({ RELAY_SMTP_URL }).smtp;
  assert.deepEqual(smtp("smtp://localhost:2525"), { host: "localhost", port: 2525, secure: false });
  assert.deepEqual(smtp("smtps://me%40x:p%3Aw@mail.example.org"), {
    host: "mail.example.org",
    port: 465,
    secure: true,
    user: "me@x",
    password: "p:w",
  });
  assert.equal(smtp("smtp://mail.example.org")?.port, 587);
  assert.equal(smtp("smtp://[::1]:25")?.host, "::1");
  for (
    const RELAY_SMTP_URL of [
      "mail.example.org:25",
      "http://mail.example.org",
      "smtp://user@mail.example.org",
      "smtp://:secretword@mail.example.org",
      "smtp://mail.example.org/path",
      "smtp://mail.example.org?x=1",
      "smtp://%zz:secretword@mail.example.org",
      "smtp://mail.example.org:0",
    ]
  ) assertRefused({ RELAY_SMTP_URL }, "RELAY_SMTP_URL");
});

Deno.test("parseMailConfig() reads sender and postmaster addresses", () => {
  const from = (RELAY_MAIL_FROM: string) => parseMailConfig({ RELAY_MAIL_FROM }).from;
  assert.deepEqual(from("relay@example.org"), { name: "", address: "relay@example.org" });
  assert.deepEqual(from("A Relay <r@example.org>"), { name: "A Relay", address: "r@example.org" });
  assert.deepEqual(from('"Relay, Inc" <r@localhost>'), {
    name: "Relay, Inc",
    address: "r@localhost",
  });
  const both = { RELAY_MAIL_FROM: "relay@example.org" };
  assert.equal(parseMailConfig(both).postmaster, "relay@example.org");
  assert.equal(
    parseMailConfig({ ...both, RELAY_MAIL_POSTMASTER: "pm@example.org" }).postmaster,
    "pm@example.org",
  );
  for (
    const address of [
      "relay",
      "@refused.test",
      "relay@",
      "a@b@example.org",
      "a b@example.org",
      "relay@exa_mple.org",
      `${"a".repeat(65)}@example.org`,
      "rélay@example.org",
      "Relay relay@example.org",
      "a@example.org, b@example.org",
    ]
  ) {
    assertRefused({ RELAY_MAIL_FROM: address }, "RELAY_MAIL_FROM");
    assertRefused({ RELAY_MAIL_POSTMASTER: address }, "RELAY_MAIL_POSTMASTER");
  }
});

Deno.test("parseMailConfig() reads the mail domain in lower case", () => {
  assert.equal(
    parseMailConfig({ RELAY_MAIL_DOMAIN: "Mail.Example.org" }).domain,
    "mail.example.org",
  );
  for (const RELAY_MAIL_DOMAIN of ["localhost", "127.0.0.1", "::1", "a..b", "x@y.org", ".org"]) {
    assertRefused({ RELAY_MAIL_DOMAIN }, "RELAY_MAIL_DOMAIN");
  }
});

Deno.test("parseMailConfig() reads the peers that pass connections on, addresses and ranges", () => {
  const read = (RELAY_MAIL_PROXY: string) =>
    parseMailConfig({ RELAY_MAIL_PROXY }).proxies.map(([address, bits]) => `${address}/${bits}`);
  assert.deepEqual(
    read("127.0.0.1, 10.0.0.0/24,fd00::/64,::1,::ffff:192.0.2.1,::ffff:10.0.0.0/104"),
    [
      "127.0.0.1/32",
      "10.0.0.0/24",
      "fd00::/64",
      "::1/128",
      "192.0.2.1/32",
      "10.0.0.0/8",
    ],
  );
  for (
    const RELAY_MAIL_PROXY of [
      "proxy.example",
      "10.0.0.0/33",
      "10.1",
      "0x7f.1",
      ",",
      "::1/x",
      "10.1/16",
      "::ffff:10.0.0.0/95",
    ]
  ) {
    assertRefused({ RELAY_MAIL_PROXY }, "RELAY_MAIL_PROXY");
  }
});

Deno.test("parseMailConfig() reads the receiver's address and needs both TLS files", () => {
  assert.deepEqual(parseMailConfig({ RELAY_MAIL_LISTEN: "0.0.0.0:25" }).listen, {
    host: "0.0.0.0",
    port: 25,
  });
  assert.deepEqual(parseMailConfig({ RELAY_MAIL_LISTEN: "[::]:2525" }).listen, {
    host: "::",
    port: 2525,
  });
  for (const RELAY_MAIL_LISTEN of ["25", "localhost", "::1:25", "h:0", "h:65536", "h:25/x"]) {
    assertRefused({ RELAY_MAIL_LISTEN }, "RELAY_MAIL_LISTEN");
  }
  const tls = { RELAY_MAIL_TLS_CERT: "/etc/relay/cert.pem", RELAY_MAIL_TLS_KEY: "/etc/relay/key" };
  assert.deepEqual(parseMailConfig(tls).tls, {
    certFile: "/etc/relay/cert.pem",
    keyFile: "/etc/relay/key",
  });
  assertRefused({ RELAY_MAIL_TLS_CERT: "/etc/relay/cert.pem" }, "RELAY_MAIL_TLS_KEY");
  assertRefused({ RELAY_MAIL_TLS_KEY: "/etc/relay/key.pem" }, "RELAY_MAIL_TLS_CERT");
});

Deno.test("parseMailConfig() accepts an RSA DKIM key of 2,048 bits in each form", () => {
  const pem = rsa(2048);
  const der = pem.split("\n").filter((line) => !line.startsWith("-----")).join("");
  for (const RELAY_MAIL_DKIM_KEY of [pem, pem.replaceAll("\n", "\\n"), der]) {
    const { dkim } = parseMailConfig({ RELAY_MAIL_DKIM_KEY, RELAY_MAIL_DKIM_SELECTOR: "Relay1" });
    assert.equal(dkim?.selector, "relay1");
    assert.equal(dkim?.privateKeyPem.trim(), pem.trim());
  }
});

Deno.test("parseMailConfig() refuses DKIM keys that are short, of another kind or malformed", () => {
  const selector = { RELAY_MAIL_DKIM_SELECTOR: "relay1" };
  const ed25519 = generateKeyPairSync("ed25519").privateKey.export({
    type: "pkcs8",
    format: "pem",
  }) as string;
  for (const RELAY_MAIL_DKIM_KEY of [rsa(1024), ed25519, "AAAABBBBCCCC", "-----BEGIN nothing"]) {
    assertRefused({ RELAY_MAIL_DKIM_KEY, ...selector }, "RELAY_MAIL_DKIM_KEY");
  }
  assertRefused(selector, "RELAY_MAIL_DKIM_KEY");
  assertRefused({ RELAY_MAIL_DKIM_KEY: rsa(2048) }, "RELAY_MAIL_DKIM_SELECTOR");
  assertRefused(
    { RELAY_MAIL_DKIM_KEY: rsa(2048), RELAY_MAIL_DKIM_SELECTOR: "a b" },
    "RELAY_MAIL_DKIM_SELECTOR",
  );
});

Deno.test("parseMailConfig() reads resolvers, sign-in and the inbound secret", () => {
  const mail = parseMailConfig({
    RELAY_DNS_SERVERS: "127.0.0.1:5353, [::1]:53,9.9.9.9,tcp:[::2]",
    RELAY_MAIL_TRUSTED_SEALERS: "Google.com, lists.example.org",
    RELAY_GOOGLE_CLIENT_ID: "id.apps.example",
    RELAY_GOOGLE_JWKS_URL: "http://127.0.0.1:9/certs",
    RELAY_MAIL_BOUNCES: "false",
    RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true",
    RELAY_SMTP_CA: "/etc/ca.pem",
    RELAY_SMTP_CONNECTIONS: "3",
    RELAY_WEBHOOKS: "false",
    NODE_USE_ENV_PROXY: "1",
  });
  assert.deepEqual([mail.webhooks, mail.envProxy], [false, true]);
  for (const NODE_USE_ENV_PROXY of ["", "0", "false"]) {
    assert.equal(parseMailConfig({ NODE_USE_ENV_PROXY }).envProxy, false);
  }
  assert.deepEqual(mail.trustedSealers, ["google.com", "lists.example.org"]);
  assert.deepEqual(mail.dnsServers, [
    { host: "127.0.0.1", port: 5353 },
    { host: "::1", port: 53 },
    { host: "9.9.9.9", port: 53 },
    { host: "::2", port: 53, tcp: true },
  ]);
  assert.equal(mail.googleClientId, "id.apps.example");
  assert.equal(mail.googleJwksUrl, "http://127.0.0.1:9/certs");
  assert.deepEqual([mail.bounces, mail.allowLoopbackWebhooks], [false, true]);
  assert.equal(mail.smtpCaFile, "/etc/ca.pem");
  assert.equal(mail.connections, 3);
  assert.equal(parseMailConfig({}).connections, 10);
  for (const RELAY_SMTP_CONNECTIONS of ["2", "101", "many"]) {
    assertRefused({ RELAY_SMTP_CONNECTIONS }, "RELAY_SMTP_CONNECTIONS");
  }
  for (const RELAY_MAIL_TRUSTED_SEALERS of ["google", "a b.example", "x.example,", "*.example"]) {
    assertRefused({ RELAY_MAIL_TRUSTED_SEALERS }, "RELAY_MAIL_TRUSTED_SEALERS");
  }
  for (
    const RELAY_DNS_SERVERS of [
      "dns.example:53",
      "127.0.0.9:53,",
      "127.0.0.1:99999",
      "udp:127.0.0.1",
      "tcp:",
    ]
  ) {
    assertRefused({ RELAY_DNS_SERVERS }, "RELAY_DNS_SERVERS");
  }
  assertRefused({ RELAY_GOOGLE_CLIENT_ID: "two words of it" }, "RELAY_GOOGLE_CLIENT_ID");
  assertRefused({ RELAY_GOOGLE_JWKS_URL: "file:///etc/keys" }, "RELAY_GOOGLE_JWKS_URL");
});

Deno.test("parseMailConfig() decodes the inbound secret, as the toolkit does that signs with it", () => {
  const secret = Uint8Array.from({ length: 24 }, (_, i) => 255 - i);
  const text = base64.encode(secret);
  for (const RELAY_MAIL_INBOUND_SECRET of [text, `whsec_${text}`, `  whsec_${text}\n`]) {
    assert.deepEqual(parseMailConfig({ RELAY_MAIL_INBOUND_SECRET }).inboundSecret, secret);
    assert.deepEqual(decodeInboundSecret(RELAY_MAIL_INBOUND_SECRET), secret);
  }
  for (
    const RELAY_MAIL_INBOUND_SECRET of [
      "s".repeat(33),
      base64.encode(secret.subarray(1)),
      `whsec_whsec_${text}`,
      `${text.slice(0, -2)} w`,
      `whsec_${text}=`,
      "whsec_",
    ]
  ) {
    assert.equal(decodeInboundSecret(RELAY_MAIL_INBOUND_SECRET), null);
    assertRefused({ RELAY_MAIL_INBOUND_SECRET }, "RELAY_MAIL_INBOUND_SECRET");
  }
});

Deno.test("parseMailConfig() refuses a receiver whose postmaster is at its own domain", () => {
  const receiver = {
    RELAY_MAIL_LISTEN: "127.0.0.1:2525",
    RELAY_MAIL_DOMAIN: "mail.example.org",
    RELAY_MAIL_FROM: "relay@Mail.Example.Org",
  };
  assertRefused(receiver, "RELAY_MAIL_POSTMASTER");
  const elsewhere = { ...receiver, RELAY_MAIL_POSTMASTER: "pm@example.org" };
  assert.equal(parseMailConfig(elsewhere).postmaster, "pm@example.org");
  assertRefused(
    { ...elsewhere, RELAY_MAIL_POSTMASTER: "pm@mail.example.org" },
    "RELAY_MAIL_POSTMASTER",
  );
  const { RELAY_MAIL_LISTEN: _, ...silent } = receiver;
  assert.equal(parseMailConfig(silent).postmaster, receiver.RELAY_MAIL_FROM);
});
