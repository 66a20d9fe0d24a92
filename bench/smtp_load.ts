/** A load generator over kept SMTP sessions, of many mails each, as mail servers keep theirs. */
import { generatorCpuMs } from "./load.ts";
import type { Round } from "./row.ts";
import { quantile } from "./statistics.ts";
import { cpuPerRequest, readThreadCpu } from "./thread_cpu.ts";

export interface SmtpMail {
  to: string;
  /** Of CRLF lines, the last one ended. */
  raw: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

/**
 * Sends all mails over so many sessions, each mail after the answer to the one before it.
 * @param server whose CPU time is told; null where that is not asked, as of one of many processes
 * @returns mails a second, the time of each from MAIL to the answer to its end, and what they cost
 * @throws Error when a mail is not taken
 */
export async function driveSmtp(
  server: { readonly pid: number } | null,
  port: number,
  mails: readonly SmtpMail[],
  sessions: number,
): Promise<Round> {
  const prepared = mails.map(({ to, raw }) => ({
    envelope: encoder.encode(`MAIL FROM:<sender@else.test>\r\nRCPT TO:<${to}>\r\nDATA\r\n`),
    content: withEnd(raw),
  }));
  const clients = await Promise.all(Array.from({ length: sessions }, () => openSession(port)));
  const tookMs = new Float64Array(mails.length);
  let next = 0;
  const cpuNow = () => server === null ? null : readThreadCpu(server.pid);
  const cpuBefore = cpuNow();
  const generatorBefore = generatorCpuMs();
  const beganMs = performance.now();
  try {
    await Promise.all(clients.map(async (client) => {
      while (next < prepared.length) {
        const mail = next++;
        const { envelope, content } = prepared[mail]!;
        const sentMs = performance.now();
        await client.send(envelope);
        for (const code of ["250", "250", "354"]) await client.expect(code);
        await client.send(content);
        await client.expect("250");
        tookMs[mail] = performance.now() - sentMs;
      }
    }));
    const elapsedMs = performance.now() - beganMs;
    const generatorMs = generatorCpuMs() - generatorBefore;
    tookMs.sort();
    return {
      value: mails.length / (elapsedMs / 1000),
      p50Ms: quantile(tookMs, 0.5),
      p99Ms: quantile(tookMs, 0.99),
      cpuUs: cpuPerRequest(cpuBefore, cpuNow(), mails.length),
      generatorShare: generatorMs / elapsedMs,
    };
  } finally {
    for (const client of clients) client.close();
  }
}

function withEnd(raw: Uint8Array): Uint8Array {
  return encoder.encode(`${new TextDecoder().decode(raw).replaceAll(/^\./gm, "..")}.\r\n`);
}

async function openSession(port: number) {
  const socket = await Deno.connect({ hostname: "127.0.0.1", port });
  const buffer = new Uint8Array(8_192);
  let came = "";
  const session = {
    async send(bytes: Uint8Array) {
      for (let at = 0; at < bytes.length;) at += await socket.write(bytes.subarray(at));
    },
    async expect(code: string) {
      let match;
      while ((match = /^(?:\d{3}-.*\r\n)*(\d{3}) .*\r\n/.exec(came)) === null) {
        const length = await socket.read(buffer);
        if (length === null) throw new Error(`the session has ended: ${came}`);
        came += decoder.decode(buffer.subarray(0, length));
      }
      came = came.slice(match[0].length);
      if (match[1] !== code) throw new Error(`answered ${match[0]}`);
    },
    close: () => socket.close(),
  };
  await session.expect("220");
  await session.send(encoder.encode("EHLO client.else.test\r\n"));
  await session.expect("250");
  return session;
}
