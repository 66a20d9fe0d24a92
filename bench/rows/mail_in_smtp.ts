/** Mail that comes in by SMTP: how much of it, beside the same mails over HTTP and beside postfix. */
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "../mail_box.ts";
import { drive } from "../load.ts";
import { registerAgents } from "../agents.ts";
import { residentMiB } from "../process_memory.ts";
import type { Round, Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { startPostfixMaildir } from "../servers/postfix_maildir.ts";
import type { SmtpFloodArgument } from "../servers/smtp_flood.ts";
import { driveSmtp } from "../smtp_load.ts";
import { median } from "../statistics.ts";
import { sendsP99 } from "./sends_beside.ts";

const INBOXES = 50;
const MAILS = 1_000;
const CONNECTIONS = 64;
const AGENTS = 50;
const FLOOD_MS = 20_000;

const startRelay = (folder: string) =>
  startChild<{ port: number; smtpPort: number }>("relay.ts", { folder, mail: true });

async function openBoxes(port: number): Promise<MailBox[]> {
  const boxes: MailBox[] = [];
  for (let i = 0; i < INBOXES; i++) boxes.push(await openMailBox(port));
  return boxes;
}

const sampleMails = (boxes: readonly MailBox[], count: number) =>
  Array.from({ length: count }, (_, i) => ({
    to: boxes[i % INBOXES]!.address,
    raw: sampleMail().raw,
  }));

export const inboundSmtpMails: Row = {
  id: "mail-inbound-smtp",
  title: "mails of 6 KB handed in by SMTP over kept connections, stored durably, against over HTTP",
  unit: "/s",
  target: { rule: "at least", ratio: 0.8 },
  async prepare({ temporaryFolder: folder, count }) {
    const relay = await startRelay(folder);
    const boxes = await openBoxes(relay.ready.port);
    const mails = () => sampleMails(boxes, count(MAILS));
    return {
      ours: (): Promise<Round> => driveSmtp(relay, relay.ready.smtpPort, mails(), CONNECTIONS),
      reference: () =>
        drive(relay, mails().map(({ to, raw }) => inboundRequest(to, raw)), {
          connections: CONNECTIONS,
          status: 200,
        }),
      close: () => relay.stop(),
    };
  },
};

export const inboundSmtpBesidePostfix: Row = {
  id: "mail-inbound-smtp-postfix",
  title: "the same mails by SMTP, stored durably, against postfix until they are in a maildir",
  unit: "/s",
  target: { rule: "at least", ratio: 1.2 },
  async prepare({ temporaryFolder: folder, count }) {
    const postfix = await startPostfixMaildir();
    const relay = await startRelay(folder);
    const boxes = await openBoxes(relay.ready.port);
    const mails = () => sampleMails(boxes, count(MAILS));
    const taken: number[] = [];
    return {
      ours: () => driveSmtp(relay, relay.ready.smtpPort, mails(), CONNECTIONS),
      async reference() {
        const sent = mails();
        const beganMs = performance.now();
        const round = await driveSmtp(null, postfix.port, sent, CONNECTIONS);
        await postfix.delivered(sent.length);
        taken.push(round.value);
        return { ...round, value: sent.length / ((performance.now() - beganMs) / 1000) };
      },
      note: () =>
        `postfix answered for ${
          Math.round(median(taken))
        } mails a second, before they were delivered`,
      async close() {
        await relay.stop();
        await postfix[Symbol.asyncDispose]();
      },
    };
  },
};

export const sendsBesideSmtpFloods: Row = {
  id: "beside-smtp",
  title:
    "p99 of signed sends while 80 SMTP clients loop, dawdle, return and never end, against quiet",
  unit: "ms",
  target: { rule: "at most", ratio: 2 },
  async prepare({ temporaryFolder: folder, count, random }) {
    const relay = await startRelay(folder);
    const { port, smtpPort } = relay.ready;
    const agents = await registerAgents(port, AGENTS);
    const box = await openMailBox(port);
    const argument: SmtpFloodArgument = { smtpPort, address: box.address, lanes: 10 };
    const flood = await startChild("smtp_flood.ts", argument);
    const p99 = sendsP99(relay, agents, { count, random });
    let connections = 0;
    let mostMiB = 0;
    return {
      async ours() {
        await flood.ask("begin");
        const round = await p99();
        mostMiB = Math.max(mostMiB, await residentMiB(relay.pid) ?? 0);
        connections += await flood.ask<number>("end");
        return round;
      },
      reference: p99,
      note: () =>
        `${connections} such connections came meanwhile; the relay held at most ${
          Math.round(mostMiB)
        } MiB`,
      async close() {
        await flood.stop();
        await relay.stop();
      },
    };
  },
};

export const smtpFloodMemory: Row = {
  id: "smtp-flood-memory",
  title: "the most memory of a relay while 240 such clients flood it for 20 s, against before",
  unit: "MiB",
  slow: true,
  warmUp: false,
  rounds: 3, // each takes what a flood takes to fill every budget
  async prepare({ temporaryFolder: folder }) {
    const relay = await startRelay(folder);
    const box = await openMailBox(relay.ready.port);
    const argument: SmtpFloodArgument = {
      smtpPort: relay.ready.smtpPort,
      address: box.address,
      lanes: 30,
    };
    const flood = await startChild("smtp_flood.ts", argument);
    const before = await residentMiB(relay.pid) ?? 0;
    let connections = 0;
    return {
      async ours() {
        let mostMiB = 0;
        await flood.ask("begin");
        const untilMs = performance.now() + FLOOD_MS;
        while (performance.now() < untilMs) {
          mostMiB = Math.max(mostMiB, await residentMiB(relay.pid) ?? 0);
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        connections += await flood.ask<number>("end");
        return mostMiB;
      },
      reference: () => Promise.resolve(before),
      note: () => `${connections} connections came meanwhile`,
      async close() {
        await flood.stop();
        await relay.stop();
      },
    };
  },
};
