/**
 * A page of 50 messages over HTTP, signed, against a bare list of 50 rows of the same size. It is
 * read in two ways: soon after the messages were sent, as most are, and from the store.
 */
import { registerAgents, sendRequest, signedRequest } from "../agents.ts";
import { drive } from "../load.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";

const CONNECTIONS = 64;
const PAGE = 50;
const POLLS = 3_000;

function pageRow(id: string, title: string, options: { forgetful: boolean }): Row {
  return {
    id,
    title,
    unit: "/s",
    target: { rule: "at least", ratio: 0.5 },
    async prepare({ temporaryFolder: folder, progress }) {
      const relay = await startChild<{ port: number }>("relay.ts", { folder, ...options });
      const { port } = relay.ready;
      const bare = await startChild("bare_kv.ts", { folder });
      const agents = await registerAgents(port, CONNECTIONS);
      progress(`sending ${PAGE} messages to each of ${agents.length} agents`);
      const messages = agents.flatMap((agent, i) =>
        Array.from({ length: PAGE }, (_, n) => sendRequest(agents[(i + n) % agents.length]!, agent))
      );
      await drive(port, messages, { connections: CONNECTIONS, status: 201 });
      return {
        ours: () =>
          drive(
            port,
            Array.from({ length: POLLS }, (_, i) =>
              signedRequest(agents[i % agents.length]!, "GET", "/v1/inbox", `?limit=${PAGE}`)),
            { connections: CONNECTIONS, status: 200 },
          ),
        reference: () => bare.ask<number>(`lists ${POLLS}`),
        async close() {
          await relay.stop();
          await bare.stop();
        },
      };
    },
  };
}

export const inboxPages: readonly Row[] = [
  pageRow(
    "inbox-50",
    "signed poll of 50 messages sent shortly before, against a bare kv.list of 50 rows",
    { forgetful: false },
  ),
  pageRow(
    "inbox-50-stored",
    "the same, with every page read from the store",
    { forgetful: true },
  ),
];
