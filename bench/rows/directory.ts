/** Directory search among 100,000 agents against the resolution of a handle among them. */
import { drive, httpRequest } from "../load.ts";
import type { Row, StoreSize } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { handleOf, pickWord, storedNetwork } from "../stored_network.ts";

const AGENTS = 100_000;
const STORE: StoreSize = { agents: AGENTS, messages: AGENTS };
const CONNECTIONS = 16;
const SEARCHES = 1_000;
const RESOLUTIONS = 10_000;

export const directory: Row = {
  id: "search-100k",
  title: "directory search among 100,000 agents against resolving a handle among them",
  unit: "/s",
  target: { rule: "at least", ratio: 0.05 },
  stores: [STORE],
  async prepare({ keptFolder, random, progress, count }) {
    const folder = await storedNetwork(STORE, {
      keptFolder,
      random,
      progress,
    });
    const relay = await startChild<{ port: number }>("relay.ts", { folder });
    const below = (limit: number) => Math.floor(random() * limit);
    const handle = () => handleOf(1 + below(AGENTS));
    const queries = [
      () => `q=${pickWord(random)}`,
      () => `q=${handle()}`,
      () => `q=${handle().slice(2, 9)}`,
      () => `q=${pickWord(random)}%20${pickWord(random)}`,
      () => `q=${pickWord(random)}%20${pickWord(random)}%20${pickWord(random)}`,
      () => `tags=${pickWord(random)}`,
      () => `tags=${pickWord(random)},${pickWord(random)}&q=${pickWord(random).slice(0, 3)}`,
      () => `q=no%20such%20agent%20${below(1_000)}`,
      () => `q=${below(100)}`,
    ];
    const get = (path: string) => httpRequest("GET", path, {});
    const beganMs = performance.now();
    await drive(relay, [get("/v1/agents?q=first")], { connections: 1, status: 200 });
    const loadMs = Math.round(performance.now() - beganMs);
    return {
      ours: () =>
        drive(
          relay,
          Array.from({ length: count(SEARCHES) }, (_, i) =>
            get(`/v1/agents?${queries[i % queries.length]!()}`)),
          { connections: CONNECTIONS, status: 200 },
        ),
      reference: () =>
        drive(
          relay,
          Array.from({ length: count(RESOLUTIONS) }, () => get(`/v1/agents/${handle()}`)),
          { connections: CONNECTIONS, status: 200 },
        ),
      note: () => `index of ${AGENTS} agents built by the first search in ${loadMs} ms`,
      close: () => relay.stop(),
    };
  },
};
