/** Mail that goes out: how fast it is handed to a next hop, and what large sends cost messaging. */
import nodemailer from "nodemailer";
import { registerAgents } from "../agents.ts";
import { drive, httpRequest, type LoadedServer } from "../load.ts";
import { type MailBox, openMailBox } from "../mail_box.ts";
import type { Row } from "../row.ts";
import { type Child, startChild } from "../servers/child.ts";
import type { MailSendFloodArgument } from "../servers/mail_send_flood.ts";
import { startPostfixServer } from "../servers/postfix_server.ts";
import { driveSmtp } from "../smtp_load.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";
import { sendsP99 } from "./sends_beside.ts";

const ORGS = 24;
const MAILS = 600;
const CONNECTIONS = 16;
const AGENTS = 50;
const TEXT = "The order has left our house and will reach you within three days.\n".repeat(40);
const READER = "reader@example.org";
const SENDER = "relay@relay.test";
/** Ahead of the relay's clock, so that nothing leaves before the queue is full. */
const LATER_MS = 10 * 60_000;

type Sink = Child<{ port: number }>;
type Relay = Child<{ port: number }>;

interface World {
  sink: Sink;
  relay: Relay;
  boxes: MailBox[];
  close(): Promise<void>;
}

/** A relay with orgs that may send, and the next hop that takes what they do. */
export async function startWorld(folder: string, orgs: number): Promise<World> {
  const sink = await startChild<{ port: number }>("smtp_sink.ts", {});
  const relay = await startChild<{ port: number }>("relay.ts", {
    folder,
    mail: true,
    nextHopPort: sink.ready.port,
  });
  const boxes: MailBox[] = [];
  for (let i = 0; i < orgs; i++) boxes.push(await openSendingBox(relay));
  await sink.ask("reset");
  return {
    sink,
    relay,
    boxes,
    async close() {
      await relay.stop();
      await sink.stop();
    },
  };
}

