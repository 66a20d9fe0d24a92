import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { RepetitionSweep } from "../../base/idempotency/repetition_sweep.ts";
import { Leases } from "../../base/storage/leases/leases.ts";
import { OPERATOR_MAILS, OperatorMail, type OperatorMailServices } from "./operator_mail.ts";

const HOUR_MS = 3_600_000;
const MAIL = {
  from: "ann@example.org",
  to: ["abuse@agents.test"],
  raw: new TextEncoder().encode("Subject: Help\r\n\r\n"),
  clientIp: null,
  clientHelo: null,
};

for (const exclusive of [true, false]) {
  const store = exclusive ? "an exclusive store" : "a shared store";
  Deno.test(`OperatorMail passes the same mail on once a day that really passes, on ${store}`, async () => {
    const kv = await openMemoryKv();
    const clock = createTestClock();
    const storage = await openTestStorage(kv, { exclusive, clock });
    let discarded = 0;
    const blobs = {
      refuseWhenFull: () => Promise.resolve(),
      write: ([folder]: string[]) =>
        Promise.resolve({ name: [folder, "blob"], sections: [{ sizeBytes: 1, sha256: "x" }] }),
      keep: () => {},
      discard: () => Promise.resolve(void discarded++),
    };
    const mails = new OperatorMail({
      ...storage,
      blobs: blobs as unknown as OperatorMailServices["blobs"],
      random: storage.store.random,
      from: "relay@agents.test",
    });
    const passedOn = async () => {
      assert.deepEqual(await mails.passOn(MAIL, MAIL.to[0]!), { code: null });
      return (await Array.fromAsync(kv.list({ prefix: ["outgoing"] }))).length;
    };
    assert.deepEqual(await Promise.all([passedOn(), passedOn()]), [1, 1]);
    assert.equal(discarded, 1, "the commit decides which of two is passed on");
    clock.leap(27 * HOUR_MS);
    await assert.rejects(
      mails.passOn({ ...MAIL, from: "bob@example.org" }, MAIL.to[0]!),
      { code: "unavailable" },
    );
    clock.advance(75_000);
    assert.equal(await passedOn(), 1, "though the clock is a day ahead");
    clock.leap(-27 * HOUR_MS);
    assert.equal(await passedOn(), 1);
    clock.advance(24 * HOUR_MS - 75_000 - 1);
    assert.equal(await passedOn(), 1);
    clock.advance(1);
    assert.equal(await passedOn(), 2);
    clock.advance(27 * HOUR_MS);
    const sweep = new RepetitionSweep(
      { ...storage, leases: new Leases(storage.store) },
      [OPERATOR_MAILS],
    );
    await sweep.everyMinute();
    for (const prefix of ["mail-operator", "repetition"]) {
      assert.deepEqual(await Array.fromAsync(kv.list({ prefix: [prefix] })), []);
    }
    await storage.close();
    kv.close();
  });
}
