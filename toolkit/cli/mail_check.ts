import { answerReader, parseAnswer } from "../client/answer_reader.ts";
import { type Connection, connectionOf } from "../client/connection.ts";
import { ask } from "../client/exchange.ts";
import type { JsonValue } from "../json_value.ts";
import { askDns } from "../mail/ask_dns.ts";
import { parseDomainName } from "../mail/domain_records.ts";
import type { MailCalled } from "../node/call_mail_server.ts";
import { chooseDnsServers } from "./choose_dns_servers.ts";
import { RELAY_OPTIONS, relayOptions } from "./connect.ts";
import { ExitCode, UsageError } from "./failure.ts";
import type { Host } from "./host.ts";
import { dnsOf } from "./mail_dns.ts";
import { printFields } from "./print.ts";
import { readWhole } from "./read_input.ts";
import { wholeNumber } from "./readers.ts";
import { type Call, defineVerb, flag, list, option } from "./verb.ts";

const SMTP_PORT = 25;
const CALL_MS = 60_000;
const LOOK_MS = 1_000;
/** Of the newest messages: others may come meanwhile. */
const LOOKED_AT = 50;

const OPTIONS = {
  to: option("A", "an inbox of the relay, and of the API key"),
  from: option(
    "A",
    "the envelope sender and From, which SPF and DMARC judge; the inbox unless given",
  ),
  at: option(
    "HOST",
    "HOST or HOST:PORT of the mail server, in place of the MX of the inbox's domain",
  ),
  helo: option("NAME", "what is said for HELO; the domain of the sender unless given"),
  "api-key-file": option("F", "a file that holds an API key of the inbox; else RELAY_MAIL_API_KEY"),
  "wait-for": option(
    "S",
    "how many seconds the mail may take to be there; 30",
    wholeNumber(0, 3_600),
  ),
  server: list("IP", "a DNS server that is asked for the MX, as of mail dns"),
  ...RELAY_OPTIONS,
  json: flag(
    'print {"server", "greeting", "tls", "step", "reply", "message_id", "thread_id", "auth"}; ' +
      "what was not reached is null",
  ),
};

type CheckCall = Call<typeof OPTIONS, "">;

/** What became of the mail; null where it is not there. */
interface Stored {
  message_id: string;
  thread_id: string;
  auth: JsonValue;
}

/** `relay mail check`. */
export const mailCheck = defineVerb({
  name: "mail check",
  summary: "send an inbox a mail from outside, and see what becomes of it",
  about: `
For operators. Sends one mail by SMTP, as any mail server does, to port 25 of the MX unless --at
says another, and reads it by the API: which reply it got, whether with TLS, where it is stored, and
what the checks of its sender found. From most homes and clouds no port 25 can be reached: call it
from a machine that can, or with --at from the relay's own. The mail is not signed, and stays in the
inbox.`,
  options: OPTIONS,
  exit: `0 when it is stored, 1 when it was refused or is not there in time, 2 for wrong usage,
4 when the relay refuses the key, 5 when mail server, DNS or relay cannot be reached`,
  example: `relay mail check --to bot@agents.example.org --relay https://relay.example.org \\
    --api-key-file key.txt`,
  async run(call) {
    const { host, values, print, tell } = call;
    const { to, from, helo } = readEnvelope(call);
    const inbox = await openInbox(call, to);
    const server = await serverOf(host, values, to);
    if (server === null) {
      await tell("DNS names no mail server of the domain, or does not answer: pass --at=HOST");
      return ExitCode.unreachable;
    }
    const id = `${hex(16)}@${helo}`;
    const named = `${server.host}:${server.port}`;
    let called: MailCalled;
    try {
      const mail = { from, to, message: messageOf({ from, to, id, nowMs: host.clock.now() }) };
      called = await host.callMailServer({ ...server, helo, timeoutMs: CALL_MS, mail });
    } catch (error) {
      await tell(`${named}: ${(error as Error).message}`);
      return ExitCode.unreachable;
    }
    const { greeting, tls, answered: { step, reply } } = called;
    const isTaken = step === "the message" && Math.floor(reply.code / 100) === 2;
    const endMs = host.clock.now() + (values["wait-for"] ?? 30) * 1_000;
    const stored = isTaken ? await findMail(inbox, id, endMs) : null;
    const found = { server: named, greeting, tls, step, reply, ...stored ?? NOT_STORED };
    await print(found, inWords(found));
    if (isTaken && stored === null) await tell("it was taken, and is not in the inbox in time");
    return stored === null ? ExitCode.false : ExitCode.passed;
  },
});

const NOT_STORED = { message_id: null, thread_id: null, auth: null };