/** An inbox of an org that its claim has verified. */
async function openSendingBox(relay: Relay): Promise<MailBox> {
  const { port } = relay.ready;
  const box = await openMailBox(port);
  const claim = await fetch(`http://127.0.0.1:${port}/v1/mail/org/claim`, {
    method: "POST",
    headers: { authorization: `Bearer ${box.apiKey}` },
    body: JSON.stringify({ email: `${box.orgId}@example.org`.toLowerCase() }),
  });
  if (claim.status !== 202) throw new Error(await claim.text());
  await claim.body?.cancel();
  for (;;) {
    const link = await relay.ask<string | null>("newest link");
    if (link !== null) {
      const confirmed = await fetch(`http://127.0.0.1:${port}${link}`, {
        headers: { accept: "application/json" },
      });
      if (confirmed.status !== 200) throw new Error(await confirmed.text());
      await confirmed.body?.cancel();
      return box;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Resolves when the next hop has taken so many mails since it was reset. */
export async function untilTaken(sink: Sink, count: number): Promise<void> {
  while (await sink.ask<number>("taken") < count) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The request of a mail of 3 KB to one reader. */
export function mailSendRequest({ inboxId, apiKey }: MailBox, fields: object): Uint8Array {
  const body = JSON.stringify({
    to: READER,
    subject: "Order",
    text: TEXT,
    ...fields,
  });
  return httpRequest(
    "POST",
    `/v1/mail/inboxes/${inboxId}/messages/send`,
    { authorization: `Bearer ${apiKey}` },
    new TextEncoder().encode(body),
  );
}

const handedOver: Row = {
  id: "mail-outbound",
  title:
    "queued mails of 3 KB handed to a local next hop, each recipient's outcome stored, against " +
    "nodemailer alone over one pooled connection",
  unit: "/s",
  target: { rule: "at least", ratio: 0.3 },
  async prepare({ temporaryFolder: folder, count }) {
    const { sink, relay, boxes, close } = await startWorld(folder, ORGS);
    const mails = count(MAILS);
    const accepting: number[] = [];
    return {
      async ours() {
        await sink.ask("reset");
        const nowMs = await relay.ask<number>("clock");
        const send_at = new Date(nowMs + LATER_MS).toISOString();
        const requests = Array.from(
          { length: mails },
          (_, i) => mailSendRequest(boxes[i % ORGS]!, { send_at }),
        );
        const acceptance = await drive(relay, requests, { connections: CONNECTIONS, status: 202 });
        accepting.push(acceptance.value);
        await relay.ask(`forward ${LATER_MS}`);
        const before = readThreadCpu(relay.pid);
        const beganMs = performance.now();
        await untilTaken(sink, mails);
        const value = mails / ((performance.now() - beganMs) / 1000);
        return { value, cpuUs: cpuPerRequest(before, readThreadCpu(relay.pid), mails) };
      },
      async reference() {
        await sink.ask("reset");
        const transport = nodemailer.createTransport({
          host: "127.0.0.1",
          port: sink.ready.port,
          ignoreTLS: true,
          pool: true,
          maxConnections: 1,
          maxMessages: Infinity,
        });
        const beganMs = performance.now();
        await Promise.all(Array.from({ length: mails }, () =>
          transport.sendMail({
            from: SENDER,
            to: READER,
            subject: "Order",
            text: TEXT,
          })));
        const rate = mails / ((performance.now() - beganMs) / 1000);
        transport.close();
        return rate;
      },
      note: () =>
        `accepted, composed and stored before that: ${
          Math.round(accepting.reduce((sum, rate) => sum + rate, 0) / accepting.length)
        } a second`,
      close,
    };
  },
};

const relayedBesidePostfix: Row = {
  id: "mail-outbound-postfix",
  title:
    "mails of 3 KB taken over HTTP, composed and handed to a local next hop, against postfix " +
    "that takes them by SMTP and hands them to the same one",
  unit: "/s",
  target: { rule: "at least", ratio: 0.9 },
  cpuTargetUs: { main: 900 },
  async prepare({ temporaryFolder: folder, count }) {
    const { sink, relay, boxes, close } = await startWorld(folder, ORGS);
    const postfix = await startPostfixServer(() => `relayhost = [127.0.0.1]:${sink.ready.port}`)
      .catch(async (error) => {
        await close();
        throw error;
      });
    const mails = count(MAILS);
    const raw = composedMail();
    /** Mails a second from the first one's way in until the next hop has all. */
    const round = async (hand: () => Promise<unknown>) => {
      await sink.ask("reset");
      const beganMs = performance.now();
      await hand();
      await untilTaken(sink, mails);
      return mails / ((performance.now() - beganMs) / 1000);
    };
    return {
      async ours() {
        const requests = Array.from(
          { length: mails },
          (_, i) => mailSendRequest(boxes[i % ORGS]!, {}),
        );
        const before = readThreadCpu(relay.pid);
        const value = await round(() =>
          drive(relay, requests, { connections: CONNECTIONS, status: 202 })
        );
        return { value, cpuUs: cpuPerRequest(before, readThreadCpu(relay.pid), mails) };
      },
      reference() {
        const sent = Array.from({ length: mails }, () => ({ to: READER, raw }));
        return round(() => driveSmtp(null, postfix.port, sent, CONNECTIONS));
      },
      async close() {
        await postfix[Symbol.asyncDispose]();
        await close();
      },
    };
  },
};

/** As the relay composes what it sends here. */
function composedMail(): Uint8Array {
  const lines = [`From: ${SENDER}`, `To: ${READER}`, "Subject: Order", "", ...TEXT.split("\n")];
  return new TextEncoder().encode(lines.join("\r\n"));
}

const sendsBesideLargeMail: Row = {
  id: "beside-mail-sends",
  title: "p99 of signed sends while mails of 10 MiB are sent, against quiet",
  unit: "ms",
  target: { rule: "at most", ratio: 2 },
  async prepare({ temporaryFolder: folder, count, random }) {
    const { relay, boxes, close } = await startWorld(folder, 1);
    const { port } = relay.ready;
    const agents = await registerAgents(port, AGENTS);
    const { inboxId, apiKey } = boxes[0]!;
    const argument: MailSendFloodArgument = { port, inboxId, apiKey };
    const flood = await startChild("mail_send_flood.ts", argument);
    const p99 = sendsP99(relay as LoadedServer, agents, { count, random });
    let mails = 0;
    return {
      async ours() {
        await flood.ask("begin");
        const round = await p99();
        mails += await flood.ask<number>("end");
        return round;
      },
      reference: p99,
      note: () => `${mails} mails of 10 MiB were accepted beside all rounds`,
      async close() {
        await flood.stop();
        await close();
      },
    };
  },
};

export const mailOutRows: readonly Row[] = [handedOver, relayedBesidePostfix, sendsBesideLargeMail];
