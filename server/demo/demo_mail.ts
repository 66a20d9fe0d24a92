/** The demo's second half: the same key gets an e-mail inbox, and mail goes both ways. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync } from "node:crypto";
import { injectMail } from "../../toolkit/client/inject_mail.ts";
import { registerForMail } from "../../toolkit/client/register_for_mail.ts";
import { dkimRecordName } from "../../toolkit/mail/dkim_record.ts";
import type { KeyPair } from "../../toolkit/mod.ts";
import { dkimRecord } from "../../toolkit/node/dkim_key.ts";
import { show, step } from "./demo_step.ts";

/** What the operator of the demo's relay has set: local mode, a gateway's secret, a key that signs. */
export interface MailDemo {
  /** Settings of the relay. */
  settings: Record<string, string>;
  inboundSecret: string;
  dkim: { domain: string; selector: string; privateKeyPem: string };
}

const PERSON = "pat@example.org";
const NOBODY = "nobody@bounce.test";
const ASK_EVERY_MS = 50;
const WAIT_MS = 20_000;

/** Makes the secrets of a demo. */
export function prepareMailDemo(): MailDemo {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const dkim = { domain: "agents.test", selector: "demo", privateKeyPem };
  const random = crypto.getRandomValues(new Uint8Array(32));
  const inboundSecret = `whsec_${Buffer.from(random).toString("base64")}`;
  const settings = {
    RELAY_MAIL_DEV: "true",
    RELAY_MAIL_INBOUND_SECRET: inboundSecret,
    RELAY_MAIL_DKIM_KEY: privateKeyPem,
    RELAY_MAIL_DKIM_SELECTOR: dkim.selector,
  };
  return { settings, inboundSecret, dkim };
}

/** Talks to a relay with an API key. */
class MailCaller {
  key: string | null = null;

  constructor(readonly relay: string) {}

