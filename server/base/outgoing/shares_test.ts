import assert from "node:assert/strict";
import { type Parties, QUICK_FOR_MS, type RunningAttempt, Shares, SLOW_MS } from "./shares.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** Six slots, as a relay's mail has them by default, and a clock. */
class Rig {
  nowMs = 10 * HOUR_MS;
  readonly shares: Shares;
  constructor(slots = 6) {
    this.shares = new Shares(slots);
  }
  /** Begins as many attempts as are admitted. */
  take(org: string | undefined, domain: string | undefined): RunningAttempt[] {
    const parties: Parties = {
      ...(org === undefined ? {} : { org }),
      ...(domain === undefined ? {} : { domain }),
    };
    const attempts: RunningAttempt[] = [];
    while (this.shares.admits(parties, this.nowMs)) {
      attempts.push(this.shares.take(parties, this.nowMs));
    }
    return attempts;
  }
  end(attempts: RunningAttempt[], afterMs: number, tells = true): void {
    this.nowMs += afterMs;
    for (const attempt of attempts) this.shares.giveBack(attempt, this.nowMs, tells);
  }
  wasQuick(org: string | undefined, domain: string | undefined): void {
    this.end(this.take(org, domain), 100);
  }
}

const CROWD = Array.from({ length: 20 }, (_, i) => [`org ${i}`, `${i}.test`] as const);

Deno.test("Shares gives a new org one slot, and more once it was quick", () => {
  const rig = new Rig();
  const first = rig.take("a", "x.test");
  assert.equal(first.length, 1);
  rig.end(first, SLOW_MS);
  assert.equal(rig.take("a", "x.test").length, 3);
});

Deno.test("Shares has orgs leave room for whoever comes next, however quick they were", () => {
  const rig = new Rig();
  for (const org of "abcd") rig.wasQuick(org, "x.test");
  assert.deepEqual([..."abcd"].map((org) => rig.take(org, "x.test").length), [3, 1, 1, 0]);
  assert.equal(rig.take("d", "y.test").length, 1, "the last slot is for another domain");
});

Deno.test("Shares gives the last slot to nobody unknown", () => {
  const rig = new Rig();
  rig.wasQuick("known", "well-known.test");
  assert.equal(CROWD.flatMap(([org, domain]) => rig.take(org, domain)).length, 5);
  const admits = (parties: Parties) => rig.shares.admits(parties, rig.nowMs);
  assert.equal(admits({ org: "new", domain: "new.test" }), false);
  assert.equal(admits({ org: "new", domain: "well-known.test" }), true);
  assert.equal(admits({ org: "known", domain: "new.test" }), true);
});

Deno.test("Shares gives the last slot to nobody who was slow either", () => {
  for (const slots of [3, 4, 6]) {
    const rig = new Rig(slots);
    rig.wasQuick("known", "well-known.test");
    rig.end(rig.take("slow", "slow.test"), SLOW_MS + 1);
    assert.equal(CROWD.flatMap(([org, domain]) => rig.take(org, domain)).length, slots - 1);
    assert.equal(rig.take("slow", "slow.test").length, 0);
    assert.equal(rig.take("known", "well-known.test").length, 1);
  }
});

Deno.test("Shares holds an org to one slot while an attempt of it hangs, and for as long again", () => {
  const rig = new Rig();
  rig.wasQuick("a", "x.test");
  const three = rig.take("a", "x.test");
  assert.equal(three.length, 3);
  rig.nowMs += SLOW_MS + 1;
  assert.equal(rig.take("a", "y.test").length, 0);
  const tookMs = 200_000 + SLOW_MS + 1;
  rig.end(three, 200_000);
  const one = rig.take("a", "y.test");
  assert.equal(one.length, 1);
  rig.end(one, 100);
  assert.equal(rig.take("a", "y.test").length, 1, "what is quick meanwhile ends nothing");
  rig.nowMs += tookMs;
  assert.ok(rig.take("a", "y.test").length === 0, "that one hangs by now");
});

