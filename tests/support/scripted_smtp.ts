/** A bare SMTP server whose every step a test decides: slow, cut off, or wrong. */
import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";

/** Steps of a session, in order. "content" is the reply to the final dot. */
export type SmtpStep = "greeting" | "EHLO" | "MAIL" | "RCPT" | "DATA" | "content";

/** What happens at a step instead of its ordinary reply: another reply, a cut, or silence. */
export type SmtpFault = { reply: string } | "cut" | "silence";

export interface ScriptedSmtp extends AsyncDisposable {
  port: number;
  /** Faults from now on, by step. */
  script(faults: Partial<Record<SmtpStep, SmtpFault>>): void;
  /** Resolves when a session comes to this step. */
  reached(step: SmtpStep): Promise<void>;
  /** Contents that came whole, up to their final dot, whatever was answered. */
  contents: string[];
  sessions(): number;
  /** Most sessions that had not said QUIT at one time. */
  mostSessions(): number;
  /** Answers every open session that waits in silence; a reply 354 has it take the content. */
  release(reply: string): void;
  /** Ends every open session without a reply. */
  cutAll(): void;
}

const ORDINARY: Record<SmtpStep, string> = {
  greeting: "220 scripted ESMTP",
  EHLO: "250 scripted",
  MAIL: "250 ok",
  RCPT: "250 ok",
  DATA: "354 go on",
  content: "250 stored",
};

/** Listens on 127.0.0.1 until disposed of. */
export async function startScriptedSmtp(): Promise<ScriptedSmtp> {
  let faults: Partial<Record<SmtpStep, SmtpFault>> = {};
  const contents: string[] = [];
  const sockets = new Set<Socket>();
  const awaited = new Map<SmtpStep, (() => void)[]>();
  let sessions = 0;
  const busy = new Set<Socket>();
  let mostSessions = 0;
  const silent = new Map<Socket, (reply: string) => void>();

  function take(socket: Socket, step: SmtpStep, onReply = (_reply: string) => {}): void {
    const fault = faults[step];
    if (fault === "silence") {
      silent.set(socket, (reply) => {
        onReply(reply);
        socket.write(`${reply}\r\n`);
      });
    }
    for (const resolve of awaited.get(step)?.splice(0) ?? []) resolve();
    if (fault === "silence") return;
    if (fault === "cut") return void socket.destroy();
    socket.write(`${fault?.reply ?? ORDINARY[step]}\r\n`);
  }

  const server = createServer((socket) => {
    sessions++;
    sockets.add(socket);
    busy.add(socket);
    mostSessions = Math.max(mostSessions, busy.size);
    socket.on("close", () => {
      sockets.delete(socket);
      busy.delete(socket);
      silent.delete(socket);
    });
    socket.on("error", () => {});
    socket.setEncoding("latin1");
    let buffered = "";
    let inContent = false;
    socket.on("data", (text) => {
      buffered += text;
      for (;;) {
        const end = inContent ? buffered.indexOf("\r\n.\r\n") : buffered.indexOf("\r\n");
        if (end < 0) return;
        const line = buffered.slice(0, end);
        buffered = buffered.slice(end + (inContent ? 5 : 2));
        if (inContent) {
          inContent = false;
          contents.push(line);
          take(socket, "content");
          continue;
        }
        const verb = line.slice(0, 4).toUpperCase();
        if (verb === "QUIT") {
          busy.delete(socket);
          socket.end("221 bye\r\n");
        } else if (verb === "DATA") {
          const fault = faults.DATA;
          inContent = fault === undefined || (typeof fault === "object" && fault.reply[0] === "3");
          take(socket, "DATA", (reply) => void (inContent = reply[0] === "3"));
        } else if (verb === "EHLO" || verb === "MAIL" || verb === "RCPT") {
          take(socket, verb);
        } else socket.write("502 unknown\r\n");
      }
    });
    take(socket, "greeting");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    script: (next) => void (faults = next),
    reached(step) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited.set(step, [...awaited.get(step) ?? [], resolve]);
      return promise;
    },
    contents,
    sessions: () => sessions,
    mostSessions: () => mostSessions,
    release(reply) {
      for (const answer of [...silent.values()]) answer(reply);
      silent.clear();
    },
    cutAll,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cutAll();
      await closed;
    },
  };
}
