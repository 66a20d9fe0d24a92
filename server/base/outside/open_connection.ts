/** Opens a connection to an address that has been judged, and judges it again once it is open. */
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { OutsideFailure } from "./outside_failure.ts";

/** Of many addresses: a host that is down at four is down. */
const MAX_TRIED = 4;

/** Begins a connection to an address, as node:net does. */
export type Connect = (to: { host: string; port: number }) => Socket;

export interface Target {
  /** Judged; tried in this order, since a host may be reached by one kind alone. */
  addresses: readonly string[];
  port: number;
  /** The host as the URL names it, where the connection is to be TLS; its certificate has to name it. */
  tlsHost: string | null;
}

export interface ConnectRules {
  isAllowed: (address: string) => boolean;
  /** What is left of the whole time for a request, ms: an address that says nothing takes its share of it. */
  leftMs: () => number;
  connect?: Connect;
}

/**
 * A connection of its own, over which nothing has been sent but what TLS begins with. Addresses are
 * connected to as they stand: no resolver is asked a second time, so it cannot say something else then.
 *
 * @throws OutsideFailure "connect", "tls", "blocked_address"
 * @throws signal.reason
 */
export async function openConnection(
  { addresses, port, tlsHost }: Target,
  rules: ConnectRules,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await connectToOne(addresses.slice(0, MAX_TRIED), port, rules, signal);
  try {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) throw new OutsideFailure("connect");
    if (!rules.isAllowed(remoteAddress)) throw new OutsideFailure("blocked_address");
    return tlsHost === null ? socket : await encrypt(socket, tlsHost, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function connectToOne(
  addresses: readonly string[],
  port: number,
  { leftMs, connect: open = connect }: ConnectRules,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown;
  for (const [index, host] of addresses.entries()) {
    const left = addresses.length - index;
    try {
      const socket = open({ host, port });
      // The last one has all that is left, at whose end the signal says why.
      await opened(socket, "connect", signal, left > 1 ? leftMs() / left : undefined);
      return socket;
    } catch (error) {
      signal.throwIfAborted();
      last = error;
    }
  }
  throw new OutsideFailure("connect", last);
}

async function encrypt(socket: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const encrypted = connectTls({
    socket,
    host,
    // A name alone may stand there (RFC 6066, section 3): an address is looked for in the certificate by `host`.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    // Said, so that NODE_TLS_REJECT_UNAUTHORIZED cannot say otherwise.
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
  });
  try {
    await opened(encrypted, "secureConnect", signal);
    return encrypted;
  } catch (error) {
    signal.throwIfAborted();
    throw new OutsideFailure("tls", error);
  }
}

/** Waits for the event; a socket that fails, closes or takes too long is destroyed. */
function opened(
  socket: Socket,
  event: string,
  signal: AbortSignal,
  limitMs?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", late);
      done();
    };
    const fail = (error: unknown) => {
      socket.destroy();
      settle(() => reject(error));
    };
    const late = () => fail(signal.reason);
    const timer = limitMs === undefined
      ? undefined
      : setTimeout(() => fail(new Error("no answer within its share of the time")), limitMs);
    // It stays on: an error that comes later has a listener, whoever uses the socket.
    socket.on("error", fail);
    socket.once("close", () => fail(new Error("the connection was closed")));
    socket.once(event, () => settle(resolve));
    if (signal.aborted) late();
    else signal.addEventListener("abort", late, { once: true });
  });
}
