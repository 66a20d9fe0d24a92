import assert from "node:assert/strict";
import { encodeUse, findGroupedUse, type GroupedUse, halvesOf, useGroupKey } from "./use_group.ts";

const NOW_MS = 1_780_000_000_123;
const SECOND = 1_780_000_000;

function use(agentId: number, timestampSeconds = SECOND): GroupedUse {
  const contentHash = String(agentId % 10).repeat(64);
  const signature = crypto.getRandomValues(new Uint8Array(64));
  return { agentId, signature, timestampSeconds, id: 2 ** 52 + agentId, contentHash };
}

function join(uses: GroupedUse[]): Uint8Array {
  return new Uint8Array(uses.flatMap((one) => [...encodeUse(one)]));
}

Deno.test("findGroupedUse() gives each send of a group its answer, and others none", () => {
  const uses = Array.from({ length: 50 }, (_, i) => use(i + 1, SECOND + i % 10));
  const key = useGroupKey(SECOND, { attempt: "a1", nowMs: NOW_MS });
  const row = join(uses);
  for (const one of uses) {
    assert.deepEqual(findGroupedUse(key, row, one.agentId, one), {
      v: 1,
      attempt: "a1",
      use: "send",
      id: one.id,
      contentHash: one.contentHash,
      createdAtMs: NOW_MS,
    });
    assert.equal(findGroupedUse(key, row, one.agentId + 1, one), null);
    const later = { ...one, timestampSeconds: one.timestampSeconds + 1 };
    assert.equal(findGroupedUse(key, row, one.agentId, later), null);
    assert.equal(findGroupedUse(key, row, one.agentId, use(one.agentId)), null);
  }
  const halves = [...halvesOf(row)].map((half) => [...half]);
  assert.deepEqual(halves, uses.map(({ signature }) => [...signature.slice(16, 48)]));
});

Deno.test("useGroupKey() puts what is signed within ten seconds together, each attempt for itself", () => {
  const attempt = { attempt: "a1", nowMs: NOW_MS };
  const key = useGroupKey(SECOND, attempt);
  assert.deepEqual(key, ["sig", "group", SECOND, NOW_MS, "a1"]);
  assert.deepEqual(useGroupKey(SECOND + 9, attempt), key);
  assert.notDeepEqual(useGroupKey(SECOND + 10, attempt), key);
  assert.notDeepEqual(useGroupKey(SECOND, { ...attempt, attempt: "a2" }), key);
});
