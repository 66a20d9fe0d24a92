import assert from "node:assert/strict";
import { HandleTable } from "./handle_table.ts";

Deno.test("HandleTable.find() gives the agent of each handle, of 20,000 and as it grows", () => {
  const table = new HandleTable(1);
  const handleOf = (agentId: number) => `agent_${agentId}`;
  for (let agentId = 1; agentId <= 20_000; agentId++) {
    table.add(handleOf(agentId), agentId);
    table.add(handleOf(agentId), agentId); // a listing that is put again
  }
  const found: (number | undefined)[] = [];
  for (let agentId = 1; agentId <= 20_000; agentId++) {
    found.push(table.find(handleOf(agentId), (one) => handleOf(one) === handleOf(agentId)));
  }
  assert.deepEqual(found, Array.from({ length: 20_000 }, (_, i) => i + 1));
  assert.equal(table.find("agent_0", (one) => handleOf(one) === "agent_0"), undefined);
  assert.equal(table.find("agent_7", () => false), undefined);
});
