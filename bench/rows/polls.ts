/** Polls of an empty inbox, signed and by token, against the least that a Hono server does for them. */
import { type BenchAgent, registerAgents, signedRequest } from "../agents.ts";
import { drive, httpRequest, type LoadedServer } from "../load.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";

const CONNECTIONS = 64;
const SIGNED_POLLS = 8_000;
/** More: a round of few is over in a fifth of a second. */
const TOKEN_POLLS = 20_000;

function pollRow(
  about: Pick<Row, "id" | "title" | "target">,
  path: string,
  polls: number,
  poll: (agent: BenchAgent, path: string) => Uint8Array,
): Row {
  return {
    ...about,
    unit: "/s",
    async prepare({ temporaryFolder: folder, count }) {
      const relay = await startChild<{ port: number }>("relay.ts", { folder });
      const agents = await registerAgents(relay.ready.port, CONNECTIONS);
      const { publicKey } = agents[0]!;
      const hono = await startChild<{ port: number }>("hono.ts", { publicKey });
      const round = (server: LoadedServer, request: (i: number) => Uint8Array) =>
        drive(server, Array.from({ length: count(polls) }, (_, i) => request(i)), {
          connections: CONNECTIONS,
          status: 200,
        });
      return {
        ours: () => round(relay, (i) => poll(agents[i % agents.length]!, "/v1/inbox")),
        reference: () => round(hono, () => poll(agents[0]!, path)),
        async close() {
          await relay.stop();
          await hono.stop();
        },
      };
    },
  };
}

export const emptyPolls = pollRow(
  {
    id: "empty-poll",
    title: "signed poll of an empty inbox against a Hono route that makes one native verification",
    target: { rule: "at least", ratio: 0.9 },
  },
  "/verify",
  SIGNED_POLLS,
  (agent, path) =>
    path === "/v1/inbox"
      ? signedRequest(agent, "GET", path)
      // The same signature, carried to the reference's own path.
      : rename(signedRequest(agent, "GET", "/v1/inbox"), "/v1/inbox", path),
);

export const tokenPolls = pollRow(
  {
    id: "token-poll",
    title: "poll of an empty inbox by owner_token against a Hono hello",
    target: { rule: "at least", ratio: 0.62 },
  },
  "/hello",
  TOKEN_POLLS,
  (agent, path) => httpRequest("GET", path, { authorization: `Bearer ${agent.ownerToken}` }),
);

function rename(request: Uint8Array, from: string, to: string): Uint8Array {
  return new TextEncoder().encode(new TextDecoder().decode(request).replace(from, to));
}
