/** The SMTP server: who may connect, how many, how long, and how it stops. */
import { Buffer } from "node:buffer";
import ipaddr from "ipaddr.js";
import type { AddressRange } from "../../../base/config/mail_config.ts";
import { BoundedMap } from "../../../base/bounds/bounded_map.ts";
import { admit, type Window } from "../../../base/bounds/rate_window.ts";
import { Semaphore } from "../../../base/bounds/semaphore.ts";
import { countedAddress } from "../../../base/http/callers/client_address.ts";
import { doneWithin } from "../../../base/time/done_within.ts";
import type { StartTicker } from "../../../base/time/ticker.ts";
import { MINUTE_MS } from "../../../base/time/time_units.ts";
import { readProxyHeader } from "./proxy_header.ts";
import { ReadPace } from "./read_pace.ts";
import type { SmtpInput } from "./smtp_input.ts";
import { REPLIES } from "./smtp_replies.ts";
import { type SmtpClient, SmtpSession, type SmtpSessionServices } from "./smtp_session.ts";
import { SmtpSocket } from "./smtp_socket.ts";

export interface SmtpListenerOptions {
  session: Omit<SmtpSessionServices, "pace">;
  /** Peers that say by a PROXY header whose connection they pass on. */
  proxies: readonly AddressRange[];
  /** Programs of this machine, which share an address: clients are unknown then, and not counted. */
  isLocal: boolean;
  startTicker: StartTicker;
  logFailure: (error: unknown) => void;
}

/** Nobody is answered who comes that way: the operator has to hear of it. */
const NO_HEADER =
  "a peer of RELAY_MAIL_PROXY sent no PROXY header of version 2: set it up there, or take the peer out here";
/** What is left of a shutdown's time for what is being stored. */
const FINISH_MS = 800;
/** Addresses whose new connections are counted; one that is forgotten begins anew. */
const MAX_ADDRESSES = 4_096;

export class SmtpListener {
  readonly #accepted: Promise<void>;
  readonly #permits: Semaphore<string>;
  /** Of who comes too often, and waits for a word. */
  readonly #late: Semaphore<string>;
  /** Connections of who comes more often still: they wait for their end. */
  #unheard = 0;
  /** New connections of each address. */
  readonly #arrivals = new BoundedMap<string, Window>(MAX_ADDRESSES);
  readonly #pace: ReadPace;
  /** Sessions that are not over, with the end of each. */
  readonly #sessions = new Map<SmtpSession, Promise<void>>();
  /** All connections; those whose session is over with the time when they are cut. */
  readonly #sockets = new Map<SmtpSocket, number | null>();
  readonly #stopTicker: () => void;
  #isStopped = false;
  /** Until then nothing is accepted after a failure, and who comes too often waits. */
  #nextTick = Promise.withResolvers<void>();

  constructor(
    private readonly listener: Pick<Deno.TcpListener, "accept" | "addr" | "close">,
    private readonly options: SmtpListenerOptions,
  ) {
    const { session: { bounds }, startTicker } = options;
    this.#permits = new Semaphore({ permits: bounds.connectionsPerAddress });
    this.#late = new Semaphore({ permits: bounds.connectionsPerAddress });
    this.#pace = new ReadPace(bounds.readBytesPerSecond, startTicker);
    this.#stopTicker = startTicker(() => this.#tick());
    this.#accepted = this.#acceptAll();
  }

  /** The port listened on, the one taken when 0 was asked. */
  get port(): number {
    return this.listener.addr.port;
  }

  /** Sessions under way. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Outlives what cannot be accepted, as one connection too many for the process's open files. */
  async #acceptAll(): Promise<void> {
    while (!this.#isStopped) {
      try {
        void this.#serve(await this.listener.accept()).catch(this.options.logFailure);
      } catch (error) {
        if (this.#isStopped) return;
        this.options.logFailure(error);
        await this.#nextTick.promise;
      }
    }
  }

