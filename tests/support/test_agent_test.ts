import assert from "node:assert/strict";
import { generateKeyPair, signRequest } from "../../toolkit/mod.ts";
import { createTestClock } from "./clock.ts";
import { TestAgent, toBytes } from "./test_agent.ts";

Deno.test("TestAgent.sign() gives the headers that the toolkit gives", () => {
  for (let i = 0; i < 20; i++) {
    const keys = generateKeyPair();
    const agent = new TestAgent({ url: "http://127.0.0.1", clock: createTestClock() }, keys);
    const body = toBytes({ to: "bob", body: i });
    const request = { method: "POST", path: "/v1/messages", body, timestamp: 1_760_000_000 + i };
    assert.deepEqual(
      agent.sign(request.method, request.path, body, request.timestamp),
      { ...signRequest(request, keys.privateKey).headers },
    );
  }
});
