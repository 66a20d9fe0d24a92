/**
 * Polls that wait for mail at one inbox: the memory of each, and the time from the commit of a mail to
 * the answers of all of them.
 */
import { join } from "node:path";
import { drive, generatorCpuMs, httpRequest } from "../load.ts";
import { inboundRequest, type MailBox, openMailBox, sampleMail } from "../mail_box.ts";
import { residentMiB } from "../process_memory.ts";
import type { Round, Row } from "../row.ts";
import { type Child, startChild } from "../servers/child.ts";
import { median, quantile } from "../statistics.ts";
import { cpuPerRequest, readThreadCpu } from "../thread_cpu.ts";

type Relay = Child<{ port: number }>;

const WAITING = 10_000;
const FEW_WAITING = 1_000;
/** Polls before them, for what the first ones of a process cost. */
const FIRST_WAITING = 200;
/** Longer than it takes until all of them wait. */
const WAIT_SECONDS = 25;

export const waitingMailPolls: Row = {
  id: "mail-waiting-polls",
  title: `memory of one of ${WAITING.toLocaleString("en")} waiting polls of mail, against one of ${
    FEW_WAITING.toLocaleString("en")
  }; times from the commit of a mail to the answers`,
  unit: "KiB",
  target: { rule: "at most", ratio: 1.25 },
  warmUp: false,
  rounds: 3, // each starts a relay for either side, and memory hardly differs
  prepare({ temporaryFolder, count }) {
    const many = count(WAITING);
    const lastMs: number[] = [];
    let folders = 0;
    /** In a relay of its own: what a process has once taken it keeps for the next round. */
    const waitInNewRelay = async (size: number) => {
      const folder = join(temporaryFolder, String(++folders));
      await Deno.mkdir(folder);
      const relay: Relay = await startChild("relay.ts", { folder, mail: true, watchesMail: true });
      try {
        const box = await openMailBox(relay.ready.port);
        await waitTogether(relay, box, FIRST_WAITING);
        return await waitTogether(relay, box, size);
      } finally {
        await relay.stop();
      }
    };
    return Promise.resolve({
      async ours() {
        const { round, lastAnswerMs } = await waitInNewRelay(many);
        lastMs.push(lastAnswerMs);
        return round;
      },
      async reference() {
        return (await waitInNewRelay(FEW_WAITING)).round;
      },
      note: () =>
        `one mail woke ${
          many.toLocaleString("en")
        } polls of its inbox. p50 and p99 are the times from ` +
        `its commit to their answers, read by one process; the last came after ${
          Math.round(median(lastMs))
        } ms. CPU is that of a poll that is woken`,
      close: () => Promise.resolve(),
    });
  },
};

/** Polls that wait at one inbox until a mail comes, each on a connection of its own. */
async function waitTogether(
  relay: Relay,
  box: MailBox,
  size: number,
): Promise<{ round: Round; lastAnswerMs: number }> {
  const { port } = relay.ready;
  const before = (await residentMiB(relay.pid))!;
  const list = `/v1/mail/inboxes/${box.inboxId}/messages?order=asc`;
  const headers = { authorization: `Bearer ${box.apiKey}` };
  let cursor = "";
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${list}${cursor}`, { headers });
    const { data, next_cursor } = await answer.json();
    cursor = `&cursor=${next_cursor}`;
    if (data.length === 0) break;
  }
  const request = httpRequest("GET", `${list}&wait=${WAIT_SECONDS}${cursor}`, headers);
  const sockets: Deno.Conn[] = [];
  try {
    for (let i = 0; i < size; i++) {
      const socket = await Deno.connect({ hostname: "127.0.0.1", port });
      sockets.push(socket);
      await socket.write(request);
    }
    const answers = sockets.map(readMail);
    // Until all of them are known to wait: the relay answers what comes behind them.
    await (await fetch(`http://127.0.0.1:${port}/health`)).body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const heldMiB = (await residentMiB(relay.pid))!;
    const cpuBefore = readThreadCpu(relay.pid);
    const [generatorBefore, beganMs] = [generatorCpuMs(), performance.now()];
    const handedIn = drive(relay, [inboundRequest(box.address, sampleMail().raw)], {
      connections: 1,
      status: 200,
    });
    const answeredMs = await Promise.all(answers);
    const generatorShare = (generatorCpuMs() - generatorBefore) / (performance.now() - beganMs);
    const cpuUs = cpuPerRequest(cpuBefore, readThreadCpu(relay.pid), size);
    await handedIn;
    const committedMs = await relay.ask<number | null>("mail commit");
    if (committedMs === null) throw new Error("no commit of a mail was seen");
    const tookMs = answeredMs.map((ms) => ms - committedMs).sort((a, b) => a - b);
    return {
      round: {
        value: (heldMiB - before) * 1024 / size,
        p50Ms: quantile(tookMs, 0.5),
        p99Ms: quantile(tookMs, 0.99),
        cpuUs,
        generatorShare,
      },
      lastAnswerMs: tookMs.at(-1)!,
    };
  } finally {
    for (const socket of sockets) socket.close();
  }
}

/**
 * Reads an answer that has a mail.
 * @returns unix ms at which all of it was there
 */
async function readMail(socket: Deno.Conn): Promise<number> {
  const bytes = new Uint8Array(4_096);
  let text = "";
  while (!text.includes('"next_cursor"')) {
    const length = await socket.read(bytes);
    if (length === null) break;
    text += new TextDecoder().decode(bytes.subarray(0, length));
  }
  const answeredMs = Date.now();
  if (!/^HTTP\/1.1 200.*"id":"msg_/s.test(text)) throw new Error(text);
  return answeredMs;
}
