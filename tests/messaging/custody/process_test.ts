/** The custody key as the process reads it: from the environment, and what it prints. */
import assert from "node:assert/strict";
import { encodeBase64Key, newKey } from "../../support/custody_key.ts";
import { spawnRelay } from "../../support/relay.ts";
import { assertToolRefused, callTool, ToolAgent } from "../../support/tool_client.ts";

Deno.test("server/main.ts takes RELAY_CUSTODY_KEY, and says at start-up when it is the wrong one", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-custody-" });
  const [first, second] = [encodeBase64Key(newKey()), encodeBase64Key(newKey())];
  const printed: string[] = [];
  async function during(
    custodyKey: string,
    body: (url: string) => Promise<void>,
  ): Promise<string> {
    const relay = await spawnRelay({
      env: { RELAY_DATA_DIR: dataDir, RELAY_CUSTODY_KEY: custodyKey },
    });
    await body(relay.url);
    await relay.terminate();
    const { stdout, stderr } = relay.output();
    printed.push(stdout, stderr);
    return stdout;
  }
  try {
    const tokens: string[] = [];
    const right = await during(first, async (url) => {
      const agent = await ToolAgent.register(url, "agent");
      tokens.push(agent.token);
      await agent.done("send_message", { to: "agent", body: "to myself" });
    });
    assert.match(right, /custody +on: .*RELAY_CUSTODY_KEY/);
    const wrong = await during(second, async (url) => {
      assertToolRefused(await callTool(url, "register", { handle: "other" }), "internal");
      const [token] = tokens;
      const inbox = await callTool(url, "check_inbox", { token: token! });
      assert.deepEqual(inbox.structured.messages[0].body, { text: "to myself" });
    });
    assert.match(wrong, /custody +off: .*not configured.*RELAY_CUSTODY_KEY/);
    const rotated = await during(`${second}, ${first}`, async (url) => {
      await ToolAgent.register(url, "other");
    });
    assert.match(rotated, /custody +on: /);
    for (const secret of [first, second, ...tokens]) {
      for (const text of printed) assert.ok(!text.includes(secret));
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