function inWords(
  { server, greeting, tls, step, reply, message_id, thread_id, auth }:
    & Pick<MailCalled, "greeting" | "tls">
    & MailCalled["answered"]
    & { [K in keyof Stored]: Stored[K] | null }
    & { server: string },
): string {
  const verdicts = auth === null ? undefined : answerReader(auth);
  const verdict = (name: string) => verdicts?.string(name);
  return printFields({
    server,
    greeting,
    TLS: tls === null
      ? "not offered"
      : `${tls.version}${
        tls.distrust === null ? "" : `, certificate not trusted: ${tls.distrust}`
      }`,
    reply: `${reply.code} ${reply.text.replaceAll("\n", " ")} (to ${step})`,
    message: message_id ?? undefined,
    thread: thread_id ?? undefined,
    SPF: verdict("spf"),
    DKIM: verdict("dkim"),
    DMARC: verdict("dmarc"),
    verdict: verdict("verdict"),
  });
}

function readEnvelope({ values }: CheckCall): { to: string; from: string; helo: string } {
  const { to, from = to } = values;
  const domain = (address: string | undefined) => {
    const match = /^[!#-;=?-~]{1,64}@([^@]+)$/.exec(address ?? "");
    return match === null ? null : parseDomainName(match[1]!);
  };
  if (to === undefined || domain(to) === null) {
    throw new UsageError("--to=A is the address of an inbox, such as bot@agents.example.org");
  }
  const sender = domain(from);
  if (sender === null) throw new UsageError("--from takes one e-mail address");
  const helo = values.helo === undefined ? sender : parseDomainName(values.helo);
  if (helo === null) throw new UsageError("--helo takes a name such as mx.example.org");
  return { to, from: from!, helo };
}

/** @returns null where DNS does not tell */
async function serverOf(
  host: Host,
  values: CheckCall["values"],
  to: string,
): Promise<{ host: string; port: number } | null> {
  if (values.at !== undefined) {
    const match = /^(?:\[([0-9a-f.:]+)\]|([a-z0-9.-]+))(?::([1-9][0-9]{0,4}))?$/i.exec(values.at);
    const port = Number(match?.[3] ?? SMTP_PORT);
    if (match !== null && port <= 65_535) return { host: match[1] ?? match[2]!, port };
    throw new UsageError("--at takes HOST or HOST:PORT, such as mx.example.org:25");
  }
  const domain = to.slice(to.lastIndexOf("@") + 1);
  const named = values.server ?? [host.env("RELAY_DNS_SERVERS") ?? ""].filter((one) => one !== "");
  const answer = await askDns(dnsOf(host, chooseDnsServers(host, named)), domain, "MX");
  if ("code" in answer) {
    // Without one the domain's own address takes its mail (RFC 5321, section 5.1).
    return answer.code === "ENODATA" ? { host: domain, port: SMTP_PORT } : null;
  }
  const first =
    answer.records.flatMap((record) =>
      typeof record === "object" && "exchange" in record ? [record] : []
    ).sort((one, other) => one.priority - other.priority)[0];
  // An empty name says that the domain takes no mail (RFC 7505).
  return first === undefined || first.exchange === ""
    ? null
    : { host: first.exchange, port: SMTP_PORT };
}

interface OpenInbox {
  connection: Connection;
  path: string;
  headers: () => Record<string, string>;
}

/** @throws what the relay says of the key, before a mail is sent */
async function openInbox(call: CheckCall, to: string): Promise<OpenInbox> {
  const { host, values } = call;
  const file = values["api-key-file"];
  const key = file === undefined
    ? host.env("RELAY_MAIL_API_KEY") ?? ""
    : new TextDecoder().decode(await readWhole(host, file));
  if (!/^[!-~]+$/.test(key.trim())) {
    throw new UsageError("there is no API key: set RELAY_MAIL_API_KEY, or pass --api-key-file F");
  }
  const path = `/v1/mail/inboxes/${encodeURIComponent(to.replace(/\+.*(?=@)/, ""))}`;
  const headers = () => ({ Authorization: `Bearer ${key.trim()}` });
  const connection = connectionOf(relayOptions(call));
  await ask(connection, { method: "GET", path, headers });
  return { connection, path, headers };
}

async function findMail(
  { connection, path, headers }: OpenInbox,
  id: string,
  endMs: number,
): Promise<Stored | null> {
  const { clock } = connection;
  for (;;) {
    const query = { limit: LOOKED_AT };
    const answer = await ask(connection, {
      method: "GET",
      path: `${path}/messages`,
      query,
      headers,
    });
    for (const row of answerReader(parseAnswer(answer)).list("data")) {
      const read = answerReader(row);
      if (read.value("rfc_message_id") !== id) continue;
      const [message_id, thread_id] = [read.string("id"), read.string("thread_id")];
      return { message_id, thread_id, auth: read.value("auth") };
    }
    if (clock.now() + LOOK_MS > endMs) return null;
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}

function messageOf(
  { from, to, id, nowMs }: { from: string; to: string; id: string; nowMs: number },
): string {
  const date = new Date(nowMs).toUTCString().replace("GMT", "+0000");
  return [
    `From: <${from}>`,
    `To: <${to}>`,
    "Subject: relay mail check",
    `Message-ID: <${id}>`,
    `Date: ${date}`,
    "",
    "Sent by relay mail check, to see whether mail comes in.",
    "",
  ].join("\r\n");
}

function hex(sizeBytes: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(sizeBytes));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
