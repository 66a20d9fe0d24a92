/** Receivers on loopback that answer as a test says, and what posts to them. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createDnsClient } from "../../server/base/outside/dns_client.ts";
import { Outside, type OutsideOptions } from "../../server/base/outside/outside.ts";
import { resolveByDns } from "../../server/base/outside/resolve_host.ts";
import type { DnsServer } from "../../toolkit/mail/ask_dns.ts";

export interface RawReceiver extends AsyncDisposable {
  port: number;
  /** Connections so far. */
  connections: number;
  /** All that came, a character a byte. */
  received: string;
  /** Resolves when the last open connection has gone. */
  deserted(): Promise<void>;
}

/** @param answer called with each connection once a request has begun, or at once */
export async function startRawReceiver(
  answer: (socket: Socket) => void,
  { atOnce = false } = {},
): Promise<RawReceiver> {
  const open = new Set<Socket>();
  let whenDeserted: (() => void) | undefined;
  const server: Server = createServer((socket) => {
    receiver.connections++;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      open.delete(socket);
      if (open.size === 0) whenDeserted?.();
    });
    socket.on("data", (chunk) => receiver.received += chunk.toString("latin1"));
    if (atOnce) answer(socket);
    else socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const receiver: RawReceiver = {
    port: (server.address() as AddressInfo).port,
    connections: 0,
    received: "",
    deserted: () =>
      new Promise((resolve) => {
        whenDeserted = resolve;
        if (open.size === 0) resolve();
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Writes the same again and again, as fast as it is taken, until the connection has gone. */
export function floodWith(socket: Socket, text: string): void {
  const more = () => {
    while (!socket.destroyed && socket.write(text));
  };
  socket.on("drain", more);
  more();
}

/** Writes a byte now and then until the connection has gone. */
export function dripInto(socket: Socket, everyMs: number, text = "x"): void {
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.on("close", () => clearInterval(timer));
}

/** Posts to loopback alone, and knows no names unless it is given DNS. */
export function outsideOf(
  { dns, ...options }: Partial<OutsideOptions> & { dns?: DnsServer } = {},
): Outside {
  const resolve = dns === undefined
    ? () => Promise.reject(new Error("a name was looked up"))
    : resolveByDns(createDnsClient([dns], () => {}));
  return new Outside({
    refusal: null,
    allowLoopback: true,
    local: false,
    resolve,
    now: () => Date.UTC(2026, 10, 1),
    ...options,
  });
}
