/** A process that is killed while it writes the search index: the next one goes on, and answers are right. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../server/base/config/permissions.ts";
import { createTestClock } from "../support/clock.ts";
import { seededRandom } from "../support/fake_kv.ts";
import { isLong } from "../support/long_test.ts";
import { delay } from "../support/pace.ts";
import { newId, openSearchRig } from "../support/search_rig.ts";

const ROUNDS = isLong ? 25 : 3;
const MAILS = 600;

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Runs a process over the store with the permissions of a relay with mail. @returns whether it was killed */
async function killAfter(dir: string, batches: number, ms: number): Promise<boolean> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "--no-check",
      `--config=${pathOf("../../deno.json")}`,
      ...permissionFlags({ RELAY_MAIL_DEV: "true", RELAY_DATA_DIR: dir }),
      pathOf("../support/indexing_program.ts"),
      dir,
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  let said = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk, { stream: true });
    if (said.split("a batch\n").length > batches) break;
  }
  await delay(ms);
  try {
    child.kill("SIGKILL");
  } catch { /* it has ended */ }
  const { signal, code } = await child.status;
  assert.ok(signal === "SIGKILL" || code === 0, said);
  return signal === "SIGKILL";
}

Deno.test(`kill -9 while the search index is written, ${ROUNDS} rounds`, async () => {
  const dir = await Deno.makeTempDir({ prefix: "relay-index-kill-" });
  const random = seededRandom(43);
  const clock = createTestClock();
  const orgId = newId("org");
  const inboxIds: string[] = [];
  let killed = 0;
  try {
    {
      using kv = await Deno.openKv(join(dir, "relay.kv"));
      await using rig = await openSearchRig({ kv, dir, clock });
      for (let i = 0; i < 2; i++) inboxIds.push(await rig.addInbox(orgId));
      for (let i = 0; i < MAILS; i++) {
        clock.advance(1_000);
        const text = `${"filler ".repeat(50)} ${i % 3 === 0 ? "third" : "other"} no${i}`;
        await rig.deliver(orgId, inboxIds[i % 2]!, { subject: `mail ${i}`, text });
      }
    }
    for (let round = 0; round < ROUNDS; round++) {
      // The first look at the disk is before any batch.
      const wasKilled = await killAfter(dir, 2 + Math.floor(random() * 8), random() * 30);
      killed += Number(wasKilled);
      using kv = await Deno.openKv(join(dir, "relay.kv"));
      await using rig = await openSearchRig({ kv, dir, clock });
      if (round % 5 === 4) { // removed words, and the way back to an empty index
        for (const name of Deno.readDirSync(rig.folder)) {
          Deno.removeSync(join(rig.folder, name.name));
        }
      }
      if (round < ROUNDS - 1) continue;
      await rig.index.catchUp();
      const lists = rig.lists();
      for (const q of ["third", "other", "filler", "no7", "no599", "nothing"]) {
        const byIndex = await rig.findAll("indexed", orgId, inboxIds, q);
        assert.deepEqual(byIndex, await rig.findAll("scanned", orgId, inboxIds, q), q);
      }
      assert.equal(rig.lists(), lists, "the index answers alone");
      assert.deepEqual(rig.logged, [], "the file was never found damaged");
    }
    assert.ok(killed > 0, "no process was killed at work");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
