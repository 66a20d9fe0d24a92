/** The SMTP server: who may connect, how many, how long, and how it stops. */
import { Buffer } from "node:buffer";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import type { AddressRange } from "../../../base/config/mail_config.ts";
import type { HostPort } from "../../../base/config/values.ts";
import { Semaphore } from "../../../base/bounds/semaphore.ts";
import { countedAddress } from "../../../base/http/callers/client_address.ts";
import { doneWithin } from "../../../base/time/done_within.ts";
import type { StartTicker } from "../../../base/time/ticker.ts";
import { readProxyHeader } from "./proxy_header.ts";
import type { SmtpInput } from "./smtp_input.ts";
import { REPLIES, type Reply } from "./smtp_replies.ts";
import { type SmtpClient, SmtpSession, type SmtpSessionServices } from "./smtp_session.ts";
import { SmtpSocket } from "./smtp_socket.ts";

export interface SmtpListenerOptions {
  session: SmtpSessionServices;
  /** Peers that say by a PROXY header whose connection they pass on. */
  proxies: readonly AddressRange[];
  /** Programs of this machine, which share an address: clients are unknown then, and not counted. */
  isLocal: boolean;
  startTicker: StartTicker;
  logFailure: (error: unknown) => void;
}

/** What is left of a shutdown's time for what is being stored. */
const FINISH_MS = 800;

export class SmtpListener {
  readonly #server: Server;
  readonly #permits: Semaphore<string>;
  /** Sessions that are not over, with the end of each. */
  readonly #sessions = new Map<SmtpSession, Promise<void>>();
  /** All connections; those whose session is over with the time when they are cut. */
  readonly #sockets = new Map<SmtpSocket, number | null>();
  readonly #stopTicker: () => void;
  #isStopped = false;
  /** The port listened on, the one taken when 0 was asked. */
  port = 0;

  private constructor(private readonly options: SmtpListenerOptions) {
    const { session: { bounds }, logFailure, startTicker } = options;
    this.#permits = new Semaphore({ permits: bounds.connectionsPerAddress });
    this.#server = createServer(
      { allowHalfOpen: true, pauseOnConnect: true, noDelay: true },
      (socket) => void this.#accept(socket).catch(logFailure),
    );
    this.#server.on("error", logFailure);
    this.#stopTicker = startTicker(() => this.#tick());
  }

  /** @throws Deno.errors.AddrInUse and its like when the address is not to be had */
  static async listen(
    { host, port }: HostPort,
    options: SmtpListenerOptions,
  ): Promise<SmtpListener> {
    // The library would end the process over an address that it may not have.
    Deno.listen({ hostname: host, port }).close();
    const listener = new SmtpListener(options);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once("error", reject);
      listener.#server.listen(port, host, resolve);
    });
    listener.port = (listener.#server.address() as AddressInfo).port;
    return listener;
  }

  /** Sessions under way. */
  get size(): number {
    return this.#sessions.size;
  }

  async #accept(socket: Socket): Promise<void> {
    const { session: services } = this.options;
    const { bounds, elapsed } = services;
    socket.on("error", () => {}); // a client that has gone
    const peer = plainAddress(socket.remoteAddress);
    if (peer === null || this.#isStopped || this.#sockets.size >= 2 * bounds.connections) {
      socket.destroy();
      return;
    }
    const link = new SmtpSocket(socket);
    this.#sockets.set(link, null);
    let release = () => {};
    const session = new SmtpSession(link, services);
    if (this.#makesRoom()) {
      const run = session.run(async (input) => {
        const client = await this.#identify(peer, input);
        if (client === null || typeof client === "string" || client.ip === null) return client;
        const permit = this.#permits.tryTake(client.counted);
        release = permit ?? release;
        return permit === null ? REPLIES.tooMany : client;
      });
      this.#sessions.set(session, run);
      await run.catch(this.options.logFailure);
      release();
      this.#sessions.delete(session);
      session.end("");
    } else session.end(REPLIES.full);
    this.#sockets.set(link, elapsed() + bounds.farewellMs);
    await link.closed();
    this.#sockets.delete(link);
  }

  /** Whether one more may come; where all connections are taken, who has long said nothing gives way. */
  #makesRoom(): boolean {
    const { bounds, elapsed } = this.options.session;
    if (this.#sessions.size < bounds.connections) return true;
    let longest: SmtpSession | null = null;
    let sinceMs = elapsed() - bounds.givesWayMs;
    for (const session of this.#sessions.keys()) {
      const { waitsSinceMs } = session;
      if (waitsSinceMs === null || waitsSinceMs > sinceMs) continue;
      [longest, sinceMs] = [session, waitsSinceMs];
    }
    longest?.end(REPLIES.full);
    return longest !== null;
  }

  async #identify(peer: string, input: SmtpInput): Promise<SmtpClient | Reply | null> {
    const { proxies, isLocal } = this.options;
    let client = peer;
    if (isAmong(peer, proxies)) {
      const told = await readClient(input);
      if (told === null) return null;
      client = told.client ?? peer;
    }
    return isLocal
      ? { ip: null, counted: "local" }
      : { ip: client, counted: countedAddress(client) ?? client };
  }

  #tick(): void {
    const nowMs = this.options.session.elapsed();
    for (const session of this.#sessions.keys()) session.expire(nowMs);
    for (const [link, endMs] of this.#sockets) if (endMs !== null && nowMs >= endMs) link.destroy();
  }

  /** Accepts nothing more, and ends all sessions but those whose message is being stored. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#server.close();
    for (const session of this.#sessions.keys()) session.stop();
  }

  /** Waits for what is being stored, for a while, and closes all connections. */
  async close(): Promise<void> {
    this.stop();
    this.#stopTicker();
    await doneWithin(Promise.allSettled(this.#sessions.values()), FINISH_MS);
    const links = [...this.#sockets.keys()];
    await doneWithin(Promise.all(links.map((link) => link.flushed())), FINISH_MS / 8);
    for (const link of links) link.destroy();
    await Promise.all(links.map((link) => link.closed()));
  }
}

/** An address without a zone, of IPv4 where it stands within IPv6. */
function plainAddress(address: string | undefined): string | null {
  const text = address?.replace(/%.*$/, "");
  return text === undefined || !ipaddr.isValid(text) ? null : ipaddr.process(text).toString();
}

function isAmong(address: string, ranges: readonly AddressRange[]): boolean {
  const parsed = ipaddr.parse(address);
  return ranges.some(([range, bits]) =>
    range.kind() === parsed.kind() && parsed.match(range, bits)
  );
}

async function readClient(input: SmtpInput): Promise<{ client: string | null } | null> {
  let bytes: Uint8Array = new Uint8Array(0);
  for (;;) {
    const piece = await input.next();
    if (piece === null) return null;
    bytes = Buffer.concat([bytes, piece]);
    const header = readProxyHeader(bytes);
    if (header === null) return null;
    if (header === "more") continue;
    input.putBack(bytes.subarray(header.sizeBytes));
    return { client: header.client === null ? null : plainAddress(header.client) };
  }
}
