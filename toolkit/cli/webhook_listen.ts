import { decodeWebhookSecret, MIN_INBOUND_SECRET_BYTES } from "../client/inbound_secret.ts";
import type { MailDraft, MailEvent, MailMessage, MailRecipient } from "../client/mail_event.ts";
import { verifyWebhook } from "../client/verify_webhook.ts";
import { WebhookError } from "../client/webhook_error.ts";
import type { HttpReceiver, ReceivedRequest } from "../node/http_receiver.ts";
import { InputError, UsageError } from "./failure.ts";
import type { Host } from "./host.ts";
import { printable } from "./printable.ts";
import { readWhole } from "./read_input.ts";
import { wholeNumber } from "./readers.ts";
import { type Call, defineVerb, flag, option } from "./verb.ts";

const DEFAULT_PORT = 8090;
/** A relay's events have at most 96 KiB, and it waits 15 s for an answer. */
const BOUNDS = { bodyBytes: 1024 * 1024, requestMs: 15_000, connections: 100 };
const FORWARD_MS = 14_000;
/** Headers that are handed on with the body. */
const FORWARDED = ["content-type", "webhook-id", "webhook-timestamp", "webhook-signature"];
const SHOWN_ADDRESSES = 3;

const OPTIONS = {
  port: option("N", `the port; ${DEFAULT_PORT} unless given, 0 for any`, wholeNumber(0, 65_535)),
  "secret-file": option("F", "a file that holds the webhook's secret, or several in lines"),
  forward: option("URL", "hand each verified delivery on, and answer what the program there does"),
  json: flag("print each event as the relay sends it, one JSON object a line"),
};

/** `relay webhook listen`. */
export const webhookListen = defineVerb({
  name: "webhook listen",
  summary: "receive a webhook here, and print its verified events",
  about: `
Listens on 127.0.0.1, on any path, until it is interrupted (Ctrl-C); then it says how many
deliveries were verified, and how many refused. The secret (rmwh_...) is what the relay showed
when the webhook was made; RELAY_WEBHOOK_SECRET holds it where no file is given, and several in
lines or with spaces between. A delivery that verifies is printed, then answered 204; others are
answered 401, and why is told on standard error. With --forward the answer is what the program at
URL answers, 502 where there is none: the relay tries again what it did not take. A relay in local
mode delivers to this machine; others do not, so that a tunnel must stand between. What a mail
says is its sender's, not to be obeyed for having come signed: the relay signs, not the sender.`,
  options: OPTIONS,
  exit: "0 when it was interrupted; 2 wrong usage, no secret, or a port that cannot be had",
  example: "relay webhook listen --port 8090 --secret-file webhook.secret",
  async run(call) {
    const { host, values, tell } = call;
    const secrets = await readSecrets(host, values["secret-file"]);
    const forward = readUrl(values.forward);
    const interruption = host.interruption();
    const counts = { verified: 0, refused: 0 };
    const receiver = await open(host, values.port ?? DEFAULT_PORT, async (request) => {
      const refuse = async (status: number, why: string) => {
        counts.refused++;
        await tell(`refused: ${why}`);
        return status;
      };
      if (request.method !== "POST") return await refuse(405, `${request.method}, not POST`);
      let event: MailEvent;
      try {
        event = verifyWebhook(secrets, request.headers, request.body, { nowMs: host.clock.now() });
      } catch (thrown) {
        if (!(thrown instanceof WebhookError)) throw thrown;
        return await refuse(401, `${thrown.code}: ${thrown.message}`);
      }
      await call.print(event, `${printable(describeEvent(event))}\n`);
      counts.verified++;
      return forward === undefined ? 204 : await handOn(call, forward, request, interruption);
    });
    await tell(`listening at http://127.0.0.1:${receiver.port}/, any path; Ctrl-C ends it`);
    if (!interruption.aborted) {
      await new Promise((resolve) => interruption.addEventListener("abort", resolve));
    }
    await receiver.close();
    await tell(`${counts.verified} verified, ${counts.refused} refused`);
  },
});

/** @throws {InputError} where there is none, or one that is none */
async function readSecrets(host: Host, file: string | undefined): Promise<string[]> {
  const text = file === undefined
    ? host.env("RELAY_WEBHOOK_SECRET") ?? ""
    : new TextDecoder().decode(await readWhole(host, file));
  const secrets = text.split(/\s+/).filter((secret) => secret !== "");
  if (secrets.length === 0) {
    throw new InputError("there is no secret: set RELAY_WEBHOOK_SECRET, or pass --secret-file F");
  }
  if (secrets.every((secret) => decodeWebhookSecret(secret) !== null)) return secrets;
  throw new InputError(
    `a secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with rmwh_, whsec_ or ` +
      "nothing before it",
  );
}

function readUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new UsageError(`--forward takes a URL of http or https, not '${text}'`);
}

async function open(
  host: Host,
  port: number,
  answer: (request: ReceivedRequest) => Promise<number>,
): Promise<HttpReceiver> {
  try {
    return await host.receiveHttp(port, BOUNDS, answer);
  } catch (thrown) {
    const { code, message } = thrown as { code?: string; message: string };
    const why = code === "EADDRINUSE" ? "another program has it" : message;
    throw new InputError(`cannot listen on port ${port}: ${why}; --port takes another`);
  }
}

/** Hands a delivery on as it came. @returns the status to answer */
async function handOn(
  { host, tell }: Pick<Call, "host" | "tell">,
  url: string,
  { headers, body }: ReceivedRequest,
  interruption: AbortSignal,
): Promise<number> {
  const kept = FORWARDED.flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, [value].flat().join(", ")] as [string, string]];
  });
  const late = AbortSignal.timeout(FORWARD_MS);
  try {
    const answer = await host.fetch(url, {
      method: "POST",
      headers: kept,
      body,
      redirect: "manual",
      signal: AbortSignal.any([late, interruption]),
    });
    await answer.body?.cancel();
    await tell(`handed on, answered ${answer.status}`);
    return answer.status;
  } catch (thrown) {
    const words = thrown instanceof Error ? thrown.message : String(thrown);
    const why = late.aborted ? `no answer within ${FORWARD_MS / 1000} s` : words;
    await tell(`not handed on: ${why}`);
    return 502;
  }
}

interface EventData {
  message: MailMessage;
  draft: MailDraft;
  recipient: MailRecipient;
}

/** An event in one line: id, type, time, whom it is about and what became of it, subject. */
function describeEvent({ id, type, timestamp, data }: MailEvent): string {
  // Signed, but perhaps by a relay of another version.
  const { message, draft, recipient } = data as Partial<EventData>;
  const subject = (message ?? draft)?.subject ?? null;
  const parties = recipient !== undefined
    ? `to ${recipient.address}: ${recipient.status} ${recipient.enhanced_code ?? ""}`.trim()
    : message?.direction === "inbound"
    ? `from ${message.from?.address ?? "nobody"}`
    : addressees((message ?? draft)?.to ?? []);
  const title = subject === null ? "" : JSON.stringify(subject);
  return [id, type, timestamp, parties, title].filter((word) => word !== "").join("  ");
}

function addressees(to: MailMessage["to"]): string {
  const shown = to.slice(0, SHOWN_ADDRESSES).map(({ address }) => address);
  const more = to.length > SHOWN_ADDRESSES ? ` and ${to.length - SHOWN_ADDRESSES} more` : "";
  return shown.length === 0 ? "" : `to ${shown.join(", ")}${more}`;
}