  async #serve(connection: Deno.TcpConn): Promise<void> {
    const { session: services } = this.options;
    const { bounds, elapsed } = services;
    const peer = plainAddress(connection.remoteAddr.hostname);
    const isFull = this.#sockets.size >= 2 * bounds.connections && !this.#cutFarewell();
    if (peer === null || this.#isStopped || isFull) {
      connection.close();
      return;
    }
    const known = isAmong(peer, this.options.proxies) ? null : this.#clientOf(peer);
    const arrived = known === null ? null : this.#arrive(known);
    if (arrived === "unheard") {
      if (this.#unheard < bounds.connections) {
        this.#unheard++;
        await this.#nextTick.promise; // who is closed at once comes again at once
        this.#unheard--;
      }
      connection.close();
      return;
    }
    const link = new SmtpSocket(connection);
    this.#sockets.set(link, null);
    let release = typeof arrived === "function" ? arrived : () => {};
    const session = new SmtpSession(link, { ...services, pace: this.#pace });
    if (this.#makesRoom()) {
      const run = session.run(async (input) => {
        const client = known ?? await this.#identify(peer, input);
        if (client === null) return null;
        const late = arrived ?? this.#arrive(client);
        if (late === "unheard") return null;
        if (late !== "in time") {
          release = late;
          await this.#nextTick.promise;
          return REPLIES.tooOften;
        }
        const permit = client.ip === null ? () => {} : this.#permits.tryTake(client.counted);
        release = permit ?? release;
        return permit === null ? REPLIES.tooMany : client;
      });
      this.#sessions.set(session, run);
      await run.catch(this.options.logFailure);
      this.#sessions.delete(session);
      session.end("");
    } else session.end(REPLIES.full);
    release();
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

  /**
   * Counts one more of the last minute.
   * @returns where there have been too many, what ends its wait for a word, or that it gets none
   */
  #arrive({ ip, counted }: SmtpClient): "in time" | "unheard" | (() => void) {
    const { bounds, elapsed } = this.options.session;
    const limit = ip === null ? bounds.localConnectionsPerMinute : bounds.connectionsPerMinute;
    const admitted = admit(this.#arrivals.get(counted) ?? [], elapsed(), {
      limit,
      windowMs: MINUTE_MS,
    });
    if (!("window" in admitted)) return this.#late.tryTake(counted) ?? "unheard";
    this.#arrivals.set(counted, admitted.window);
    return "in time";
  }

  /** Lets nobody fill the server with connections that are over. @returns false where none is */
  #cutFarewell(): boolean {
    for (const [link, endMs] of this.#sockets) {
      if (endMs === null) continue;
      link.destroy();
      return this.#sockets.delete(link);
    }
    return false;
  }

  /** Of a peer that passes connections on. */
  async #identify(peer: string, input: SmtpInput): Promise<SmtpClient | null> {
    const told = await readClient(input);
    if (told === "other") this.options.logFailure(new Error(NO_HEADER));
    if (told === null || told === "other") return null;
    return this.#clientOf(told.client ?? peer);
  }

  #clientOf(address: string): SmtpClient {
    return this.options.isLocal
      ? { ip: null, counted: "local" }
      : { ip: address, counted: countedAddress(address) ?? address };
  }

  #tick(): void {
    this.#endPauses();
    const nowMs = this.options.session.elapsed();
    for (const session of this.#sessions.keys()) session.expire(nowMs);
    for (const [link, endMs] of this.#sockets) if (endMs !== null && nowMs >= endMs) link.destroy();
  }

  #endPauses(): void {
    this.#nextTick.resolve();
    this.#nextTick = Promise.withResolvers();
  }

  /** Accepts nothing more, and ends all sessions but those whose message is being stored. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.listener.close();
    this.#endPauses();
    for (const session of this.#sessions.keys()) session.stop();
  }

  /** Waits for what is being stored, for a while, and closes all connections. */
  async close(): Promise<void> {
    this.stop();
    this.#stopTicker();
    this.#pace.close();
    await this.#accepted;
    await doneWithin(Promise.allSettled(this.#sessions.values()), FINISH_MS);
    const links = [...this.#sockets.keys()];
    await doneWithin(Promise.all(links.map((link) => link.flushed())), FINISH_MS / 8);
    for (const link of links) link.destroy();
    await Promise.all(links.map((link) => link.closed()));
  }
}

/** An address without a zone, of IPv4 where it stands within IPv6. */
function plainAddress(address: string): string | null {
  const text = address.replace(/%.*$/, "");
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : null;
}

function isAmong(address: string, ranges: readonly AddressRange[]): boolean {
  const parsed = ipaddr.parse(address);
  return ranges.some(([range, bits]) =>
    range.kind() === parsed.kind() && parsed.match(range, bits)
  );
}

/** @returns "other" for what is no header; null where the peer hung up, as to see whether the relay is there */
async function readClient(
  input: SmtpInput,
): Promise<{ client: string | null } | "other" | null> {
  let bytes: Uint8Array = new Uint8Array(0);
  for (;;) {
    const piece = await input.next();
    if (piece === null) return null;
    bytes = Buffer.concat([bytes, piece]);
    const header = readProxyHeader(bytes);
    if (header === null) return "other";
    if (header === "more") continue;
    input.putBack(bytes.subarray(header.sizeBytes));
    return { client: header.client === null ? null : plainAddress(header.client) };
  }
}
