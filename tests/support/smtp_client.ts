/** A client of an SMTP server that sends the very bytes it is told to. */
import { Buffer } from "node:buffer";
import { connect as connectTls, TLSSocket } from "node:tls";
import { connect, type Socket } from "node:net";

export interface RawSmtp extends Disposable {
  /** Text is sent a byte a character. */
  send(data: string | Uint8Array): void;
  /** The next reply, its lines joined by CRLF; "" where the connection has ended. */
  reply(): Promise<string>;
  /** Sends a line, and waits for the reply to it. */
  ask(line: string): Promise<string>;
  /** EHLO, MAIL, RCPT and DATA, whose replies have to be good. */
  begin(to?: string): Promise<void>;
  /** Says that nothing follows. */
  halfClose(): void;
  /** All that still comes until the server has hung up. */
  rest(): Promise<string>;
  /** Reads nothing more. */
  stopReading(): void;
  /** @returns the serial number of the server's certificate */
  startTls(): Promise<string>;
}

/** Registers a test of what the sockets of older runtimes cannot do: local addresses, half closes, STARTTLS, word of a failed accept(). */
export function netTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, ignore: !("getProtocol" in TLSSocket.prototype) });
}

/** Connects; the greeting is still to be read. */
export function openSmtpClient(port: number, localAddress = "127.0.0.1"): RawSmtp {
  let socket: Socket = connect({
    port,
    host: "127.0.0.1",
    localAddress,
    allowHalfOpen: true,
    noDelay: true,
  });
  let came = "";
  let isAtEnd = false;
  let wake = () => {};
  const listen = () => {
    socket.on("data", (piece: Uint8Array) => {
      came += Buffer.from(piece).toString("latin1");
      wake();
    });
    for (const event of ["end", "close", "error"]) {
      socket.on(event, () => {
        isAtEnd = true;
        wake();
      });
    }
  };
  listen();
  const more = () => new Promise<void>((resolve) => wake = resolve);
  const client: RawSmtp = {
    send(data) {
      socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data);
    },
    async reply() {
      for (;;) {
        const match = /^(?:[0-9]{3}-.*\r\n)*[0-9]{3} .*\r\n/.exec(came);
        if (match !== null) {
          came = came.slice(match[0].length);
          return match[0].slice(0, -2);
        }
        if (isAtEnd) return came;
        await more();
      }
    },
    ask(line) {
      client.send(`${line}\r\n`);
      return client.reply();
    },
    async begin(to = "ada@agents.test") {
      for (const line of ["EHLO c.test", "MAIL FROM:<a@else.test>", `RCPT TO:<${to}>`, "DATA"]) {
        const reply = await client.ask(line);
        if (!/^[23]/.test(reply)) throw new Error(`${line}: ${reply}`);
      }
    },
    halfClose: () => void socket.end(),
    async rest() {
      while (!isAtEnd) await more();
      return came;
    },
    stopReading: () => void socket.pause(),
    async startTls() {
      socket.removeAllListeners("data");
      const secure = connectTls({ socket, rejectUnauthorized: false });
      await new Promise<void>((resolve, reject) => {
        secure.once("secureConnect", resolve);
        secure.once("error", reject);
        secure.once("close", () => reject(new Error("closed in the handshake")));
      });
      socket = secure;
      listen();
      return secure.getPeerCertificate().serialNumber;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
  return client;
}

/** The port of a relay's SMTP server, as start-up tells it. */
export function smtpPortOf({ relay }: { relay: { startupNotes(): string[] } }): number {
  const line = relay.startupNotes().find((note) => note.trimStart().startsWith("mail in"));
  const port = /SMTP at [^ ]*:([0-9]+)/.exec(line ?? "")?.[1];
  if (port === undefined) throw new Error(`no SMTP server: ${line}`);
  return Number(port);
}

/** Sends a message in a session of its own. @returns the reply to its end, or to what was refused before */
export async function sendBySmtp(
  port: number,
  { from = "sender@else.test", to, raw }: { from?: string; to: readonly string[]; raw: string },
): Promise<string> {
  using client = openSmtpClient(port);
  await client.reply();
  const lines = [
    "EHLO c.test",
    `MAIL FROM:<${from}>`,
    ...to.map((address) => `RCPT TO:<${address}>`),
    "DATA",
  ];
  for (const line of lines) {
    const reply = await client.ask(line);
    if (/^[45]/.test(reply)) return reply;
  }
  return await client.ask(`${raw.replaceAll(/^\./gm, "..")}.`);
}
