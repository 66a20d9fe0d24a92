import assert from "node:assert/strict";
import type { MailOutcome, OutgoingMail, RefusalStage } from "../mailer/mailer.ts";
import type { AttemptOutcome } from "../outgoing/outgoing_handler.ts";
import type { Store } from "../storage/rows/store.ts";
import { hasChanged, noticeHandler, type Notices } from "./notice_handler.ts";

const HOUR_MS = 3_600_000;
const QUEUED_MS = Date.UTC(2026, 5, 1);

interface Payload {
  v: 1;
  refusals?: number;
}

type Changes = Partial<Notices<Payload, { words: string }>>;

/** Attempts a notice once, some hours after it was queued. */
async function attempt(
  said: MailOutcome,
  { hours = 0, attempts = 1, payload = { v: 1, refusals: 0 } as Payload, ...changes }:
    & Changes
    & { hours?: number; attempts?: number; payload?: Payload } = {},
) {
  const nowMs = QUEUED_MS + hours * HOUR_MS;
  const seen: string[] = [];
  const store = {
    now: () => nowMs,
    clock: { nowMs, leaptLately: false },
    random: () => Uint8Array.of(0),
  } as unknown as Store;
  const mailer = {
    async send(mail: OutgoingMail, { beforeContent }: { beforeContent(): Promise<void> }) {
      if (said.result === "sent" || said.result === "unknown" || said.stage === "content") {
        await beforeContent();
      }
      seen.push(`${mail.from} to ${mail.to}`);
      return said;
    },
    close: () => Promise.resolve(),
  };
  const handler = noticeHandler<Payload, { words: string }>(
    { store, mailer, from: { name: "Relay", address: "relay@relay.test" } },
    {
      kind: "test",
      concurrency: 1,
      waits: { waitsMs: [1_000, 2_000] },
      maxRefusals: 2,
      read: () => Promise.resolve({ words: "now" }),
      compose: ({ words }) =>
        Promise.resolve({ to: "reader@host.test", content: new TextEncoder().encode(words) }),
      ...changes,
    },
  );
  const outcome = await handler.attempt({
    id: "test/1",
    payload,
    queuedAtMs: QUEUED_MS,
    livedMs: hours * HOUR_MS,
    attempts,
    signal: new AbortController().signal,
    commitData: () => Promise.resolve(void seen.push("data")),
  });
  return { outcome, seen, handler };
}

const SENT: MailOutcome = { result: "sent", reason: "250", reply: null };
const refused = (stage: RefusalStage, code: number): MailOutcome => ({
  result: "refused",
  stage,
  permanent: code >= 500,
  reason: `${code}`,
  reply: { code, enhancedCode: null, text: "" },
  isReached: true,
});
const retried = (outcome: AttemptOutcome<Payload>) =>
  outcome.result === "retry" ? outcome : assert.fail(outcome.result);

Deno.test("noticeHandler() stores that the content may leave before it leaves, and ends what is sent or unknown", async () => {
  const sent = await attempt(SENT);
  assert.deepEqual(sent.outcome, { result: "done" });
  assert.deepEqual(sent.seen, ["data", "relay@relay.test to reader@host.test"]);
  assert.equal(sent.handler.longestPauseMs, 2_000);
  const { outcome } = await attempt({ result: "unknown", reason: "no reply" });
  assert.deepEqual(outcome, { result: "unknown", reason: "unknown: no reply" });
});

Deno.test("noticeHandler() sends nothing of what is not to be told, before it begins or right before the content", async () => {
  const gone: AttemptOutcome<never> = { result: "dropped", reason: "gone" };
  const early = await attempt(SENT, { read: () => Promise.resolve(gone) });
  assert.deepEqual([early.outcome, early.seen], [gone, []]);
  const changed = hasChanged("it has changed");
  const late = await attempt(SENT, { withdraw: () => Promise.resolve(changed) });
  assert.deepEqual([late.outcome, late.seen], [changed, []]);
  assert.deepEqual([retried(changed).afterMs, retried(changed).untried], [0, true]);
  const failing = attempt(SENT, { withdraw: () => Promise.reject(new Error("no store")) });
  await assert.rejects(failing, /no store/);
});

Deno.test("noticeHandler() tries again after 10, 30, 60, 120 and 300 s unless its kind says otherwise", async () => {
  const waitsMs = [];
  for (const attempts of [1, 2, 3, 4, 5, 6]) {
    const { outcome, handler } = await attempt(refused("recipient", 450), {
      attempts,
      waits: undefined,
    });
    waitsMs.push(retried(outcome).afterMs);
    assert.equal(handler.longestPauseMs, 300_000);
  }
  assert.deepEqual(waitsMs, [10_000, 30_000, 60_000, 120_000, 300_000, 300_000]);
});

Deno.test("noticeHandler() counts permanent refusals of the mail itself, and gives it up at the last", async () => {
  for (const stage of ["recipient", "content"] as const) {
    const first = retried((await attempt(refused(stage, 550))).outcome);
    assert.deepEqual([first.payload?.refusals, first.afterMs], [1, 1_000]);
    const last = await attempt(refused(stage, 550), { payload: { v: 1, refusals: 1 } });
    assert.deepEqual(last.outcome, { result: "dead", reason: "refused: 550" });
  }
  for (
    const other of [refused("recipient", 450), refused("sender", 550), refused("connection", 554)]
  ) {
    const { outcome } = await attempt(other, { payload: { v: 1, refusals: 1 } });
    assert.equal(retried(outcome).payload?.refusals ?? 1, 1);
  }
  const { outcome } = await attempt(refused("recipient", 550), {
    maxRefusals: 1,
    payload: { v: 1 },
  });
  assert.equal(outcome.result, "dead");
});

Deno.test("noticeHandler() says whether the next hop was reached, and whether it put the mail off", async () => {
  const none = retried(
    (await attempt({ ...refused("connection", 0), reply: null } as MailOutcome)).outcome,
  );
  assert.deepEqual([none.unreachable, none.deferred], [true, false]);
  const later = retried((await attempt(refused("recipient", 451))).outcome);
  assert.deepEqual([later.unreachable, later.deferred], [false, true]);
});

Deno.test("noticeHandler() gives up for its age what is tried so long, or refused so long, as the kind says", async () => {
  const tried = { triedMs: 48 * HOUR_MS };
  const expired = await attempt(SENT, { ...tried, hours: 49 });
  assert.deepEqual(expired.outcome, { result: "dead", reason: "expired", untried: true });
  assert.deepEqual(expired.seen, []);
  const { endsAtMs } = retried(
    (await attempt(refused("recipient", 450), { ...tried, hours: 47 })).outcome,
  );
  assert.equal(endsAtMs, QUEUED_MS + 48 * HOUR_MS);

  const old = { refusedMs: 24 * HOUR_MS, hours: 25 };
  const { outcome } = await attempt(refused("recipient", 450), old);
  assert.deepEqual(outcome, { result: "dead", reason: "expired: 450" });
  assert.equal((await attempt(refused("connection", 421), old)).outcome.result, "retry");
  assert.equal((await attempt(SENT, old)).outcome.result, "done");
  assert.equal((await attempt(refused("recipient", 450), { hours: 99 })).outcome.result, "retry");
});
