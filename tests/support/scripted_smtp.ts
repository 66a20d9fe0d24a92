/** A bare SMTP server whose every step a test decides: slow, cut off, or wrong. */
/** Steps of a session, in order. "content" is the reply to the final dot. */
export type SmtpStep = "greeting" | "EHLO" | "MAIL" | "RCPT" | "DATA" | "content" | "RSET";

/**
 * What happens at a step instead of its ordinary reply: another reply, a closed connection, or
 * silence.
 */
export type SmtpFault = { reply: string } | "cut" | "silence";

export interface ScriptedSmtp extends AsyncDisposable {
  port: number;
  /** Faults from now on, by step. */
  script(faults: Partial<Record<SmtpStep, SmtpFault>>): void;
  /** Says nothing after a whole content for recipients that match, from now on. */
  hangAfter(recipients: RegExp): void;
  /** Resolves when a session comes to this step. */
  reached(step: SmtpStep): Promise<void>;
  /** Contents that arrived whole, up to their final dot, whatever was answered. */
  contents: string[];
  sessions(): number;
  /** How often sessions came to a step. */
  count(step: SmtpStep): number;
  /** The lines that began with a verb, in their order. */
  commands(verb: string): string[];
  /** The greatest number of concurrent sessions that had not said QUIT. */
  mostSessions(): number;
  /** Answers every open session that waits in silence; after a reply 354 it takes the content. */
  release(reply: string): void;
  /** Says a line in every open session, whatever is waited for. */
  sayToAll(line: string): void;
  /** Ends every open session without a reply. */
  cutAll(): void;
}

const CONTENT_END = "\r\n.\r\n";
const ORDINARY: Record<SmtpStep, string> = {
  greeting: "220 scripted ESMTP",
  EHLO: "250 scripted",
  MAIL: "250 ok",
  RCPT: "250 ok",
  DATA: "354 go on",
  content: "250 stored",
  RSET: "250 ok",
};

/**
 * Listens on 127.0.0.1 until disposed of.
 * @param tls PEM of a key and a certificate for TLS from the first byte
 */
export function startScriptedSmtp(tls?: { key: string; cert: string }): ScriptedSmtp {
  let faults: Partial<Record<SmtpStep, SmtpFault>> = {};
  let hanging: RegExp | undefined;
  const contents: string[] = [];
  const open = new Set<Session>();
  const handled = new Set<Promise<void>>();
  const awaited = new Map<SmtpStep, (() => void)[]>();
  const counts = new Map<SmtpStep, number>();
  const lines: string[] = [];
  let sessions = 0;
  let mostSessions = 0;

  function take(session: Session, step: SmtpStep, onReply = (_reply: string) => {}): void {
    counts.set(step, (counts.get(step) ?? 0) + 1);
    const hangs = step === "content" && hanging?.test(session.recipient);
    const fault = hangs ? "silence" : faults[step];
    const answer = (reply: string) => {
      onReply(reply);
      session.write(reply);
    };
    if (fault === "silence") session.waits = answer;
    for (const resolve of awaited.get(step)?.splice(0) ?? []) resolve();
    if (fault === "silence") return;
    if (fault === "cut") session.end();
    else answer(fault?.reply ?? ORDINARY[step]);
  }

  async function converse(session: Session): Promise<void> {
    take(session, "greeting");
    let inContent = false;
    for await (const line of session.lines(() => inContent ? CONTENT_END : "\r\n")) {
      if (inContent) {
        inContent = false;
        contents.push(line);
        take(session, "content");
        continue;
      }
      lines.push(line);
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === "RCPT") session.recipient = line;
      if (verb === "QUIT") {
        session.write("221 bye");
        return;
      }
      if (verb === "DATA") take(session, verb, (reply) => void (inContent = reply[0] === "3"));
      else if (verb === "EHLO" || verb === "MAIL" || verb === "RCPT" || verb === "RSET") {
        take(session, verb);
      } else session.write("502 unknown");
    }
  }

  const address = { hostname: "127.0.0.1", port: 0 };
  const listener = tls === undefined
    ? Deno.listen(address)
    : Deno.listenTls({ ...address, ...tls });
  const accepting = (async () => {
    for await (const connection of listener) {
      const session = new Session(connection);
      sessions++;
      open.add(session);
      mostSessions = Math.max(mostSessions, open.size);
      const one = converse(session).finally(() => {
        session.end();
        open.delete(session);
        handled.delete(one);
      });
      handled.add(one);
    }
  })();

  const cutAll = () => {
    for (const session of open) session.end();
  };
  return {
    port: listener.addr.port,
    script: (next) => void (faults = next),
    hangAfter: (recipients) => void (hanging = recipients),
    reached(step) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited.set(step, [...awaited.get(step) ?? [], resolve]);
      return promise;
    },
    contents,
    sessions: () => sessions,
    count: (step) => counts.get(step) ?? 0,
    commands: (verb) => lines.filter((line) => line.startsWith(verb)),
    mostSessions: () => mostSessions,
    release(reply) {
      for (const session of open) {
        session.waits?.(reply);
        session.waits = undefined;
      }
    },
    sayToAll(line) {
      for (const session of open) session.write(line);
    },
    cutAll,
    async [Symbol.asyncDispose]() {
      listener.close();
      cutAll();
      await accepting;
      await Promise.all(handled);
    },
  };
}

/** One client's connection, line by line. */
class Session {
  /** Answers the command that waits in silence. */
  waits: ((reply: string) => void) | undefined;
  /** The last RCPT. */
  recipient = "";
  #ended = false;

  constructor(private readonly connection: Deno.Conn) {}

  write(reply: string): void {
    // A client that has left does not get it.
    this.connection.write(new TextEncoder().encode(`${reply}\r\n`)).catch(() => {});
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.connection.close();
  }

  /** Reads what the client says up to an end marker, which may change from one read to the next. */
  async *lines(endOf: () => string): AsyncGenerator<string> {
    const chunk = new Uint8Array(16_384);
    let buffered = "";
    const find = () => {
      // An empty content is its end alone, two characters short.
      if (endOf() === CONTENT_END && buffered.startsWith(".\r\n")) return -2;
      const at = buffered.indexOf(endOf());
      return at < 0 ? null : at;
    };
    for (;;) {
      for (let at = find(); at !== null; at = find()) {
        const line = buffered.slice(0, Math.max(0, at));
        buffered = buffered.slice(at + endOf().length);
        yield line;
      }
      const size = await this.connection.read(chunk).catch(() => null);
      if (size === null) return;
      buffered += new TextDecoder("latin1").decode(chunk.subarray(0, size));
    }
  }
}
