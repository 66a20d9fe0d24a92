// Over 300 lines: the state of one session and what each command does to it, read together.
/**
 * One client's session (RFC 5321; RFC 1870, 2034, 2920, 3207, 6152): commands until a message is whole,
 * which is answered after its commit. Only the relay's own domain is served, and nobody signs in.
 */
import type { Clock } from "../../../base/time/clock.ts";
import type { BodyBudget, BudgetedBody } from "../../../base/http/bodies/body_budget.ts";
import { RelayError } from "../../../base/errors.ts";
import {
  type AnnouncedMail,
  isTemporary,
  type Outcome,
  type ReceivedMail,
} from "../received_mail.ts";
import type { Receiver } from "../receiver.ts";
import type { Certificate } from "./certificate.ts";
import { MessageBytes } from "./message_bytes.ts";
import { type PathCommand, readCommand, readPath } from "./path_command.ts";
import { SmtpContent } from "./smtp_content.ts";
import type { SmtpBounds } from "./smtp_bounds.ts";
import type { ReadPace } from "./read_pace.ts";
import { type CommandLine, SmtpInput } from "./smtp_input.ts";
import {
  REFUSED_MESSAGE,
  REFUSED_RECIPIENT,
  REPLIES,
  type Reply,
  tooLarge,
} from "./smtp_replies.ts";
import type { SmtpSocket } from "./smtp_socket.ts";
import { traceFields } from "./trace_fields.ts";

export interface SmtpSessionServices {
  /** Of all inboxes, lowercased; the server's name too. */
  domain: string;
  bounds: SmtpBounds;
  /** Greatest size of a message. */
  limitBytes: number;
  budget: BodyBudget;
  pace: Pick<ReadPace, "take">;
  /** Null where TLS is not offered. */
  certificate: Pick<Certificate, "current"> | null;
  /** What is decided of a recipient before the message is sent. */
  preview: Receiver["preview"];
  receive(mail: ReceivedMail): Promise<{ outcomes: Outcome[] }>;
  now: Clock;
  elapsed: Clock;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  logFailure: (error: unknown) => void;
}

export interface SmtpClient {
  /** As the message's client; null where it is unknown. */
  ip: string | null;
  /** Whose share of the budgets it uses. */
  counted: string;
}

/** MAIL, and what was said of its message since. */
interface Transaction {
  from: string;
  envelope: AnnouncedMail;
  to: Set<string>;
  /** RCPT commands. */
  asked: number;
}

/** Since and until when a client has to do something, and what it is told then. */
interface Wait {
  sinceMs: number;
  untilMs: number;
  reply: Reply;
}

/** Space and tab: a line that begins so goes on with the field before it, which would be the trace. */
const WHITE: readonly number[] = [0x20, 0x09];
/** A line that a browser was made to send. */
const WEB = /^[A-Z]+ .* HTTP\/[0-9.]+$/i;

export class SmtpSession {
  readonly #input: SmtpInput;
  /** Replies that wait to be sent together. */
  #replies = "";
  /** The relay has said its last word. */
  #isOver = false;
  #isStopping = false;
  /** Of a message whose end has come. */
  #isTaking = false;
  /** Null while the client waits for the relay. */
  #wait: Wait | null = null;
  #hello: { name: string; isExtended: boolean } | null = null;
  #transaction: Transaction | null = null;
  #errors = 0;
  #refused = 0;
  #idle = 0;
  /** How much of what its connection brings has had its turn, or needs none. */
  #turnBytes: number;
  /** Ends the pause of a client that only asks. */
  #endPause = () => {};

  constructor(
    private readonly socket: SmtpSocket,
    private readonly services: SmtpSessionServices,
  ) {
    const { lineBytes, promptBytes } = services.bounds;
    this.#input = new SmtpInput(() => this.#read(), lineBytes);
    this.#turnBytes = promptBytes;
  }

