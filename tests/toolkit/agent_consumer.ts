/**
 * A program of somebody who has installed the package: it opens an agent, writes to itself, and ends
 * by a crash in its handler when it is told to. Prints one line of JSON.
 */
import { overall } from "agent-relay-toolkit";
import { type Agent, FileError, openAgent, type ReceiveOptions } from "agent-relay-toolkit/node";

/** All that it needs of the platform, so that it is checked without anybody's types for it. */
declare const process: { readonly argv: readonly string[]; exit(code: number): never };

const [relay = "", file = "", text = ""] = process.argv.slice(2);
const agent: Agent = await openAgent({ relay, handle: "some_agent", file });
if (text !== "") await agent.send({ to: agent.address, body: { text } });

const options: ReceiveOptions = { follow: false };
const received: unknown[] = [];
await agent.receive(({ message, report }) => {
  received.push([message.body, overall(report)]);
  if (text !== "") process.exit(7);
}, options);

/** Type-checked, never run. */
export async function readUnchecked(isChecked: boolean): Promise<void> {
  for await (const { report } of agent.client.inbox()) report.body;
  for await (const { report } of agent.client.inbox({ verify: true })) report.body;
  // @ts-expect-error no report where verification is turned off
  for await (const { report } of agent.client.inbox({ verify: false })) report.body;
  // @ts-expect-error nor where it may be
  for await (const { report } of agent.client.inbox({ verify: isChecked })) report.body;
}

const refused = await openAgent({ relay, handle: "other_agent", file })
  .catch((thrown) => thrown instanceof FileError);
console.log(JSON.stringify({ address: agent.address, received, refused }));
