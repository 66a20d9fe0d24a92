/** The gateways of docs/mail.md against a relay: what they sign is read by it, what it answers by them. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Webhook } from "standardwebhooks";
import cloudflare from "../../../docs/examples/cloudflare_mail.mjs";
import { createHandler } from "../../../docs/examples/ses_mail.mjs";
import { signInbound as signByToolkit } from "../../../toolkit/client/sign_inbound.ts";
import { mailText } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { registerOrg, startMailRelay } from "../../support/mail_relay.ts";
import { startTestServer } from "../../support/test_server.ts";

const SECRET = `whsec_${Buffer.from(TEST_INBOUND_SECRET).toString("base64")}`;

/** A relay of today with an inbox. */
async function startWorld() {
  const relay = await startMailRelay({ clockStartMs: "real" });
  const { orgId, apiKey } = await registerOrg(relay);
  const holder = new MailKeyHolder(relay.url, apiKey, orgId);
  const inbox = await holder.inbox({ local_part: "bot" });
  return {
    env: { RELAY_URL: relay.url, RELAY_MAIL_INBOUND_SECRET: SECRET },
    holder,
    inbox,
    // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
    async messages(): Promise<any[]> {
      const path = `/v1/mail/inboxes/${inbox.id}/messages?order=asc`;
      return accepted(await holder.ask("GET", path), 200).data;
    },
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  };
}

/** What Cloudflare calls the worker with. */
function cloudflareMessage(raw: string, to: string, from: string | null = "sender@else.test") {
  const bytes = new TextEncoder().encode(raw);
  return {
    from,
    to,
    headers: new Headers(),
    raw: new Blob([bytes]).stream(),
    rawSize: bytes.length,
    rejected: [] as string[],
    setReject(reason: string) {
      this.rejected.push(reason);
    },
  };
}

