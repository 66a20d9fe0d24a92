import assert from "node:assert/strict";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";
import { createFakeKv, seededRandom } from "../../support/fake_kv.ts";
import { MINUTE_MS, withDeliveries } from "./delivery_bench.ts";

const READER = "reader@example.org";

/** A next hop at which a process dies: it hangs for ever at a moment. */
function deadly(at: "before the content" | "within the content", reached: () => void): Mailer {
  return {
    async send(_mail, { beforeContent }) {
      if (at === "within the content") await beforeContent();
      reached();
      return await new Promise(() => {});
    },
    close: () => Promise.resolve(),
  };
}

for (const exclusive of [true, false]) {
  for (const at of ["before the content", "within the content"] as const) {
    Deno.test(`a process that dies ${at} leaves the truth (exclusive: ${exclusive})`, () =>
      withDeliveries(async (bench) => {
        const reached = Promise.withResolvers<void>();
        const dying = await bench.open({ exclusive, mailer: deadly(at, reached.resolve) });
        const sent = await bench.accept(dying, [READER]);
        void dying.outgoing.run();
        await reached.promise;
        assert.equal((await bench.recipient(sent)).status, "queued");
        assert.ok((await dying.outgoing.held()).has(`mail/${sent.id}/0`), "shown as sending");
        const next = await bench.open({ exclusive });
        if (!exclusive) {
          await next.outgoing.run();
          assert.equal((await bench.recipient(sent)).status, "queued");
          assert.ok((await next.outgoing.held()).has(`mail/${sent.id}/0`));
          bench.clock.advance(2 * MINUTE_MS);
        }
        await next.outgoing.start();
        await next.outgoing.run();
        const recipient = await bench.recipient(sent);
        if (at === "before the content") {
          assert.deepEqual([recipient.status, recipient.attempts], ["sent", 2]);
          assert.equal(bench.smtp.contents.length, 1);
        } else {
          assert.deepEqual([recipient.status, recipient.reason], ["failed", "unknown"]);
          assert.equal(bench.smtp.contents.length, 0);
        }
        assert.equal(await bench.queued(sent), null);
      }));
  }
}

const FAULTS = { deniedSuccess: 0.1, lostAnswer: 0.1, locked: 0.1, repeated: 0.1 };

for (const seed of [1, 2, 3]) {
  Deno.test(`three processes over a bad store tell the truth of every recipient (seed ${seed})`, () =>
    withDeliveries(async (bench) => {
      const random = seededRandom(seed);
      const taken = new Map<string, number>();
      const refused = new Set<string>();
      const mailer: Mailer = {
        async send({ to }, { beforeContent }) {
          if (random() < 0.2) {
            return { ...REFUSED, stage: "recipient", reply: reply(451), permanent: false };
          }
          await beforeContent();
          if (random() < 0.2) {
            refused.add(to);
            return { ...REFUSED, stage: "content", reply: reply(554), permanent: true };
          }
          taken.set(to, (taken.get(to) ?? 0) + 1);
          return { result: "sent", reason: "250 at DATA", reply: reply(250) };
        },
        close: () => Promise.resolve(),
      };
      const plain = await bench.open({ exclusive: false, mailer });
      const messages = [];
      for (let i = 0; i < 4; i++) {
        messages.push(
          await bench.accept(
            plain,
            Array.from({ length: 10 }, (_, n) => `reader${i}.${n}@example.org`),
          ),
        );
      }
      const processes = await Promise.all([1, 2, 3].map((number) =>
        bench.open({
          exclusive: false,
          mailer,
          kv: createFakeKv({ kv: bench.kv, seed: 10 * seed + number, faults: FAULTS }),
        })
      ));
      for (let step = 0; step < 300; step++) {
        await Promise.all(processes.map(({ outgoing }) => outgoing.run()));
        const left = await Array.fromAsync(bench.kv.list({ prefix: ["outgoing"] }));
        if (left.length === 0) break;
        bench.clock.advance(MINUTE_MS / 2);
      }
      assert.deepEqual(await Array.fromAsync(bench.kv.list({ prefix: ["outgoing"] })), []);
      const rows = await Promise.all(messages.map((sent) => bench.message(sent)));
      const recipients = rows.flatMap(({ recipients }) => recipients);
      assert.equal(recipients.length, 40);
      for (const { address, status, reason } of recipients) {
        const what = `${address}: ${status} ${reason}`;
        assert.ok((taken.get(address) ?? 0) <= 1, what);
        // An attempt whose outcome the store did not take in time has an unknown outcome.
        if (status === "failed") assert.equal(reason, "unknown", what);
        else assert.equal(status, taken.has(address) ? "sent" : "bounced", what);
        if (status === "bounced") assert.ok(refused.has(address), what);
      }
      assert.ok(recipients.filter(({ status }) => status === "failed").length < 5);
    }));
}

const REFUSED = { result: "refused", reason: "refused", isReached: true } as const;
const reply = (code: number) => ({ code, enhancedCode: null, text: "" });
