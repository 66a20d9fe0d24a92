/** A disk that is full again and again between group commits, the saving of records and the deletion of the journal. */
import assert from "node:assert/strict";
import { delay } from "../support/pace.ts";
import { smallDiskOrSkip } from "../support/small_disk.ts";
import { spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent } from "../support/test_agent.ts";
import { realTarget, TRAFFIC_LIMITS } from "../support/traffic.ts";
import { Ledger } from "./ledger.ts";

const DISK_MIB = 96;
const AGENTS = 4;
const LANES = 8;
const FILLINGS = 4;

smallDiskOrSkip(
  "what was acknowledged before and while the disk was full is there once, after a kill as well",
  DISK_MIB,
  async (disk) => {
    const limits = { ...TRAFFIC_LIMITS, minFreeDiskBytes: 0 };
    const env = { RELAY_DATA_DIR: disk.path, RELAY_LIMITS: JSON.stringify(limits) };
    const entry = "./relay_with_small_journal.ts";
    const ledger = new Ledger();
    const relay = await spawnRelay({ env, entry });
    const target = realTarget(relay.url);
    for (let i = 0; i < AGENTS; i++) ledger.enroll(await registerAgent(target, `agent_${i}`));
    let over = false;
    const lane = async (from: number) => {
      for (let i = 0; !over; i++) {
        try {
          await ledger.send(target, from, i % AGENTS);
        } catch (error) {
          if (!(error instanceof TypeError) && !(error instanceof Deno.errors.Http)) throw error;
        }
        await delay(2);
      }
    };
    const lanes = Promise.all(Array.from({ length: LANES }, (_, i) => lane(i % AGENTS)));
    for (let filling = 0; filling < FILLINGS; filling++) {
      const known = ledger.acknowledged.size;
      while (ledger.acknowledged.size < known + 10) await delay(5);
      // Until nothing is stored any more: the file's log, and a reserve that is given up, have room.
      for (let before = 0; before < ledger.acknowledged.size;) {
        before = ledger.acknowledged.size;
        disk.fill();
        await delay(150);
      }
      if (filling < FILLINGS - 1) disk.empty();
    }
    over = true;
    await relay.kill("SIGKILL");
    await lanes;
    disk.empty();
    assert.match(relay.output().stdout + relay.output().stderr, /store_write_failed/);
    await using again = await spawnRelay({ env });
    const later = realTarget(again.url);
    await ledger.repeatUnanswered(later);
    await ledger.check(later);
    assert.ok(ledger.acknowledged.size > 10 * FILLINGS);
    assert.equal((await again.terminate()).code, 0);
  },
);