async function withAnswer<T>(
  answer: () => Response,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = startTestServer(answer);
  try {
    return await work(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.close();
  }
}

const refused = (status: number, code: string, message = "why") => () =>
  Response.json({ error: { code, message } }, { status });
const nobody = (code: string) =>
  refused(404, "not_found", `no recipient of this message has an inbox here (${code}: 1)`);

Deno.test("the Cloudflare worker hands a message in, once for all its tries", async () => {
  await using world = await startWorld();
  const raw = mailText({ text: "Gr\u00fc\u00dfe\r\n" });
  for (let tries = 0; tries < 2; tries++) {
    const message = cloudflareMessage(raw, world.inbox.address);
    await cloudflare.email(message, world.env);
    assert.deepEqual(message.rejected, []);
  }
  const [row, ...others] = await world.messages();
  assert.equal(others.length, 0);
  assert.deepEqual(row.envelope, { from: "sender@else.test", to: [world.inbox.address] });
  assert.equal((await world.holder.ask("GET", `/v1/mail/messages/${row.id}/raw`)).body, raw);
  const bounce = cloudflareMessage(mailText(), world.inbox.address, null);
  await cloudflare.email(bounce, world.env);
  assert.equal((await world.messages())[1].envelope.from, "");
});

Deno.test("the Cloudflare worker refuses for ever what is final, and throws what passes", async () => {
  await using world = await startWorld();
  const unknown = cloudflareMessage(mailText(), "nobody@agents.test");
  await cloudflare.email(unknown, world.env);
  assert.deepEqual(unknown.rejected, ["5.1.1 No such inbox"]);
  const wrong = { ...world.env, RELAY_MAIL_INBOUND_SECRET: btoa("x".repeat(24)) };
  await assert.rejects(
    cloudflare.email(cloudflareMessage(mailText(), world.inbox.address), wrong),
    /the relay answered 401 invalid_signature/,
  );
  const cases: [() => Response, string | RegExp][] = [
    [nobody("blocked"), "5.7.1 Refused"],
    [refused(413, "payload_too_large"), "5.3.4 Message too large"],
    [refused(400, "invalid_json"), "5.6.0 Not a message for the relay"],
    [refused(404, "not_found"), /404/],
    [refused(503, "unavailable"), /503 unavailable/],
    [() => new Response("a proxy", { status: 502 }), /502/],
  ];
  for (const [answer, expected] of cases) {
    await withAnswer(answer, async (url) => {
      const message = cloudflareMessage(mailText(), world.inbox.address);
      const run = cloudflare.email(message, { ...world.env, RELAY_URL: url });
      if (expected instanceof RegExp) await assert.rejects(run, expected);
      else {
        await run;
        assert.deepEqual(message.rejected, [expected]);
      }
    });
  }
  // What is no ASCII is escaped in the header.
  const accented = cloudflareMessage(mailText(), world.inbox.address, "s\u00fc@else.test");
  await cloudflare.email(accented, world.env);
  assert.deepEqual(accented.rejected, ["5.6.0 Not a message for the relay"]);
  const large = { ...cloudflareMessage("", world.inbox.address), rawSize: 26_214_401 };
  await cloudflare.email(large, world.env);
  assert.deepEqual(large.rejected, ["5.3.4 Message too large"]);
});

/** The notification of a receipt rule with an S3 action, as SNS gives it to Lambda. */
function sesEvent(recipients: string[], received: string, messageId = "o3vrnil0e2ic28tr") {
  const notification = {
    notificationType: "Received",
    mail: {
      timestamp: "2026-11-22T10:00:00.000Z",
      source: "sender@else.test",
      messageId,
      destination: recipients,
      headersTruncated: false,
      headers: [
        { name: "Return-Path", value: "<sender@else.test>" },
        { name: "Received", value: received },
        {
          name: "Received",
          value:
            "from forged (forged [203.0.113.66]) by inbound-smtp.eu-west-1.amazonaws.com with SMTP",
        },
      ],
    },
    receipt: {
      recipients,
      spfVerdict: { status: "PASS" },
      action: { type: "S3", topicArn: "arn:aws:sns:x", bucketName: "mails", objectKey: messageId },
    },
  };
  return { Records: [{ EventSource: "aws:sns", Sns: { Message: JSON.stringify(notification) } }] };
}

const FROM_SES =
  "from mx.else.test (mx.else.test [192.0.2.7]) by inbound-smtp.us-east-1.amazonaws.com " +
  "with SMTP id o3vrnil0e2ic28tr for bot@agents.test; Fri, 11 Sep 2026 20:32:33 +0000 (UTC)";

Deno.test("the SES function hands in what S3 holds, with the client that SES saw", async () => {
  await using world = await startWorld();
  const raw = mailText({ text: "from SES\r\n" });
  const envelopes: unknown[] = [];
  const asked: string[] = [];
  const handler = createHandler({
    getObject: (bucket: string, key: string) => {
      asked.push(`${bucket}/${key}`);
      return Promise.resolve(new TextEncoder().encode(raw));
    },
    fetch: (url: URL, init: RequestInit) => {
      envelopes.push(JSON.parse(new Headers(init.headers).get("x-relay-envelope")!));
      return fetch(url, init);
    },
    env: world.env,
  });
  const to = [world.inbox.address, "nobody@agents.test"];
  await handler(sesEvent(to, FROM_SES));
  await handler(sesEvent(to, FROM_SES)); // SNS delivers at least once
  await handler(sesEvent(to, "from elsewhere by another.example", "another"));
  assert.deepEqual(asked.slice(0, 2), ["mails/o3vrnil0e2ic28tr", "mails/o3vrnil0e2ic28tr"]);
  const whom = { from: "sender@else.test", to };
  const client = { client_ip: "192.0.2.7", client_helo: "mx.else.test" };
  assert.deepEqual(envelopes, [{ ...whom, ...client }, { ...whom, ...client }, whom]);
  const rows = await world.messages();
  assert.deepEqual(rows.map(({ size }) => size), [raw.length]);
  await handler({
    Records: [{ Sns: { Message: '{"notificationType":"AmazonSnsSubscriptionSucceeded"}' } }],
  });
});

Deno.test("the SES function throws what passes, so that it is tried again, and ends what is final", async () => {
  const answers: [() => Response, boolean][] = [
    [nobody("not_found"), true],
    [refused(413, "payload_too_large"), true],
    [refused(400, "invalid_json"), true],
    [refused(404, "not_found"), false],
    [refused(401, "invalid_signature"), false],
    [refused(503, "unavailable"), false],
    [() => new Response("a proxy", { status: 502 }), false],
  ];
  for (const [answer, isFinal] of answers) {
    await withAnswer(answer, async (url) => {
      const handler = createHandler({
        getObject: () => Promise.resolve(new Uint8Array(3)),
        fetch,
        env: { RELAY_URL: url, RELAY_MAIL_INBOUND_SECRET: SECRET },
      });
      const run = handler(sesEvent(["a@b.c"], FROM_SES));
      if (isFinal) await run;
      else await assert.rejects(run, /the relay answered/);
    });
  }
});

Deno.test("what the toolkit signs is a Standard Webhooks signature", () => {
  const envelope = { from: "a@example.org", to: ["bot@agents.example"] };
  const raw = mailText();
  const timestamp = Math.floor(Date.now() / 1000);
  const request = { secret: SECRET, id: "inj_1", timestamp, envelope };
  const headers = signByToolkit(request, new TextEncoder().encode(raw));
  const payload = (text: string) => `${JSON.stringify(envelope)}.${text}`;
  const verify = (text: string) => new Webhook(SECRET).verify(payload(text), headers);
  // The library reads what it has verified as JSON, which a mail is not.
  assert.throws(() => verify(raw), SyntaxError);
  assert.throws(() => verify(`${raw}x`), /No matching signature/);
});
