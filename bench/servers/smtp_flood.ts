/** SMTP clients that keep a relay busy for nothing, from a process of its own: "begin" and "end" on standard input. */
import { answerLines } from "./child.ts";

export interface SmtpFloodArgument {
  smtpPort: number;
  address: string;
}

const { smtpPort, address }: SmtpFloodArgument = JSON.parse(Deno.args[0]!);
/** Connections of each kind. */
const LANES = 10;

type Talk = (write: (text: string) => Promise<void>, isOn: () => boolean) => Promise<void>;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const BEGIN = `EHLO c.test\r\nMAIL FROM:<a@else.test>\r\nRCPT TO:<${address}>\r\nDATA\r\n`;
const LINE = `${"x".repeat(16_000)}`;

const KINDS: Talk[] = [
  // Greetings, recipients that are none, handshakes that never come, and who says nothing.
  async (write, isOn) => {
    while (isOn()) await write("EHLO c.test\r\n");
  },
  async (write, isOn) => {
    await write("EHLO c.test\r\nMAIL FROM:<a@else.test>\r\n");
    for (let i = 0; isOn(); i++) await write(`RCPT TO:<none${i}@agents.test>\r\n`);
  },
  async (write, isOn) => {
    await write("EHLO c.test\r\nSTARTTLS\r\n");
    while (isOn()) await pause(20);
  },
  async (_write, isOn) => {
    while (isOn()) await pause(20);
  },
  // A byte a little while, and a line without an end.
  async (write, isOn) => {
    await write(BEGIN);
    while (isOn()) {
      await write("x");
      await pause(50);
    }
  },
  async (write, isOn) => {
    await write(BEGIN);
    while (isOn()) await write(LINE);
  },
];

let isOn = false;
const open = new Set<Deno.TcpConn>();
let connections = 0;
let running: Promise<unknown> = Promise.resolve();

async function lane(talk: Talk): Promise<void> {
  const encoder = new TextEncoder();
  while (isOn) {
    let socket: Deno.TcpConn | undefined;
    try {
      socket = await Deno.connect({ hostname: "127.0.0.1", port: smtpPort });
      connections++;
      open.add(socket);
      let isOpen = true;
      const own = socket;
      const reading = (async () => {
        const buffer = new Uint8Array(65_536);
        while (await own.read(buffer) !== null);
      })().catch(() => {}).finally(() => isOpen = false);
      const write = async (text: string) => {
        const bytes = encoder.encode(text);
        for (let at = 0; at < bytes.length;) at += await own.write(bytes.subarray(at));
      };
      await pause(5); // who speaks before the greeting is another kind
      await talk(write, () => isOn && isOpen).catch(() => {});
      open.delete(own);
      own.close();
      await reading;
      await pause(5);
    } catch {
      await pause(5);
    }
  }
}

console.log("{}");
await answerLines(async (line) => {
  if (line === "begin") {
    isOn = true;
    running = Promise.all(KINDS.flatMap((talk) => Array.from({ length: LANES }, () => lane(talk))));
    return 0;
  }
  isOn = false;
  // A relay that obeys slowly lets a write wait.
  for (const socket of open) socket.close();
  open.clear();
  await running;
  const told = connections;
  connections = 0;
  return told;
});