  async #read(): Promise<Uint8Array | null> {
    const { cameBytes } = this.socket;
    const owedBytes = cameBytes - this.#turnBytes;
    if (owedBytes > 0) {
      this.#turnBytes = cameBytes;
      await this.services.pace.take(owedBytes);
    }
    return await this.socket.read();
  }

  /** Since when the client has kept it waiting; null while it does not. */
  get waitsSinceMs(): number | null {
    return this.#wait?.sinceMs ?? null;
  }

  /**
   * Greets, and obeys until one of both has enough.
   * @param identify reads what stands before the session; gives the reply to whom it refuses, null to
   * whom nothing is said
   */
  async run(identify: (input: SmtpInput) => Promise<SmtpClient | Reply | null>): Promise<void> {
    const { domain, elapsed } = this.services;
    const beganMs = elapsed();
    const client = await this.#await(identify(this.#input));
    if (client === null) return this.socket.destroy();
    if (typeof client === "string") return this.end(client);
    this.#say(`220 ${domain} ESMTP`);
    while (!this.#isOver) {
      const line = await this.#nextLine();
      if (line === null) break;
      const reply = await this.#obey(line, client);
      if (reply.startsWith("5")) this.#errors++;
      this.#say(reply);
      this.#keepBounds(elapsed() - beganMs);
      await this.#slowDown();
    }
    this.end("");
  }

  /** Ends it where its time is over, else its pause. Called about once a second. */
  expire(nowMs: number): void {
    this.#endPause();
    if (this.#wait !== null && nowMs >= this.#wait.untilMs) this.end(this.#wait.reply);
  }

  /** The relay stops: a message that is whole is answered, all else ends now. */
  stop(): void {
    this.#isStopping = true;
    if (!this.#isTaking) this.end(REPLIES.closing);
  }

  /** Says a last word. */
  end(reply: Reply): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wait = null;
    this.#endPause();
    this.socket.end(reply === "" ? this.#replies : `${this.#replies}${reply}\r\n`);
  }

  #say(reply: Reply): void {
    if (reply !== "") this.#replies += `${reply}\r\n`;
  }

  async #flush(): Promise<void> {
    const replies = this.#replies;
    this.#replies = "";
    if (replies === "" || this.#isOver) return;
    await this.#await(this.socket.write(replies));
  }

  /** Waits for the client, as long as for a command unless more is given. */
  async #await<T>(work: Promise<T>, given: Partial<Wait> = {}): Promise<T> {
    const { bounds, elapsed } = this.services;
    const sinceMs = elapsed();
    this.#wait = { sinceMs, untilMs: sinceMs + bounds.commandMs, reply: REPLIES.silent, ...given };
    try {
      return await work;
    } finally {
      this.#wait = null;
    }
  }

  async #nextLine(): Promise<CommandLine> {
    if (!this.#input.hasLine) await this.#flush();
    return this.#isOver ? null : await this.#await(this.#input.line());
  }

  #keepBounds(ageMs: number): void {
    const { bounds } = this.services;
    if (this.#isStopping) this.end(REPLIES.closing);
    if (this.#errors >= bounds.errors) this.end(REPLIES.errors);
    if (this.#refused >= bounds.refusedRecipients) this.end(REPLIES.unknowns);
    if (this.#idle >= bounds.idleCommands) this.end(REPLIES.idle);
    if (ageMs >= bounds.sessionMs) this.end(REPLIES.over);
  }

  /** Obeys who only asks about once a second, and has it give way before all others. */
  async #slowDown(): Promise<void> {
    const asked = this.#idle + this.#refused + this.#errors;
    if (asked <= this.services.bounds.promptReplies) return;
    await this.#flush();
    if (this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#endPause = resolve;
    await this.#await(promise, { sinceMs: -Infinity });
  }

  /** Ends the session with a reply to a command. */
  #leave(reply: Reply): "" {
    this.end(reply);
    return "";
  }

  async #obey(line: NonNullable<CommandLine>, client: SmtpClient): Promise<Reply> {
    if (line === "bare") return this.#leave(REPLIES.bareEnd);
    if (line === "too_long") return REPLIES.tooLong;
    const { text } = line;
    if (WEB.test(text)) return this.#leave(REPLIES.web);
    const { verb: command, rest } = readCommand(text);
    if (!["MAIL", "RCPT", "DATA"].includes(command)) this.#idle++;
    switch (command) {
      case "EHLO":
      case "HELO":
        return this.#greet(command === "EHLO", rest);
      case "STARTTLS":
        return await this.#startTls(rest);
      case "MAIL":
        return this.#begin(rest, client);
      case "RCPT":
        return await this.#addRecipient(rest);
      case "DATA":
        return await this.#takeMessage(rest, client);
      case "RSET":
        this.#transaction = null;
        return REPLIES.reset;
      case "NOOP":
        return REPLIES.noop;
      case "HELP":
        return REPLIES.help;
      case "VRFY":
        return REPLIES.noVerify;
      case "EXPN":
        return REPLIES.noExpand;
      case "AUTH":
        return REPLIES.noAuth;
      case "BDAT":
        return this.#leave(REPLIES.noChunks); // what follows may be a message, and is no command
      case "PROXY":
        return this.#leave(REPLIES.proxied);
      case "QUIT":
        return this.#leave(REPLIES.bye);
      default:
        return REPLIES.unknown;
    }
  }

  #greet(isExtended: boolean, name: string): Reply {
    if (!/^[\x21-\x7e]{1,255}$/.test(name)) return REPLIES.syntax;
    const { domain, limitBytes, certificate } = this.services;
    this.#hello = { name, isExtended };
    this.#transaction = null;
    if (!isExtended) return `250 ${domain}`;
    const offersTls = certificate !== null && !this.socket.isSecure;
    const lines = [
      domain,
      "PIPELINING",
      `SIZE ${limitBytes}`,
      ...offersTls ? ["STARTTLS"] : [],
      "ENHANCEDSTATUSCODES",
    ];
    return `${lines.map((line) => `250-${line}`).join("\r\n")}\r\n250 8BITMIME`;
  }

  async #startTls(rest: string): Promise<Reply> {
    const { certificate } = this.services;
    if (certificate === null) return REPLIES.noStartTls;
    if (this.socket.isSecure) return REPLIES.secure;
    if (rest !== "") return REPLIES.syntax;
    const context = await certificate.current();
    await this.#flush();
    // Whoever is between could have the client's first encrypted commands follow its own (RFC 3207, 4.2).
    if (this.#hasMore) return this.#leave(REPLIES.early);
    await this.#await(this.socket.startTls(`${REPLIES.startTls}\r\n`, context));
    this.#hello = null;
    this.#transaction = null;
    return "";
  }

  /** Whether the client has gone on without the reply that it has to wait for. */
  get #hasMore(): boolean {
    return !this.#input.isEmpty || !this.socket.isEmpty;
  }

  #begin(rest: string, client: SmtpClient): Reply {
    const { limitBytes } = this.services;
    if (this.#hello === null) return REPLIES.helloFirst;
    if (this.#transaction !== null) return REPLIES.mailOpen;
    const path = readPath(rest, "FROM");
    if (path === null) return REPLIES.badSender;
    const refusal = refuseParameters(path);
    if (refusal !== null) return refusal;
    if (path === "not_ascii") return REPLIES.notAscii;
    const size = path.parameters.get("SIZE");
    if (size !== undefined && Number(size) > limitBytes) return tooLarge(limitBytes);
    const from = path.address;
    const envelope = {
      ...{ from, clientIp: client.ip, clientHelo: this.#hello.name },
      ...size === undefined ? {} : { sizeBytes: Number(size) },
    };
    this.#transaction = { from, envelope, to: new Set(), asked: 0 };
    return REPLIES.sender;
  }

  async #addRecipient(rest: string): Promise<Reply> {
    const { bounds, domain, preview } = this.services;
    const transaction = this.#transaction;
    if (transaction === null) return this.#hello === null ? REPLIES.helloFirst : REPLIES.mailFirst;
    const path = readPath(rest, "TO");
    if (path === "not_ascii") return REPLIES.notAscii;
    if (path === null || path.address === "") return REPLIES.badRecipient;
    if (path.parameters.size > 0) return REPLIES.parameter;
    // The one address that has no domain (RFC 5321, section 4.1.1.3).
    const address = /^postmaster$/i.test(path.address) ? `${path.address}@${domain}` : path.address;
    const at = address.lastIndexOf("@");
    if (at < 1) return REPLIES.badRecipient;
    if (++transaction.asked > bounds.askedRecipients) return this.#leave(REPLIES.unknowns);
    if (address.slice(at + 1).toLowerCase() !== domain) return this.#refuse(REPLIES.relaying);
    if (transaction.to.has(address)) return REPLIES.recipient;
    if (transaction.to.size >= bounds.recipients) return REPLIES.tooManyRecipients;
    try {
      const found = await preview(transaction.envelope, address);
      if (found !== null && found !== "operator") {
        return this.#refuse(REFUSED_RECIPIENT[typeof found === "string" ? found : found.code]);
      }
    } catch (error) {
      return this.#failed(error);
    }
    transaction.to.add(address);
    return REPLIES.recipient;
  }

  /** Not one of the client's errors: it passes on what others have asked of it. */
  #refuse(reply: Reply): "" {
    this.#refused++;
    this.#say(reply);
    return "";
  }

  #failed(error: unknown): Reply {
    const isTold = error instanceof RelayError && error.code === "unavailable";
    if (!isTold) this.services.logFailure(error);
    return REPLIES.later;
  }

  async #takeMessage(rest: string, client: SmtpClient): Promise<Reply> {
    const { budget, elapsed } = this.services;
    const transaction = this.#transaction;
    if (transaction === null) return this.#hello === null ? REPLIES.helloFirst : REPLIES.mailFirst;
    if (rest !== "") return REPLIES.syntax;
    if (transaction.to.size === 0) return REPLIES.nobody;
    if (this.#hasMore) return this.#leave(REPLIES.early);
    this.#say(REPLIES.content);
    await this.#flush();
    const bytes = new MessageBytes();
    const body: BudgetedBody = {
      beganMs: elapsed(),
      addressOf: () => client.counted,
      drop: () => {
        bytes.drop();
        this.end(REPLIES.busy);
      },
    };
    try {
      const refusal = await this.#readMessage(bytes, body);
      if (refusal !== null || this.#isOver) return refusal ?? "";
      this.#isTaking = true;
      budget.finish(body);
      return await this.#store(bytes, transaction, client);
    } finally {
      this.#isTaking = false;
      this.#transaction = null;
      budget.release(body);
    }
  }

  /** @returns why it is refused; null where all of it is in `bytes`, or the session is over */
  async #readMessage(bytes: MessageBytes, body: BudgetedBody): Promise<Reply | null> {
    const { budget, bounds, limitBytes } = this.services;
    const content = new SmtpContent();
    let cameBytes = 0;
    let isContinuing = false;
    for (;;) {
      const sinceMs = body.beganMs + 1000 * cameBytes / bounds.messageBytesPerSecond;
      const untilMs = sinceMs + bounds.messageMs;
      const piece = await this.#await(this.#input.next(), {
        sinceMs,
        untilMs,
        reply: REPLIES.slow,
      });
      if (this.#isOver || piece === null) return this.#leave("");
      let keptBytes = 0;
      const isKept = () =>
        !content.isMalformed && !isContinuing && cameBytes + keptBytes <= limitBytes;
      const wasKept = isKept();
      const used = content.take(piece, (part) => {
        if (cameBytes + keptBytes === 0) isContinuing = WHITE.includes(part[0]!);
        keptBytes += part.length;
        if (isKept()) bytes.add(part);
      });
      const isNowKept = isKept();
      cameBytes += keptBytes;
      if (isNowKept) budget.grow(body, keptBytes);
      else if (wasKept) {
        bytes.drop();
        budget.release(body);
      }
      if (this.#isOver) return "";
      if (used !== null) {
        this.#input.putBack(piece.subarray(used));
        if (content.isMalformed) return REPLIES.badContent;
        if (isContinuing) return REPLIES.badStart;
        return cameBytes > limitBytes ? tooLarge(limitBytes) : null;
      }
      if (cameBytes > 2 * limitBytes) return this.#leave(tooLarge(limitBytes));
    }
  }

  /** What the client is told rests on commits alone. */
  async #store(
    bytes: MessageBytes,
    { from, to: recipients }: Transaction,
    client: SmtpClient,
  ): Promise<Reply> {
    const { domain, now, random, receive } = this.services;
    const { name: helo, isExtended } = this.#hello!;
    const id = [...random(8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const [to, clientIp, { isSecure }] = [[...recipients], client.ip, this.socket];
    const trace = traceFields({
      ...{ from, to, helo, isExtended, isSecure, clientIp, domain, id },
      nowMs: now(),
    });
    try {
      const { outcomes } = await receive({
        ...{ from, to, clientIp, clientHelo: helo, reachesOperator: true },
        raw: await bytes.takeAfter(trace),
        traceBytes: trace.length,
      });
      const reply = replyTo(outcomes, id);
      if (reply.startsWith("2")) {
        this.#idle = this.#refused = 0;
        this.#turnBytes = this.socket.cameBytes + this.services.bounds.promptBytes;
      }
      if (reply.startsWith("5")) return this.#refuse(reply);
      return reply;
    } catch (error) {
      return this.#failed(error);
    }
  }
}

function refuseParameters(path: PathCommand | "not_ascii"): Reply | null {
  const { parameters } = path === "not_ascii" ? { parameters: new Map() } : path;
  for (const [name, value] of parameters) {
    if (name === "SMTPUTF8") return REPLIES.noUtf8;
    if (name === "REQUIRETLS") return REPLIES.noRequireTls;
    if (name !== "SIZE" && name !== "BODY") return REPLIES.parameter;
    const form = name === "SIZE" ? /^[0-9]{1,20}$/ : /^(?:7BIT|8BITMIME)$/i;
    if (!form.test(value ?? "")) return REPLIES.syntax;
  }
  return null;
}

function replyTo(outcomes: readonly Outcome[], id: string): Reply {
  const told = outcomes.find(isTemporary) ?? outcomes.find(({ code }) => code === null) ??
    outcomes[0]!;
  return told.code === null ? `250 2.0.0 taken as ${id}` : REFUSED_MESSAGE[told.code];
}
