/** Mail that comes in: how much, how its threads are read, and what it costs messaging. */
import { registerAgents } from "../agents.ts";
import { drive, httpRequest, type LoadedServer } from "../load.ts";
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "../mail_box.ts";
import { startMailReference } from "../peers/mail_reference.ts";
import type { Row } from "../row.ts";
import { driveSmtp } from "../smtp_load.ts";
import type { MailFloodArgument } from "../servers/mail_flood.ts";
import { type Child, startChild } from "../servers/child.ts";
import {
  inboundSmtpBesidePostfix,
  inboundSmtpMails,
  sendsBesideSmtpFloods,
  smtpFloodMemory,
} from "./mail_in_smtp.ts";
import { sendsP99 } from "./sends_beside.ts";

type Relay = Child<{ port: number }>;

const INBOXES = 50;
const MAILS = 1_000;
const CONNECTIONS = 64;
const FEW = 10;
const MANY = 4_000;
const PAGES = 2_000;
const AGENTS = 50;

const startRelay = (folder: string): Promise<Relay> =>
  startChild<{ port: number }>("relay.ts", { folder, mail: true });

async function openBoxes(port: number, count: number): Promise<MailBox[]> {
  const boxes: MailBox[] = [];
  for (let i = 0; i < count; i++) boxes.push(await openMailBox(port));
  return boxes;
}

/** @param commits of the reference: it syncs one for each mail, or one for all mails that wait */
function inboundRow(
  about: Pick<Row, "id" | "title" | "target">,
  commits: "each" | "grouped",
): Row {
  return {
    ...about,
    unit: "/s",
    async prepare(context) {
      const { temporaryFolder: folder, count } = context;
      const reference = await startMailReference(commits, context);
      const relay = await startRelay(folder);
      const boxes = await openBoxes(relay.ready.port, INBOXES);
      const mails = () =>
        Array.from({ length: count(MAILS) }, (_, i) => ({
          to: boxes[i % INBOXES]!.address,
          raw: sampleMail().raw,
        }));
      return {
        ours: () =>
          drive(relay, mails().map(({ to, raw }) => inboundRequest(to, raw)), {
            connections: CONNECTIONS,
            status: 200,
          }),
        reference: () => driveSmtp(reference, reference.ready.port, mails(), CONNECTIONS),
        async close() {
          await relay.stop();
          await reference.stop();
        },
      };
    },
  };
}

const inboundMails = inboundRow({
  id: "mail-inbound-reference",
  title: "mails of 6 KB handed in over HTTP, stored durably, against Node.js with smtp-server, " +
    "mailparser and one synced commit of SQLite a mail",
  target: { rule: "at least", ratio: 0.6 },
}, "each");

const inboundMailsGrouped = inboundRow({
  id: "mail-inbound-reference-grouped",
  title: "the same against that reference with one commit for all mails that wait",
}, "grouped");

export const threadPages: Row = {
  id: "mail-thread-page",
  title: "the newest 10 messages of a thread of 4,000, against those of a thread of 10",
  unit: "/s",
  target: { rule: "at least", ratio: 0.8 },
  async prepare({ temporaryFolder: folder, count, progress }) {
    const relay = await startRelay(folder);
    const [small, large] = await openBoxes(relay.ready.port, 2);
    const size = count(MANY);
    progress(`handing in a thread of ${size} mails`);
    const fewPath = await fillThread(relay, small!, FEW);
    const manyPath = await fillThread(relay, large!, size);
    const round = (box: MailBox, path: string) =>
      drive(
        relay,
        Array.from({ length: count(PAGES) }, () =>
          httpRequest("GET", `${path}?order=desc&limit=${FEW}`, {
            authorization: `Bearer ${box.apiKey}`,
          })),
        { connections: CONNECTIONS, status: 200 },
      );
    return {
      ours: () => round(large!, manyPath),
      reference: () => round(small!, fewPath),
      note: () => `the large thread had ${size} messages`,
      close: () => relay.stop(),
    };
  },
};

/** @returns path of a thread of so many mails */
async function fillThread(relay: Relay, box: MailBox, size: number): Promise<string> {
  const first = sampleMail();
  const options = { connections: CONNECTIONS, status: 200 };
  await drive(relay, [inboundRequest(box.address, first.raw)], options);
  const answers = Array.from(
    { length: size - 1 },
    () => inboundRequest(box.address, sampleMail(first.id).raw),
  );
  await drive(relay, answers, options);
  const answer = await fetch(
    `http://127.0.0.1:${relay.ready.port}/v1/mail/inboxes/${box.inboxId}/threads`,
    { headers: { authorization: `Bearer ${box.apiKey}` } },
  );
  const { data: [thread] } = await answer.json();
  if (thread.message_count !== size) throw new Error(`the thread has ${thread.message_count}`);
  return `/v1/mail/threads/${thread.id}`;
}

export const sendsBesideMail: Row = {
  id: "beside-mail",
  title: "p99 of signed sends while mails of 25 MiB and hostile ones arrive, against quiet",
  unit: "ms",
  target: { rule: "at most", ratio: 2 },
  async prepare({ temporaryFolder: folder, count, random }) {
    const relay = await startRelay(folder);
    const { port } = relay.ready;
    const agents = await registerAgents(port, AGENTS);
    const [box] = await openBoxes(port, 1);
    const argument: MailFloodArgument = { port, address: box!.address };
    const flood = await startChild("mail_flood.ts", argument);
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
      note: () => `${mails} such mails were taken meanwhile`,
      async close() {
        await flood.stop();
        await relay.stop();
      },
    };
  },
};

export const mailInRows: readonly Row[] = [
  inboundMails,
  inboundMailsGrouped,
  inboundSmtpMails,
  inboundSmtpBesidePostfix,
  threadPages,
  sendsBesideMail,
  sendsBesideSmtpFloods,
  smtpFloodMemory,
];
