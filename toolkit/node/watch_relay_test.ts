import assert from "node:assert/strict";
import { memoryHost } from "../../tests/toolkit/memory_host.ts";
import { stateFile } from "./state_file.ts";
import { watchRelay } from "./watch_relay.ts";

const FIRST = "https://one.example";
const SECOND = "https://two.example";
const SIGNED = { headers: { "X-Relay-Signature": "s" } };

function watched(host: ReturnType<typeof memoryHost>, relay: string, status = 200) {
  const told: string[] = [];
  const answer = () => Promise.resolve(new Response("{}", { status }));
  const fetch = watchRelay(answer, stateFile(host, "k"), relay, (home) => void told.push(home));
  return { told, fetch };
}

Deno.test("watchRelay() remembers the first relay that accepts a signature, and tells of a second", async () => {
  const host = memoryHost([]);
  const home = () => stateFile(host, "k").home();
  await watched(host, SECOND).fetch("", {});
  await watched(host, SECOND, 401).fetch("", SIGNED);
  assert.equal(await home(), undefined, "neither unsigned nor accepted");
  const first = watched(host, FIRST);
  await first.fetch("", SIGNED);
  assert.deepEqual(await home(), { relay: FIRST });
  await watched(host, FIRST).fetch("", SIGNED);
  const second = watched(host, SECOND, 401);
  await second.fetch("", {});
  assert.deepEqual(second.told, []);
  await second.fetch("", SIGNED);
  await second.fetch("", SIGNED);
  assert.deepEqual([first.told, second.told], [[], [FIRST]], "once, though it was refused");
  assert.deepEqual(await home(), { relay: FIRST });
});

Deno.test("watchRelay() works on where nothing can be written", async () => {
  const host = memoryHost([]);
  host.writePrivateFile = () => Promise.reject(Object.assign(new Error(""), { code: "EROFS" }));
  const { fetch } = watched(host, FIRST);
  assert.equal((await fetch("", SIGNED)).status, 200);
});

Deno.test("stateFile() keeps names for the relay that the key belongs to", async () => {
  const host = memoryHost([]);
  const state = stateFile(host, "k");
  await state.keepHome({ relay: FIRST });
  await state.keepHome({ relay: SECOND, handle: "other" });
  assert.deepEqual(await state.home(), { relay: FIRST });
  await state.keepHome({ relay: FIRST, handle: "me", word_name: "a-b-c" });
  await state.keepCursor(FIRST, "A", 3);
  await state.usedTimestamps.claim("r", 1);
  assert.deepEqual(await stateFile(host, "k").home(), {
    relay: FIRST,
    handle: "me",
    word_name: "a-b-c",
  });
});
