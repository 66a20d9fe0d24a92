/** The mail area: what a mail key costs, and what the erasure of an org costs messaging. */
import { registerAgents } from "../agents.ts";
import { drive, httpRequest, type LoadedServer } from "../load.ts";
import { type MailOrg, registerForMail } from "../mail_box.ts";
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";
import { sendsP99 } from "./sends_beside.ts";

const CONNECTIONS = 64;
const READS = 10_000;
const AGENTS = 50;
const ROWS_OF_AN_ORG = 100_000;

const keyedReads: Row = {
  id: "mail-org-read",
  title: "GET /v1/mail/org by mail key against whoami by owner_token",
  unit: "/s",
  target: { rule: "at least", ratio: 0.8 },
  async prepare({ temporaryFolder: folder, count }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder, mail: true });
    const agents = await registerAgents(relay.ready.port, AGENTS);
    const orgs: MailOrg[] = [];
    for (let i = 0; i < AGENTS; i++) orgs.push(await registerForMail(relay.ready.port));
    const round = (path: string, tokens: readonly string[]) =>
      drive(
        relay,
        Array.from({ length: count(READS) }, (_, i) => {
          const authorization = `Bearer ${tokens[i % tokens.length]}`;
          return httpRequest("GET", path, { authorization });
        }),
        { connections: CONNECTIONS, status: 200 },
      );
    return {
      ours: () => round("/v1/mail/org", orgs.map(({ apiKey }) => apiKey)),
      reference: () => round("/v1/whoami", agents.map(({ ownerToken }) => ownerToken)),
      close: () => relay.stop(),
    };
  },
};

const sendsBesideErasure: Row = {
  id: "beside-mail-erasure",
  title: "p99 of signed sends while an org with 100,000 rows is erased, against quiet",
  unit: "ms",
  target: { rule: "at most", ratio: 2 },
  rounds: 3, // each writes 100,000 rows first, and waits until they are erased
  slow: true,
  async prepare({ temporaryFolder: folder, count, random }) {
    const relay = await startChild<{ port: number }>("relay.ts", { folder, mail: true });
    const { port } = relay.ready;
    const agents = await registerAgents(port, AGENTS);
    const p99 = sendsP99(relay as LoadedServer, agents, { count, random });
    let leftAtTheEnd = 0;
    return {
      async ours() {
        const { orgId, apiKey } = await registerForMail(port);
        await relay.ask(`fill org ${orgId} ${ROWS_OF_AN_ORG}`);
        const answer = await fetch(`http://127.0.0.1:${port}/v1/mail/org`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${apiKey}` },
          body: JSON.stringify({ org_id: orgId }),
        });
        if (answer.status !== 204) throw new Error(await answer.text());
        const round = await p99();
        leftAtTheEnd = await relay.ask<number>(`rows of org ${orgId}`);
        // The quiet side must not run beside what is left.
        while (await relay.ask<number>(`rows of org ${orgId}`) > 0) {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        return round;
      },
      reference: p99,
      note: () => `${leftAtTheEnd} of ${ROWS_OF_AN_ORG} rows were left when the last sends ended`,
      close: () => relay.stop(),
    };
  },
};

export const mailRows: readonly Row[] = [keyedReads, sendsBesideErasure];
