/**
 * The time of an honest agent's signed polls during each of three attacks, against its time without
 * any. The attacks come from a process of their own. Here a lower ratio is better.
 */
import { canonicalJson } from "../../toolkit/canonical_json.ts";
import { registerAgents, signedRequest } from "../agents.ts";
import { drive, timeEach } from "../load.ts";
import { quantile } from "../statistics.ts";
import type { Row } from "../row.ts";
import type { AttackerArgument } from "../servers/attacker.ts";
import { startChild } from "../servers/child.ts";

const ROUND_MS = 1_500;
const PAUSE_MS = 2;
const BODIES = 200;
const BODY_CHARACTERS = 65_000;

function attackRow(id: string, attack: AttackerArgument["attack"], what: string): Row {
  return {
    id,
    title: `p99 of an innocent agent's signed polls beside ${what}, against quiet`,
    unit: "ms",
    target: { rule: "at most", ratio: 5 },
    slow: true,
    warmUp: false,
    async prepare({ temporaryFolder: folder, progress }) {
      const relay = await startChild<{ port: number }>("relay.ts", { folder, forgetful: true });
      const { port } = relay.ready;
      const [innocent, victim] = await registerAgents(port, 2);
      if (attack === "untaken pages") {
        progress(`sending ${BODIES} bodies of 64 KB`);
        const bodies = Array.from({ length: BODIES }, (_, i) => {
          const body = String(i).padEnd(BODY_CHARACTERS, "x");
          const bytes = new TextEncoder().encode(canonicalJson({ body, to: victim!.address }));
          return signedRequest(innocent!, "POST", "/v1/messages", "", bytes);
        });
        await drive(relay, bodies, { connections: 4, status: 201 });
      }
      const page = signedRequest(victim!, "GET", "/v1/inbox", "?limit=200");
      const attacker = await startChild("attacker.ts", {
        port,
        attack,
        request: new TextDecoder().decode(page),
      });
      const p99 = async () => {
        const next = () => signedRequest(innocent!, "GET", "/v1/inbox");
        const options = { forMs: ROUND_MS, pauseMs: PAUSE_MS, status: 200 };
        const tookMs = await timeEach(port, next, options);
        return quantile(tookMs, 0.99);
      };
      await p99(); // warms up the poll, not the attack
      let asked = 0;
      return {
        async ours() {
          await attacker.ask("begin");
          const took = await p99();
          asked += await attacker.ask<number>("end");
          return took;
        },
        reference: p99,
        note: () => `${asked} requests of the attack`,
        async close() {
          await attacker.stop();
          await relay.stop();
        },
      };
    },
  };
}

export const besideAttacks: readonly Row[] = [
  attackRow("beside-initialize", "initialize", "a flood of initialize with huge members at /mcp"),
  attackRow(
    "beside-uploads",
    "uploads",
    "uploads that announce bodies and stall, and the worst of Accept-Encoding",
  ),
  attackRow("beside-untaken-pages", "untaken pages", "pages of 64 KB bodies that nobody takes"),
];
