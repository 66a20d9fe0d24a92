import assert from "node:assert/strict";
import { inKey } from "../../mailboxes/agent_mailboxes.ts";
import { markWakes } from "../../../base/waiting/wake_marks.ts";
import { AGENT_INBOXES } from "./agent_inboxes.ts";

Deno.test("AGENT_INBOXES are marked by sends alone, under the keys that former versions watch", () => {
  const keys: Deno.KvKey[] = [];
  const transaction = { nowMs: 5, set: (key: Deno.KvKey) => void keys.push(key) };
  const results = [
    { kind: "sent", recipient: { id: 13 } },
    { kind: "registered", agent: { id: 7 } },
    { kind: "sent", recipient: { id: 3 } },
    { kind: "sent", recipient: { id: 20 } },
    null,
  ];
  markWakes(AGENT_INBOXES).annotate(results, transaction as never);
  assert.deepEqual(keys, [["wake", 3], ["wake", 0]]);
  assert.deepEqual(AGENT_INBOXES.alsoLooksAt!(inKey(4)), ["poll", 4]);
});
