import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { injectMail } from "./inject_mail.ts";

const SECRET = `whsec_${btoa("0123456789abcdefghijklmn")}`;
const MAIL = new TextEncoder().encode("Subject: hello\r\n\r\nworld\r\n");
const ENVELOPE = { from: "a@relay.example", to: ["b@relay.example"], client_helo: "m\u00e9" };

/** A relay that keeps what it is sent and answers in turn. */
function keeping(...answers: (() => Response)[]) {
  const sent: { url: string; headers: Headers; body: Uint8Array }[] = [];
  const options = {
    relay: "https://relay.example",
    secret: SECRET,
    clock: {
      now: () => 1_760_000_000_999,
      // Never fires: the answers are there at once.
      after: (_: number, _callback: () => void) => () => {},
    },
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const { headers, body } = init!;
      sent.push({
        url: String(input),
        headers: new Headers(headers),
        body: new Uint8Array(body as Uint8Array<ArrayBuffer>),
      });
      return Promise.resolve(answers.shift()!());
    },
  };
  return { sent, options };
}

const accepted = () =>
  Response.json({
    accepted: ["b@relay.example"],
    rejected: [{ address: "c@relay.example", code: "not_found" }],
  });

Deno.test("injectMail() signs id, time, envelope and the raw bytes", async () => {
  const { sent, options } = keeping(accepted);
  assert.deepEqual(await injectMail(options, ENVELOPE, MAIL), {
    accepted: ["b@relay.example"],
    rejected: [{ address: "c@relay.example", code: "not_found" }],
  });
  const [{ url, headers, body }] = sent as [typeof sent[0]];
  assert.equal(url, "https://relay.example/v1/mail/inbound/raw");
  assert.equal(headers.get("content-type"), "message/rfc822");
  assert.deepEqual(body, MAIL);
  const envelope = headers.get("x-relay-envelope")!;
  assert.match(envelope, /^[ -~]+$/);
  assert.deepEqual(JSON.parse(envelope), ENVELOPE);
  assert.equal(headers.get("webhook-timestamp"), "1760000000");
  const signed = createHmac("sha256", "0123456789abcdefghijklmn")
    .update(`${headers.get("webhook-id")}.1760000000.${envelope}.`).update(MAIL).digest("base64");
  assert.equal(headers.get("webhook-signature"), `v1,${signed}`);
});

Deno.test("injectMail() tries again under one id, and not where mail is off", async () => {
  const unavailable = () =>
    Response.json({ error: { code: "unavailable", message: "full" } }, { status: 503 });
  const disabled = () =>
    Response.json({ error: { code: "mail_disabled", message: "off" } }, { status: 503 });
  const first = keeping(unavailable, accepted);
  let isGuard = true;
  first.options.clock.after = (_, callback) => {
    if (!isGuard) callback();
    isGuard = !isGuard;
    return () => {};
  };
  await injectMail(first.options, ENVELOPE, MAIL);
  const ids = first.sent.map(({ headers }) => headers.get("webhook-id"));
  assert.deepEqual([ids.length, new Set(ids).size], [2, 1]);
  const second = keeping(disabled);
  await assert.rejects(injectMail(second.options, ENVELOPE, MAIL), {
    name: "RefusalError",
    code: "mail_disabled",
    status: 503,
  });
});

Deno.test("injectMail() refuses a secret that is none, without repeating it", async () => {
  const short = btoa("too short");
  for (
    const secret of ["", "whsec_", short, `whsec_${short}`, "not base64 at all !!!!!!!!!!!!!!!"]
  ) {
    const options = { ...keeping().options, secret };
    await assert.rejects(
      injectMail(options, ENVELOPE, MAIL),
      (thrown: Error) => thrown instanceof TypeError && !/dG9vIHNob3J0|at all/.test(thrown.message),
    );
  }
});