  /** @throws AssertionError for another status */
  // deno-lint-ignore no-explicit-any -- JSON; each step asserts the fields it shows
  async ask(method: string, path: string, status: number, body?: unknown): Promise<any> {
    const answer = await fetch(`${this.relay}${path}`, {
      method,
      headers: this.key === null ? {} : { Authorization: `Bearer ${this.key}` },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.equal(answer.status, status, `${method} ${path} answered ${answer.status}: ${text}`);
    return text.startsWith("{") ? JSON.parse(text) : text;
  }

  /** The newest mail that has left for an address, once there is one. */
  // deno-lint-ignore no-explicit-any -- as above
  captured(to: string): Promise<any> {
    return eventually(async () => {
      const { data } = await this.ask("GET", "/dev/mail", 200);
      const mail = data.find(({ envelope }: { envelope: { to: string[] } }) =>
        envelope.to.includes(to)
      );
      return mail === undefined ? null : await this.ask("GET", `/dev/mail/${mail.n}`, 200);
    });
  }
}

/** Asks until there is an answer. */
async function eventually<T>(ask: () => Promise<T | null>): Promise<T> {
  for (let waitedMs = 0; waitedMs < WAIT_MS; waitedMs += ASK_EVERY_MS) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error(`nothing came within ${WAIT_MS / 1000} s`);
}

/** All steps; each throws when it does not hold. */
export async function exchangeMail(
  relay: string,
  keys: KeyPair,
  { inboundSecret, dkim }: MailDemo,
): Promise<void> {
  const caller = new MailCaller(relay);

  step("Alice's key registers for e-mail by a signature: an org, and its API key");
  const org = await registerForMail({ relay, keys }, "demo");
  caller.key = org.api_key;
  show(
    `${org.org_id} is a trial for ${org.expires_in_hours} hours, which receives and cannot send`,
  );

  step("A person claims the org, by the link in a mail that local mode kept");
  await caller.ask("POST", "/v1/mail/org/claim", 202, { email: PERSON });
  const claim = await caller.captured(PERSON);
  const [link] = claim.links.filter((one: string) => one.includes("/claim/confirm?token="));
  const { pathname, searchParams } = new URL(link);
  const { verified_email } = await caller.ask("POST", pathname, 200, {
    token: searchParams.get("token"),
  });
  assert.equal(verified_email, PERSON);
  show(`"${claim.subject}" was opened; the org belongs to ${verified_email} and may send`);

  step("The org makes an inbox");
  const inbox = await caller.ask("POST", "/v1/mail/inboxes", 201, { local_part: "alice" });
  show(`${inbox.address}, ${inbox.status}`);

  const question = await receiveMail(caller, inbox, inboundSecret);
  await answerMail(caller, question, dkim);
  await meetBounce(caller, inbox);
}

async function receiveMail(
  caller: MailCaller,
  inbox: { id: string; address: string },
  secret: string,
) {
  step("A mail server hands in what the person wrote, signed with the secret that both know");
  const lines = [
    `From: Pat <${PERSON}>`,
    `To: ${inbox.address}`,
    "Subject: Lunch?",
    `Message-ID: <${crypto.randomUUID()}@example.org>`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    "",
    "Is noon all right? The door's code is 4711.",
    "",
  ];
  const { accepted } = await injectMail(
    { relay: caller.relay, secret },
    { from: PERSON, to: [inbox.address] },
    new TextEncoder().encode(lines.join("\r\n")),
  );
  assert.deepEqual(accepted, [inbox.address]);
  const { data: [row] } = await caller.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`, 200);
  const message = await caller.ask("GET", `/v1/mail/messages/${row.id}`, 200);
  assert.equal(message.subject, "Lunch?");
  assert.deepEqual(message.codes.map(({ value }: { value: string }) => value), ["4711"]);
  show(`from ${message.from.address}: "${message.subject}" ${message.extracted_text.trim()}`);
  show(
    `  found in it: the code ${message.codes[0].value}; sender checked: ${message.auth.verdict}`,
  );
  return message;
}

async function answerMail(
  caller: MailCaller,
  question: { id: string; rfc_message_id: string },
  dkim: MailDemo["dkim"],
) {
  step("The agent answers; the relay composes and signs the mail, and hands it to the next hop");
  const path = `/v1/mail/messages/${question.id}/reply`;
  const answer = await caller.ask("POST", path, 202, { text: "Noon is fine." });
  const sent = await eventually(async () => {
    const message = await caller.ask("GET", `/v1/mail/messages/${answer.id}`, 200);
    return message.status === "sent" ? message : null;
  });
  assert.equal(sent.in_reply_to, question.rfc_message_id);
  show(`"${sent.subject}" to ${sent.recipients[0].address}: ${sent.recipients[0].status}`);

  step("A receiver verifies its DKIM signature by the published key, and a changed copy fails");
  const { n } = await caller.captured(PERSON);
  const raw = await caller.ask("GET", `/dev/mail/${n}/raw`, 200);
  assert.equal(await dkimVerdict(raw, dkim), "pass");
  const altered = raw.replace("Noon is fine.", "Noon is late.");
  assert.notEqual(altered, raw);
  assert.equal(await dkimVerdict(altered, dkim), "neutral");
  show(`TXT ${dkimRecordName(dkim)} has the key: as sent pass; with one word changed, no pass`);
}

/** What a receiver finds, who asks DNS for the key. */
async function dkimVerdict(raw: string, dkim: MailDemo["dkim"]): Promise<string | undefined> {
  const { dkimVerify } = await import("mailauth/lib/dkim/verify.js");
  const { results } = await dkimVerify(Buffer.from(raw), {
    // deno-lint-ignore require-await -- a resolver is one that answers later
    resolver: async (name: string) =>
      name === dkimRecordName(dkim) ? [[dkimRecord(dkim.privateKeyPem)]] : [],
  });
  return results[0]?.status.result;
}

async function meetBounce(caller: MailCaller, inbox: { id: string }): Promise<void> {
  step("A mail to an address that does not exist bounces, and the relay remembers");
  const path = `/v1/mail/inboxes/${inbox.id}/messages/send`;
  const request = { to: NOBODY, subject: "Hello", text: "Is anybody there?" };
  const sent = await caller.ask("POST", path, 202, request);
  const [recipient] = await eventually(async () => {
    const message = await caller.ask("GET", `/v1/mail/messages/${sent.id}`, 200);
    return message.status === "bounced" ? message.recipients : null;
  });
  assert.deepEqual([recipient.smtp_code, recipient.enhanced_code], [550, "5.1.1"]);
  show(
    `${recipient.address}: ${recipient.status}, ${recipient.smtp_code} ${recipient.enhanced_code} ` +
      `"${recipient.detail}"`,
  );
  const { error } = await caller.ask("POST", path, 422, request);
  assert.equal(error.code, "recipient_suppressed");
  show(`  sent once more: refused with ${error.code}`);
}
