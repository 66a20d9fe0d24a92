/** SMTP clients that keep a relay busy for nothing, from a process of its own: "begin" and "end" on standard input. */
import { answerLines } from "./child.ts";

export type SmtpFloodKind =
  /** Greetings without an end. */
  | "greet"
  /** Recipients that are none. */
  | "guess"
  /** A handshake that never comes. */
  | "wait"
  /** Who says nothing. */
  | "hush"
  /** A message of a byte a little while. */
  | "drip"
  /** Messages as long as they are read, of one line. */
  | "pour"
  /** Twenty commands, then another connection. */
  | "return"
  /** Nothing but connections. */
  | "knock";

export interface SmtpFloodArgument {
  smtpPort: number;
  address: string;
  /** All unless given. */
  kinds?: readonly SmtpFloodKind[];
  /** Clients of each kind. */
  lanes: number;
}

const { smtpPort, address, lanes, kinds }: SmtpFloodArgument = JSON.parse(Deno.args[0]!);
const encoder = new TextEncoder();
const decoder = new TextDecoder("latin1");

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const ENVELOPE = `MAIL FROM:<a@else.test>\r\nRCPT TO:<${address}>\r\nDATA\r\n`;
const LINE = encoder.encode("x".repeat(64 * 1024));

/** One connection, which ends when it throws. */
class Client {
  #came = "";
  #wake = () => {};
  #isOpen = true;

  constructor(private readonly socket: Deno.TcpConn) {
    void this.#read();
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (let length; (length = await this.socket.read(buffer)) !== null;) {
        this.#came = (this.#came + decoder.decode(buffer.subarray(0, length))).slice(-4_096);
        this.#wake();
      }
    } catch {
      // Closed by either side.
    }
    this.#isOpen = false;
    this.#wake();
  }

  get isOn(): boolean {
    return isOn && this.#isOpen;
  }

  async write(given: string | Uint8Array): Promise<void> {
    const bytes = typeof given === "string" ? encoder.encode(given) : given;
    for (let at = 0; at < bytes.length;) at += await this.socket.write(bytes.subarray(at));
  }

  /** Waits for a reply of this code, and forgets what came before. */
  async expect(code: string): Promise<void> {
    const reply = new RegExp(`^${code}[ -].*\r\n`, "m");
    while (!reply.test(this.#came)) {
      if (!this.#isOpen) throw new Error("closed");
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    this.#came = "";
  }

  async beginMessage(): Promise<void> {
    await this.expect("220");
    await this.write("EHLO c.test\r\n");
    await this.expect("250");
    await this.write(ENVELOPE);
    await this.expect("354");
  }
}

const TALKS: Record<SmtpFloodKind, (client: Client) => Promise<void>> = {
  async greet(client) {
    await client.expect("220");
    while (client.isOn) await client.write("EHLO c.test\r\n".repeat(100));
  },
  async guess(client) {
    await client.expect("220");
    await client.write("EHLO c.test\r\nMAIL FROM:<a@else.test>\r\n");
    for (let i = 0; client.isOn; i++) {
      await client.write(`RCPT TO:<none${i}@agents.test>\r\n`.repeat(100));
    }
  },
  async wait(client) {
    await client.write("EHLO c.test\r\nSTARTTLS\r\n");
    while (client.isOn) await pause(20);
  },
  async hush(client) {
    while (client.isOn) await pause(20);
  },
  async drip(client) {
    await client.beginMessage();
    while (client.isOn) {
      await client.write("x");
      await pause(50);
    }
  },
  async pour(client) {
    await client.beginMessage();
    while (client.isOn) await client.write(LINE);
  },
  async return(client) {
    await client.expect("220");
    await client.write(`${"EHLO c.test\r\n".repeat(20)}QUIT\r\n`);
    await client.expect("221");
  },
  async knock(client) {
    await client.expect("220");
  },
};

const ALL_KINDS = Object.keys(TALKS) as SmtpFloodKind[];

let isOn = false;
const open = new Set<Deno.TcpConn>();
let connections = 0;
let running: Promise<unknown> = Promise.resolve();

async function lane(kind: SmtpFloodKind): Promise<void> {
  while (isOn) {
    try {
      using socket = await Deno.connect({ hostname: "127.0.0.1", port: smtpPort });
      connections++;
      open.add(socket);
      await TALKS[kind](new Client(socket)).catch(() => {});
      // A relay that obeys slowly lets a write wait, so that it is closed when the flood ends.
      if (!open.delete(socket)) return;
    } catch {
      await pause(5);
    }
  }
}

console.log("{}");
await answerLines(async (line) => {
  if (line === "begin") {
    isOn = true;
    running = Promise.all(
      (kinds ?? ALL_KINDS).flatMap((kind) => Array.from({ length: lanes }, () => lane(kind))),
    );
    return 0;
  }
  isOn = false;
  for (const socket of open) socket.close();
  open.clear();
  await running;
  const told = connections;
  connections = 0;
  return told;
});
