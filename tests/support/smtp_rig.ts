/** The SMTP server on a socket, before a receiver that keeps what it is given and answers as told. */
import { BodyBudget, type BudgetedBody } from "../../server/base/http/bodies/body_budget.ts";
import { RelayError } from "../../server/base/errors.ts";
import {
  cameBytes,
  type Outcome,
  type ReceivedMail,
} from "../../server/mail/receiving/received_mail.ts";
import { SMTP_BOUNDS, type SmtpBounds } from "../../server/mail/receiving/smtp/smtp_bounds.ts";
import {
  SmtpListener,
  type SmtpListenerOptions,
} from "../../server/mail/receiving/smtp/smtp_listener.ts";
import type { SmtpSessionServices } from "../../server/mail/receiving/smtp/smtp_session.ts";
import { TEST_START_MS } from "./clock.ts";
import { delay } from "./pace.ts";
import { openSmtpClient, type RawSmtp } from "./smtp_client.ts";

export interface SmtpRigOptions
  extends
    Partial<Pick<SmtpListenerOptions, "proxies" | "isLocal">>,
    Partial<Pick<SmtpSessionServices, "limitBytes" | "certificate" | "preview">> {
  bounds?: Partial<SmtpBounds>;
  listener?: Deno.TcpListener;
  /** What becomes of a message; taken by all unless given. */
  outcome?: (mail: ReceivedMail) => Outcome["code"] | Outcome[] | Promise<Outcome["code"]>;
}

export interface SmtpRig extends AsyncDisposable {
  listener: SmtpListener;
  /** Bytes of messages that are on their way. */
  heldBytes(): number;
  /** Messages as they were given to the receiver. */
  received: ReceivedMail[];
  failures: unknown[];
  connect(localAddress?: string): RawSmtp;
  /** A client that has read the greeting. */
  greeted(localAddress?: string): Promise<RawSmtp>;
  /** What came of the last message, a character a byte. */
  lastText(): string;
  /** Moves the clock, and has it looked at. */
  pass(ms: number): void;
  /** Waits until so many sessions are under way. */
  untilSize(size: number): Promise<void>;
}

export function startSmtpRig(options: SmtpRigOptions = {}): SmtpRig {
  const { bounds, outcome = () => null, proxies = [], isLocal = false } = options;
  let elapsedMs = 0;
  const ticks = new Set<() => void>();
  const received: ReceivedMail[] = [];
  const failures: unknown[] = [];
  // Without turns, which would come with the clock.
  const all = { ...SMTP_BOUNDS, readBytesPerSecond: Infinity, ...bounds };
  const budget = new WatchedBudget(() => elapsedMs, all.messages);
  const logFailure = (error: unknown) => void failures.push(error);
  const listener = new SmtpListener(
    options.listener ?? Deno.listen({ hostname: "127.0.0.1", port: 0 }),
    {
      session: {
        domain: "agents.test",
        bounds: all,
        limitBytes: options.limitBytes ?? 25 * 2 ** 20,
        budget,
        certificate: options.certificate ?? null,
        preview: options.preview ??
          ((_envelope, address) =>
            Promise.resolve(address.startsWith("nobody@") ? "not_found" : null)),
        async receive(mail) {
          received.push(mail);
          const found = await outcome(mail);
          if (Array.isArray(found)) return { outcomes: found };
          return { outcomes: mail.to.map((address) => ({ address, code: found })) as Outcome[] };
        },
        now: () => TEST_START_MS,
        elapsed: () => elapsedMs,
        random: (sizeBytes) => new Uint8Array(sizeBytes).fill(7),
        logFailure,
      },
      proxies,
      isLocal,
      startTicker(look) {
        ticks.add(look);
        return () => void ticks.delete(look);
      },
      logFailure,
    },
  );
  const rig: SmtpRig = {
    listener,
    heldBytes: () => [...budget.held.values()].reduce((sum, bytes) => sum + bytes, 0),
    received,
    failures,
    connect: (localAddress) => openSmtpClient(listener.port, localAddress),
    async greeted(localAddress) {
      const client = rig.connect(localAddress);
      await client.reply();
      return client;
    },
    lastText: () => new TextDecoder("latin1").decode(cameBytes(received.at(-1)!)),
    pass(ms) {
      elapsedMs += ms;
      for (const tick of [...ticks]) tick();
    },
    async untilSize(size) {
      while (listener.size !== size) await delay(1);
    },
    [Symbol.asyncDispose]: () => listener.close(),
  };
  return rig;
}

/** What the store says while it cannot be reached. */
export const UNAVAILABLE = new RelayError("unavailable", "not now", { retryAfterMs: 1000 });

class WatchedBudget extends BodyBudget {
  readonly held = new Map<BudgetedBody, number>();

  override grow(body: BudgetedBody, bytes: number): void {
    this.held.set(body, (this.held.get(body) ?? 0) + bytes);
    super.grow(body, bytes);
  }

  override release(body: BudgetedBody): void {
    this.held.delete(body);
    super.release(body);
  }
}