Deno.test("Shares tries a domain that hangs by one attempt at a time, and leaves two slots", () => {
  const rig = new Rig();
  const held: RunningAttempt[] = [];
  for (let i = 0; i < 20; i++) {
    held.push(...rig.take(`org ${i}`, "hangs.test"));
    rig.nowMs += SLOW_MS + 1;
  }
  assert.equal(held.length, 4);
  assert.equal(rig.take("innocent", "x.test").length, 1);
  rig.wasQuick("innocent", "x.test");
});

Deno.test("Shares takes no domain for slow by one that hangs while others are quick", () => {
  const rig = new Rig();
  rig.wasQuick("a", "large.test");
  const bad = rig.take("bad", "large.test");
  assert.equal(bad.length, 1);
  rig.nowMs += MINUTE_MS;
  rig.wasQuick("b", "large.test");
  assert.equal(rig.take("b", "large.test").length, 2, "besides the one that hangs");
});

Deno.test("Shares leaves a domain whose only attempt hangs to be tried by others", () => {
  const rig = new Rig();
  rig.take("bad", "large.test");
  rig.nowMs += MINUTE_MS;
  assert.equal(rig.take("b", "large.test").length, 1);
});

for (const [slots, most] of [[1, 1], [2, 1], [3, 1], [4, 2], [6, 4], [10, 8]] as const) {
  Deno.test(`Shares of ${slots} slots gives slow orgs at most ${most} of them`, () => {
    const rig = new Rig(slots);
    rig.wasQuick("known", "known.test");
    // The clock of each stands still while they are slow one after the other.
    for (const [org, domain] of CROWD) {
      const [attempt] = rig.take(org, domain);
      attempt!.atMs -= SLOW_MS + 1;
      rig.end([attempt!], 0);
    }
    assert.equal(CROWD.flatMap(([org, domain]) => rig.take(org, domain)).length, most);
    if (slots > 2) assert.equal(rig.take("known", "new.test").length, 1);
  });
}

Deno.test("Shares learns nothing of an attempt that did not come about", () => {
  const rig = new Rig();
  rig.end(rig.take("a", "x.test"), 10 * SLOW_MS, false);
  const one = rig.take("a", "x.test");
  assert.equal(one.length, 1, "not that it is quick");
  rig.end(one, 100);
  assert.equal(rig.take("a", "x.test").length, 3, "nor that it is slow");
});

Deno.test("Shares believes for an hour that an org is quick, and no clock that was set back", () => {
  const rig = new Rig();
  rig.wasQuick("a", "x.test");
  rig.nowMs += QUICK_FOR_MS;
  const one = rig.take("a", "x.test");
  assert.equal(one.length, 1);
  rig.end(one, MINUTE_MS);
  rig.nowMs -= HOUR_MS;
  rig.wasQuick("a", "x.test");
  assert.equal(rig.take("a", "x.test").length, 3);
});

Deno.test("Shares gives an attempt without parties whatever is free, and takes each slot back once", () => {
  const rig = new Rig(4);
  const all = rig.take(undefined, undefined);
  assert.equal(all.length, 4);
  rig.end(all.slice(0, 1), 1);
  rig.end(all.slice(0, 1), 1);
  assert.equal(rig.take(undefined, undefined).length, 1);
});

Deno.test("Shares remembers some thousand orgs, and all that are under way", () => {
  const rig = new Rig();
  rig.wasQuick("a", undefined);
  rig.wasQuick("b", undefined);
  const [held] = rig.take("held", undefined);
  for (let i = 0; i < 9_900; i++) rig.end(rig.take(`org ${i}`, undefined), 0);
  rig.wasQuick("b", undefined);
  for (let i = 0; i < 9_900; i++) rig.end(rig.take(`other ${i}`, undefined), 0);
  assert.equal(rig.shares.admits({ org: "held" }, rig.nowMs), false);
  assert.equal(rig.take("b", undefined).length, 2);
  assert.equal(rig.take("a", undefined).length, 1, "as a new one");
  rig.end([held!], 1);
  assert.equal(rig.shares.held, 3);
});
