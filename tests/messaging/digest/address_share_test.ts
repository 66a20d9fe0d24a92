import assert from "node:assert/strict";
import { parseMail, startSmtpServer } from "../../support/smtp_server.ts";
import type { TestAgent } from "../../support/test_agent.ts";
import { headlineOf, HOUR_MS, setEmail, startDigestBench } from "./digest_bench.ts";

Deno.test("an address gets at most 4 digests in 6 hours, the longest waiting agents first", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const alice = await bench.agent("alice");
  const handles = ["one", "two", "three", "four", "five", "six"];
  const readers: TestAgent[] = [];
  for (const handle of handles) readers.push(await bench.agent(handle, "Shared@example.net"));
  const told = async () =>
    (await Promise.all(smtp.received.map(parseMail))).map((mail) => headlineOf(mail).split("@")[1]);

  // "two" and "three" had theirs an hour before, three later than two.
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "two", body: "hello" });
  await bench.sweep();
  bench.relay.clock.advance(1_000);
  await alice.sent({ to: "three", body: "hello" });
  await bench.sweep();
  assert.deepEqual(await told(), ["two", "three"]);
  smtp.received.length = 0;

  bench.relay.clock.advance(6 * HOUR_MS);
  await setEmail(readers[5]!, "shared@EXAMPLE.net"); // the same mailbox, spelled otherwise
  bench.relay.clock.advance(1_000);
  for (const to of handles) await alice.sent({ to, body: "hello" });
  await bench.sweep();
  assert.deepEqual((await told()).sort(), ["five", "four", "one", "six"], "none before: first");
  smtp.received.length = 0;

  for (let hour = 0; hour < 5; hour++) await bench.sweepAfter(HOUR_MS);
  assert.deepEqual(await told(), []);
  await bench.sweepAfter(HOUR_MS);
  assert.deepEqual((await told()).sort(), ["three", "two"]);
});

Deno.test("one share left goes to the agent whose last digest is oldest", async () => {
  await using smtp = await startSmtpServer();
  await using bench = await startDigestBench({ smtpPort: smtp.port });
  const alice = await bench.agent("alice");
  const handles = ["old_one", "young_one", "new_a", "new_b", "new_c"];
  for (const handle of handles) await bench.agent(handle, "shared@example.net");
  const write = async (to: string) => {
    bench.relay.clock.advance(1_000);
    await alice.sent({ to, body: "hello" });
  };
  await write("old_one");
  await bench.sweep();
  await bench.sweepAfter(HOUR_MS);
  await write("young_one");
  await bench.sweep();
  bench.relay.clock.advance(6 * HOUR_MS);
  for (const to of ["new_a", "new_b", "new_c"]) await write(to);
  await bench.sweep();
  assert.equal(smtp.received.length, 5);
  await write("young_one");
  await write("old_one");
  await bench.sweep();
  assert.equal(smtp.received.length, 6);
  assert.match(headlineOf(await parseMail(smtp.received[5]!)), /@old_one$/);
});
