/** Two relay processes with mail on one file: what holds across them, and over kill -9. */
import assert from "node:assert/strict";
import { generateKeyPair } from "../../toolkit/generate_key_pair.ts";
import { accepted, assertMailRefused, MailKeyHolder } from "../support/mail_caller.ts";
import { askMail, type MailAnswer, signRegistration } from "../support/mail_relay.ts";
import { type RelayProcesses, startRelayProcesses } from "../support/relay_processes.ts";

const ENV = { RELAY_MAIL_DEV: "true" };

function register(
  processes: RelayProcesses,
  at: number,
  keys = generateKeyPair(),
): Promise<MailAnswer> {
  return askMail(processes.targets[at % 2]!.url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(Date.now(), keys),
  });
}

const statuses = (answers: readonly MailAnswer[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

Deno.test("two processes count registrations of one address together and number them without gaps", async () => {
  await using processes = await startRelayProcesses(2, { env: ENV });
  const keys = generateKeyPair();
  const same = await Promise.all(
    Array.from({ length: 20 }, (_, i) => register(processes, i, keys)),
  );
  assert.deepEqual([statuses(same, 201), statuses(same, 409)], [1, 19]);
  const others = await Promise.all(Array.from({ length: 12 }, (_, i) => register(processes, i)));
  assert.deepEqual([statuses(others, 201), statuses(others, 429)], [4, 8]);
  const made = [...same, ...others].filter(({ status }) => status === 201);
  assert.deepEqual(made.map(({ body }) => body.agent_id).sort(), [1, 2, 3, 4, 5]);
});

Deno.test("two processes give an address, a client_id and the last owner key to one of many", async () => {
  await using processes = await startRelayProcesses(2, {
    env: ENV,
    limits: { mailInboxesPerTrial: 10, mailRegistrationsPerIpPerHour: 1000 },
  });
  const [one, two] = processes.targets.map(({ url }) => ({ url })) as [
    { url: string },
    { url: string },
  ];
  const newHolder = async (at: number) => {
    const { org_id, api_key } = accepted(await register(processes, at), 201);
    return new MailKeyHolder(processes.targets[at]!.url, api_key, org_id);
  };
  const [owner, other] = [await newHolder(0), await newHolder(1)];

  const bobs = await Promise.all(
    Array.from({ length: 20 }, (_, i) => [owner, other][i % 2]!.createInbox({ local_part: "bob" })),
  );
  assert.deepEqual([statuses(bobs, 201), statuses(bobs, 409)], [1, 19]);

  const holders = [owner, owner.at(two)];
  const named = await Promise.all(
    Array.from({ length: 20 }, (_, i) => holders[i % 2]!.createInbox({ client_id: "c" })),
  );
  assert.deepEqual([statuses(named, 201), statuses(named, 200)], [1, 19]);
  assert.equal(new Set(named.map(({ body }) => body.id)).size, 1);

  const first = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200).data[0].id;
  const second = await owner.newKey({ name: "2" });
  const rival = owner.at(two).with(second.api_key);
  const deletions = await Promise.all([
    owner.ask("DELETE", `/v1/mail/api-keys/${second.id}`),
    rival.ask("DELETE", `/v1/mail/api-keys/${first}`),
  ]);
  assert.equal(statuses(deletions, 204), 1);
  const left = [(await owner.readOrg()).status, (await rival.at(one).readOrg()).status];
  assert.deepEqual(left.sort(), [200, 401]);
});

Deno.test("what was acknowledged before kill -9 is there at the other process", async () => {
  await using processes = await startRelayProcesses(2, { env: ENV });
  const { org_id, api_key } = accepted(await register(processes, 0), 201);
  const owner = new MailKeyHolder(processes.targets[0]!.url, api_key, org_id);
  const inbox = await owner.inbox({ local_part: "bob", allow_send: ["x.org"] });
  const made = await owner.newKey({ name: "k", scope: "inbox", inbox_id: inbox.id });
  await processes.relays[0]!.kill("SIGKILL");
  const there = owner.at(processes.targets[1]!);
  const path = `/v1/mail/inboxes/${inbox.id}`;
  assert.deepEqual(accepted(await there.with(made.api_key).ask("GET", path), 200), inbox);
  accepted(await there.deleteOrg(), 204);
  for (const key of [api_key, made.api_key]) {
    assertMailRefused(await there.with(key).readOrg(), "unknown_key");
  }
});
