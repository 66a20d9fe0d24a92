/**
 * A page of 50 messages over HTTP, signed, against a bare list of 50 rows of the same size. It is
 * read in two ways: soon after the messages were sent, as most are, and from the store.
 */
import { registerAgents, sendRequest, signedRequest } from "../agents.ts";
import { drive } from "../load.ts";
import type { Row } from "../row.ts";
import { askRound, startChild } from "../servers/child.ts";

const CONNECTIONS = 64;
const PAGE = 50;
const POLLS = 2_500;

function pageRow(
  id: string,
  title: string,
  ratio: number,
  options: { forgetful: boolean },
): Row {
  return {
    id,
    title,
    unit: "/s",
    target: { rule: "at least", ratio },
    async prepare({ temporaryFolder: folder, progress, count }) {
      const relay = await startChild<{ port: number }>("relay.ts", { folder, ...options });
      const bare = await startChild("bare_kv.ts", { folder });
      const agents = await registerAgents(relay.ready.port, CONNECTIONS);
      progress(`sending ${PAGE} messages to each of ${agents.length} agents`);
      const messages = agents.flatMap((agent, i) =>
        Array.from({ length: PAGE }, (_, n) => sendRequest(agents[(i + n) % agents.length]!, agent))
      );
      await drive(relay, messages, { connections: CONNECTIONS, status: 201 });
      return {
        ours: () =>
          drive(
            relay,
            Array.from({ length: count(POLLS) }, (_, i) =>
              signedRequest(agents[i % agents.length]!, "GET", "/v1/inbox", `?limit=${PAGE}`)),
            { connections: CONNECTIONS, status: 200 },
          ),
        reference: () => askRound(bare, `lists ${count(POLLS)}`, count(POLLS)),
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
    0.5,
    { forgetful: false },
  ),
  pageRow(
    "inbox-50-stored",
    "the same, with every page read from the store",
    0.6,
    { forgetful: true },
  ),
];
