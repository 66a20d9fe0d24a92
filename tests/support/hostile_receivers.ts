/** Receivers of webhooks that do what receivers do: by the last part of the path. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import type { TakenDelivery } from "./webhook_world.ts";

/** What a receiver does with a request that it does not take. */
type Answer = (answer: ServerResponse) => void;

const BUSY_SECONDS = 600;

function drip(answer: ServerResponse): void {
  answer.writeHead(200, { "content-length": "1000" });
  const timer = setInterval(() => answer.write("."), 20);
  answer.on("close", () => clearInterval(timer));
}

/** Writes the same for as long as the other side takes it. */
function flood(answer: ServerResponse, chunk: string): void {
  const { socket } = answer;
  const more = () => {
    while (socket?.writable && socket.write(chunk));
  };
  socket?.on("drain", more);
  more();
}

const ANSWERS = {
  ok: (answer) => answer.writeHead(200).end("thanks"),
  fails: (answer) => answer.writeHead(500).end("no"),
  recovers: (answer) => answer.writeHead(503).end(),
  hangs: () => {},
  drips: drip,
  redirects: (answer) => answer.writeHead(302, { location: "/0/trap" }).end(),
  gone: (answer) => answer.writeHead(410).end(),
  busy: (answer) => answer.writeHead(429, { "retry-after": String(BUSY_SECONDS) }).end(),
  endless: (answer) => {
    answer.writeHead(200, { "content-length": "1000000000000" });
    answer.flushHeaders();
    flood(answer, "x".repeat(16_384));
  },
  interim: (answer) => flood(answer, "HTTP/1.1 102 Processing\r\n\r\n".repeat(500)),
  trap: (answer) => answer.writeHead(200).end(),
} satisfies Record<string, Answer>;

export type Behaviour = Exclude<keyof typeof ANSWERS, "trap">;
export const BEHAVIOURS = Object.keys(ANSWERS).filter((name) => name !== "trap") as Behaviour[];
/** They take every event in the end, at this attempt. */
const TAKEN_AT: Readonly<Partial<Record<Behaviour, number>>> = {
  ok: 1,
  recovers: 2,
  busy: 2,
  endless: 1, // its first 64 KiB are the answer
};
/** The others take most events at this one, so that a campaign has time for the rest. */
const MOST_TAKEN_AT = 3;

/** At which attempt a receiver takes a mail of this subject, which ends in its number; Infinity for none. */
export function takenAt(behaviour: Behaviour, subject: string): number {
  const isNever = behaviour === "gone" || Number(/\d+$/.exec(subject)) % 5 === 1;
  return TAKEN_AT[behaviour] ?? (isNever ? Infinity : MOST_TAKEN_AT);
}

/** What they ask for after the first attempt, ms. */
export const ASKED_MS: Readonly<Partial<Record<Behaviour, number>>> = { busy: BUSY_SECONDS * 1000 };

export interface HostileReceivers extends AsyncDisposable {
  /** The address of a receiver of this behaviour. */
  urlOf(number: number, behaviour: Behaviour): string;
  taken: TakenDelivery[];
}

/** @param now the relay's clock */
export async function startHostileReceivers(now: () => number): Promise<HostileReceivers> {
  const taken: TakenDelivery[] = [];
  const seen = new Map<string, number>();
  const receive = async (request: IncomingMessage, answer: ServerResponse) => {
    const atMs = now();
    answer.on("error", () => {});
    request.on("error", () => {});
    request.socket.on("error", () => {}); // it is cut off while it floods
    const body = await text(request).catch(() => null);
    if (body === null) return; // killed while it wrote
    const path = request.url!;
    const headers = request.headers as Record<string, string>;
    const event = JSON.parse(body);
    taken.push({ path, headers, text: body, body: event, atMs });
    const name = `${path} ${headers["webhook-id"]}`;
    const nth = seen.get(name) ?? 0;
    seen.set(name, nth + 1);
    const behaviour = path.split("/").at(-1) as Behaviour;
    const isOver = nth + 1 >= takenAt(behaviour, event.data.message.subject);
    const answerOf: Answer = ANSWERS[isOver && behaviour !== "endless" ? "ok" : behaviour];
    answerOf(answer);
  };
  const server = createServer((request, answer) => void receive(request, answer));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    taken,
    // Two hosts, which are fair to each other.
    urlOf: (number, behaviour) =>
      `http://${number % 2 === 0 ? "127.0.0.1" : "localhost"}:${port}/${number}/${behaviour}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
