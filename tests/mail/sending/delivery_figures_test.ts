import { storeOn } from "../../support/store_on.ts";
import assert from "node:assert/strict";
import { deliveryHealth } from "../../../server/mail/figures/delivery_health.ts";
import { bucketsOf, spanOf, totalOf } from "../../../server/mail/figures/periods.ts";
import { readFigures } from "../../../server/mail/figures/read_figures.ts";
import { isHardBounce } from "../../../server/mail/mailbox/statuses/classify_reply.ts";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";
import { seededRandom } from "../../support/fake_kv.ts";
import { type Bench, HOUR_MS, MINUTE_MS, type Sent, withDeliveries } from "./delivery_bench.ts";

async function figuresOf({ kv, org, clock }: Bench, name: "24h" | "7d" | "30d") {
  const span = spanOf(name, clock.now());
  const hours = await readFigures(storeOn(kv), org.id, span.startMs, span.endMs);
  return { total: totalOf(span, hours), series: bucketsOf(span, hours) };
}

for (const seed of [1, 2, 3]) {
  Deno.test(`figures equal a recount of the messages, whatever happens to them (seed ${seed})`, () =>
    withDeliveries(async (bench) => {
      const random = seededRandom(seed);
      let taken = 0;
      let refused = 0;
      const seen = new Set<string>();
      const mailer: Mailer = {
        async send({ to }, { beforeContent }) {
          const one = random();
          const reply = (code: number, enhancedCode: string | null = null) => ({
            code,
            enhancedCode,
            text: "",
          });
          const no = { result: "refused", reason: "", isReached: true } as const;
          if (one < 0.2) {
            return { ...no, stage: "recipient", permanent: false, reply: reply(451) };
          }
          if (one < 0.3) {
            refused++;
            return { ...no, stage: "recipient", permanent: true, reply: reply(550, "5.1.1") };
          }
          if (one < 0.4) {
            refused++;
            return { ...no, stage: "content", permanent: true, reply: reply(554) };
          }
          if (one < 0.45) return { ...no, stage: "sender", permanent: true, reply: reply(550) };
          await beforeContent();
          if (one < 0.55) return { result: "unknown", reason: "" };
          taken++;
          seen.add(to);
          return { result: "sent", reason: "", reply: reply(250) };
        },
        close: () => Promise.resolve(),
      };
      const relay = await bench.open({ mailer });
      const messages: Sent[] = [];
      for (let step = 0; step < 30; step++) {
        const to = Array.from(
          { length: 1 + Math.floor(random() * 5) },
          (_, n) => `reader${step}.${n}@example.org`,
        );
        messages.push(await bench.accept(relay, to));
        await relay.outgoing.run();
        for (const sent of messages) {
          if (random() > 0.2) continue;
          const { orgId, inboxId, id: messageId } = sent;
          const { recipients } = await bench.message(sent);
          const recipient = Math.floor(random() * recipients.length);
          const trigger = (["reported_delivered", "reported_bounced", "complained"] as const)[
            Math.floor(random() * 3)
          ]!;
          const named = { v: 1, orgId, inboxId, messageId, recipient } as const;
          const before = recipients[recipient]!;
          const said = { smtpCode: null, enhancedCode: "5.2.2", detail: null };
          const changed = await relay.changes.report(named, { trigger, said });
          const isNew = before.status !== "sent" && before.status !== "delivered";
          if (typeof changed === "object" && isNew) taken++;
        }
        bench.clock.advance(20 * MINUTE_MS);
      }
      messages.push(await bench.accept(relay, ["waiting@example.org"]));
      const rows = await Promise.all(messages.map((sent) => bench.message(sent)));
      const recipients = rows.flatMap(({ recipients }) => recipients);
      assert.ok(recipients.length > 50);
      const standing = (status: string) =>
        recipients.filter((recipient) => recipient.status === status).length;
      const hard = recipients.filter((one) =>
        one.status === "bounced" && isHardBounce(one, null)
      ).length;
      const { total, series } = await figuresOf(bench, "24h");
      const { sent, delivered, deferred, bounced, complained, failed, pending } = deliveryHealth(
        total,
      );
      assert.deepEqual(
        { sent, delivered, deferred, bounced, complained, failed, pending },
        {
          sent: taken,
          delivered: standing("delivered"),
          deferred: standing("deferred"),
          bounced: { hard, soft: standing("bounced") - hard },
          complained: standing("complained"),
          failed: standing("failed"),
          pending: standing("queued"),
        },
      );
      assert.equal(total.refused, refused);
      assert.equal(total.accepted, recipients.length);
      assert.equal(total.bounces ?? 0, standing("bounced"));
      const byHour = series.map(({ counts }) => counts.accepted ?? 0);
      assert.equal(byHour.reduce((sum, n) => sum + n, 0), recipients.length);
      assert.ok(byHour.filter((n) => n > 0).length >= 10);
      assert.ok(standing("queued") > 0);
      bench.clock.advance(25 * HOUR_MS);
      for (let i = 0; i < 3; i++) await relay.outgoing.run();
      const later = (await figuresOf(bench, "7d")).total;
      assert.deepEqual([later.pending ?? 0, later.deferred ?? 0], [0, 0]);
      const shown = deliveryHealth(later);
      assert.equal(
        shown.failed + shown.delivered + shown.complained + shown.bounced.hard +
          shown.bounced.soft + (later.sent ?? 0),
        recipients.length,
      );
    }));
}
