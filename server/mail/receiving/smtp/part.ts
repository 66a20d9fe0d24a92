/** The SMTP server as a part of the mail area: mail straight from the internet (docs/mail.md). */
import { ConfigError } from "../../../base/config/values.ts";
import { BodyBudget } from "../../../base/http/bodies/body_budget.ts";
import { RequestsUnderWay } from "../../../base/http/routes/requests_under_way.ts";
import { logSparsely } from "../../../base/log_sparsely.ts";
import { startupNote } from "../../../base/config/startup_notes.ts";
import type { Part } from "../../../base/parts/part.ts";
import { startIntervalTicker, type StartTicker } from "../../../base/time/ticker.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import type { Receiver } from "../receiver.ts";
import { Certificate, SERVES_STARTTLS } from "./certificate.ts";
import { SMTP_BOUNDS, type SmtpBounds } from "./smtp_bounds.ts";
import { SmtpListener } from "./smtp_listener.ts";

export interface SmtpOptions {
  /** Counts messages that are being stored: a stopping relay waits for them. */
  requests?: RequestsUnderWay;
  bounds?: Partial<SmtpBounds>;
  startTicker?: StartTicker;
}

/** How mail from outside can come in, and where. */
export interface WayIn {
  way: string;
  at?: string;
}

export interface SmtpPart extends Part {
  /** This way in, with its address, while it is open. */
  ways(): WayIn[];
}

/** In local mode without an address of its own: whatever port is free. */
const LOCAL = { host: "127.0.0.1", port: 0 };

/** @throws ConfigError where the certificate cannot be used */
export async function openSmtp(
  core: MailCore,
  receiver: Pick<Receiver, "preview" | "receive">,
  { bounds, startTicker = startIntervalTicker, requests = new RequestsUnderWay() }: SmtpOptions =
    {},
): Promise<SmtpPart> {
  const { deps: { config, elapsed, log }, domain, limits, now, random } = core;
  const { listen = config.mail.local ? LOCAL : undefined, tls, local, proxies } = config.mail;
  let listener: SmtpListener | null = null;
  if (listen === undefined) return { ways: () => [] };
  if (config.onDeploy) {
    const note = "off: on Deno Deploy no port can be listened on, RELAY_MAIL_LISTEN has no effect";
    return { ways: () => [], notes: [startupNote("smtp", note)] };
  }
  const address = ({ port }: SmtpListener) => {
    const { host } = listen;
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
  };
  const certificate = tls === undefined || !SERVES_STARTTLS
    ? null
    : await Certificate.open(tls, log);
  const logFailure = logSparsely(log, "smtp_failed", elapsed);
  const all = { ...SMTP_BOUNDS, ...bounds };
  return {
    ways: () => listener === null ? [] : [{ way: "smtp", at: address(listener) }],
    get notes() {
      if (listener === null) return [];
      const lacking = tls === undefined ? "" : ", which this Deno cannot begin in a session";
      const offered = certificate === null ? `without TLS${lacking}` : "with STARTTLS";
      const example = `, try: swaks --to inbox@${domain} --server ${address(listener)}`;
      return [startupNote("smtp", `on: ${address(listener)} ${offered}${local ? example : ""}`)];
    },
    // Not before all that a message needs is open.
    start() {
      try {
        listener = new SmtpListener(Deno.listen({ hostname: listen.host, port: listen.port }), {
          session: {
            ...{ domain, now, elapsed, random, certificate, logFailure },
            bounds: all,
            limitBytes: limits.mailInboundBytes,
            budget: new BodyBudget(elapsed, all.messages),
            preview: (envelope, address) => receiver.preview(envelope, address),
            receive: async (mail) => await requests.counted(() => receiver.receive(mail)),
          },
          ...{ proxies, isLocal: local, startTicker, logFailure },
        });
      } catch (error) {
        throw notListening(error);
      }
    },
    endWaits: () => listener?.stop(),
    close: () => listener?.close(),
  };
}

function notListening(error: unknown): unknown {
  const isFree = "must name an address that is free";
  const words = error instanceof Deno.errors.AddrInUse
    ? `${isFree}: another program listens on it`
    : error instanceof Deno.errors.AddrNotAvailable
    ? `${isFree}: this machine does not have it`
    : error instanceof Deno.errors.PermissionDenied
    ? 'must name an address that the system lets the relay listen on: for a port below 1024 see "Port 25 without root" in docs/operations.md, or take another'
    : error instanceof Deno.errors.NotCapable
    ? "must name an address that Deno's flags let the relay listen on: print the permissions again"
    : null;
  return words === null ? error : new ConfigError("RELAY_MAIL_LISTEN", words);
}
