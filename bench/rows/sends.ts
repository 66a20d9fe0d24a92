/** Signed sends of 200-byte bodies over 64 connections, against what else stores so much. */
import { type BenchAgent, registerAgents, sendRequest } from "../agents.ts";
import { drive, type LoadedServer } from "../load.ts";
import { startNostrRelay } from "../peers/nostr_relay.ts";
import { startPostgres } from "../peers/postgres.ts";
import type { Context, Pair, Round, Row } from "../row.ts";
import { askRound, startChild } from "../servers/child.ts";
import { copyStore, storedAgents, storedNetwork } from "../stored_network.ts";

const CONNECTIONS = 64;
const SENDS = 4_000;
const COMMITS = 2_000;
const AGENTS = 200;
const MANY_AGENTS = 20_000;
const STORED_AGENTS = 2_000;
const STORED_MESSAGES = 1_000_000;
const NOSTR_EVENTS = 500;
/** Shorter ones are mostly the start of its clients. */
const POSTGRES_SECONDS = 6;
/** As long as these. */
const SENDS_BESIDE_POSTGRES = 16_000;

/** Sends between random pairs of agents. */
export function randomSends(
  agents: BenchAgent[],
  count: number,
  random: () => number,
): Uint8Array[] {
  const any = () => agents[Math.floor(random() * agents.length)]!;
  return Array.from({ length: count }, () => sendRequest(any(), any()));
}

/** One round of sends over 64 connections. */
export function sendRound(
  relay: LoadedServer,
  agents: BenchAgent[],
  { random, count }: Pick<Context, "random" | "count">,
  sends = SENDS,
): Promise<Round> {
  return drive(relay, randomSends(agents, count(sends), random), {
    connections: CONNECTIONS,
    status: 201,
  });
}

/** A reference that is ready to run. */
interface Peer {
  round(): Promise<Round | number>;
  note?(): string;
  stop(): Promise<void>;
}

/** @param start starts the peer first, so that a machine without it starts no relay */
function besidePeer(
  about: Pick<Row, "id" | "title" | "target" | "cpuTargetUs">,
  start: (context: Context) => Promise<Peer>,
  sends = SENDS,
): Row {
  return {
    ...about,
    unit: "/s",
    async prepare(context): Promise<Pair> {
      const peer = await start(context);
      const folder = context.temporaryFolder;
      const relay = await startChild<{ port: number }>("relay.ts", { folder });
      const agents = await registerAgents(relay.ready.port, AGENTS);
      return {
        ours: () => sendRound(relay, agents, context, sends),
        reference: () => peer.round(),
        note: peer.note,
        async close() {
          await relay.stop();
          await peer.stop();
        },
      };
    },
  };
}

export const sends = besidePeer(
  {
    id: "sends",
    title: "signed sends, 64 connections, 200-byte body, 200 agents, against a bare commit of " +
      "seven sets",
    target: { rule: "at least", ratio: 2.2 },
    cpuTargetUs: { main: 150, store: 75 },
  },
  async ({ temporaryFolder: folder, count }) => {
    const bare = await startChild("bare_kv.ts", { folder });
    const commits = count(COMMITS);
    return { round: () => askRound(bare, `commits ${commits}`, commits), stop: bare.stop };
  },
);

export const sendsBesidePostgres = besidePeer(
  {
    id: "sends-postgresql",
    title: "the same against PostgreSQL: pgbench, two inserts a transaction, 64 clients",
    target: { rule: "at least", ratio: 0.55 },
  },
  async ({ count }) => {
    const postgres = await startPostgres();
    const seconds = count(POSTGRES_SECONDS);
    return {
      round: () => postgres.transactions({ clients: CONNECTIONS, seconds }),
      note: () => postgres.version,
      stop: postgres.stop,
    };
  },
  SENDS_BESIDE_POSTGRES,
);

export const sendsBesideNostr = besidePeer(
  {
    id: "sends-nostr",
    title: "the same against the events that a Nostr relay on SQLite accepts, 64 connections",
    target: { rule: "at least", ratio: 10 },
  },
  async (context) => {
    const nostr = await startNostrRelay(context);
    const events = context.count(NOSTR_EVENTS);
    return {
      round: () => nostr.accepted({ connections: CONNECTIONS, events }),
      note: () => nostr.version,
      stop: nostr.stop,
    };
  },
);

/** Two relays, each on its store: sends to one against sends to the other. */
async function twoRelays(
  context: Context,
  stores: { folder: string; agents: BenchAgent[] }[],
): Promise<Pair & { relays: LoadedServer[] }> {
  const [ours, reference] = await Promise.all(
    stores.map(async ({ folder, agents }) => {
      const relay = await startChild<{ port: number }>("relay.ts", { folder });
      return { relay, round: () => sendRound(relay, agents, context), stop: relay.stop };
    }),
  );
  return {
    relays: [ours!.relay, reference!.relay],
    ours: ours!.round,
    reference: reference!.round,
    async close() {
      await ours!.stop();
      await reference!.stop();
    },
  };
}

export const sendsOfManyAgents: Row = {
  id: "sends-20k-agents",
  title: "signed sends among 20,000 agents, each known from a send before, against 200",
  unit: "/s",
  slow: true,
  stores: [{ agents: MANY_AGENTS, messages: 0 }],
  async prepare(context) {
    const from = await storedNetwork({ agents: MANY_AGENTS, messages: 0 }, context);
    const many = await copyStore(from, `${context.temporaryFolder}/many`);
    const few = await copyStore(from, `${context.temporaryFolder}/few`);
    const agents = storedAgents(MANY_AGENTS);
    const pair = await twoRelays(context, [
      { folder: many, agents },
      { folder: few, agents: agents.slice(0, AGENTS) },
    ]);
    context.progress("sending once from each agent to the next");
    const inTurn = agents.map((agent, i) => sendRequest(agent, agents[(i + 1) % agents.length]!));
    await drive(pair.relays[0]!, inTurn, { connections: CONNECTIONS, status: 201 });
    return pair;
  },
};

export const sendsToFullStore: Row = {
  id: "sends-1m",
  slow: true,
  title: "signed sends with 1,000,000 stored messages against an empty store",
  unit: "/s",
  target: { rule: "at least", ratio: 0.9 },
  stores: [STORED_MESSAGES, 0].map((messages) => ({ agents: STORED_AGENTS, messages })),
  async prepare(context) {
    const { temporaryFolder } = context;
    const [full, empty] = await Promise.all([STORED_MESSAGES, 0].map(async (messages) => {
      const from = await storedNetwork({ agents: STORED_AGENTS, messages }, context);
      return await copyStore(from, `${temporaryFolder}/${messages}`);
    }));
    const agents = storedAgents(STORED_AGENTS);
    return await twoRelays(context, [
      { folder: full!, agents },
      { folder: empty!, agents },
    ]);
  },
};
