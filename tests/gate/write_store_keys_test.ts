import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { deliver, newSendingOrg, send } from "../support/sending_org.ts";
import { accepted } from "../support/mail_caller.ts";
import { startMailStore } from "../support/mail_store.ts";
import { registerAgents } from "../support/test_agent.ts";
import {
  isDeclared,
  readStoreKeys,
  STORE_KEYS_PAGE,
  storeKeys,
  withStoreKeys,
} from "./write_store_keys.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const WRITE = "deno run -A tests/gate/write_store_keys.ts";

Deno.test(`${STORE_KEYS_PAGE} has the table of the store's keys that '${WRITE}' writes`, async () => {
  const page = await Deno.readTextFile(`${ROOT}${STORE_KEYS_PAGE}`);
  const keys = await storeKeys(ROOT);
  assert.ok(keys.length > 100, `only ${keys.length} declarations were found`);
  assert.ok(withStoreKeys(page, keys) === page, `it is old: run '${WRITE}'`);
});

Deno.test("readStoreKeys() reads names, fixed parts, kinds and words of declarations", () => {
  const text = `
    /** Not a declaration: defineRow() in a comment. */
    export const a = defineRow<[orgId: string, ...what: string[], n: number]>(["a"], Infinity, {
      holds: "bytes (60,000 each), " + 'of "one"',
    });
    const b = defineRecord<{ v: 1; of: string[] }, [id: string, what: "bytes"]>(["b", 0], 2, {
      holds: "c",
      expires: "1 h",
    });
    const c = defineWindow<[who: string]>("sends", { holds: "sends" });
    const d = defineRecord<number>(["d"], 0, { holds: "a number" })();`;
  const keys = readStoreKeys("server/x.ts", text);
  const page = "before\n| key | value | kind, expiry |\n|---|---|---|\n| former |\n\nafter";
  assert.equal(
    withStoreKeys(page, keys),
    `before
| key | value | kind, expiry | declared in |
|---|---|---|---|
| \`["a", orgId, ...what, n]\` | bytes (60,000 each), of "one" | row | \`x.ts\` |
| \`["b", 0, id, "bytes"]\` | c | record, 1 h | \`x.ts\` |
| \`["window", "sends", who]\` | sends | record | \`x.ts\` |
| \`["d"]\` | a number | record | \`x.ts\` |

after`,
  );
  assert.throws(() => readStoreKeys("x.ts", 'defineRow(["e"], 0, {})'), /x\.ts.*says no `holds/);
  assert.throws(() => readStoreKeys("x.ts", "defineRow([NAME], 0, {})"), /x\.ts: not all literals/);
});

Deno.test("every key that a relay writes for agents and mail is declared", async () => {
  await using world = await startMailStore();
  const { relay, kv } = world;
  const [ann, bob] = await registerAgents(relay, "ann", "bob");
  await ann.sent({ to: bob.address, body: "Hello" });
  await bob.poll();
  const org = await newSendingOrg(relay);
  const inbox = await org.inbox();
  accepted(await send(org, inbox, { subject: "Hello" }), 202);
  await deliver(relay);
  const declared = await storeKeys(ROOT);
  const firsts = new Set<unknown>();
  for await (const { key } of kv.list({ prefix: [] })) {
    firsts.add(key[0]);
    assert.ok(declared.some((one) => isDeclared(key, one)), `not declared: ${Deno.inspect(key)}`);
  }
  assert.ok(firsts.size > 30, `only ${firsts.size} kinds of keys: ${[...firsts]}`);
});
