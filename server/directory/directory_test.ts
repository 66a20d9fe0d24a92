import assert from "node:assert/strict";
import { openTestStorage } from "../../tests/support/storage.ts";
import { Presence } from "../agents/presence.ts";
import { AGENT_COUNT } from "../agents/register.ts";
import { RelayError } from "../errors.ts";
import { PublicReads } from "../storage/public_reads.ts";
import { Directory } from "./directory.ts";
import { listingKey, type ListingRow } from "./listing.ts";
import type { SearchPage } from "./search_index.ts";

const PAGE: SearchPage = { order: "activity", offset: 0, limit: 20 };
const LISTING: ListingRow = {
  v: 1,
  id: 1,
  handle: "first",
  wordName: "calm-ivy-otter",
  address: "FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
  displayName: "",
  description: "",
  tags: [],
  createdAtMs: 1_780_000_000_000,
};

Deno.test("Directory.search() answers unavailable while its index is built for long, then finds", async () => {
  using kv = await Deno.openKv(":memory:");
  await kv.set(listingKey(1), LISTING);
  await kv.set(AGENT_COUNT, 1);
  const built = Promise.withResolvers<void>();
  let lists = 0;
  const slow = new Proxy(kv, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name !== "list") return typeof member === "function" ? member.bind(target) : member;
      return async function* (...given: Parameters<Deno.Kv["list"]>) {
        lists++;
        await built.promise;
        yield* target.list(...given);
      };
    },
  });
  const { store, records } = await openTestStorage(slow);
  const presence = new Presence(store);
  const publicReads = new PublicReads(store, records);
  const directory = new Directory({
    store,
    records,
    presence,
    publicReads,
    packs: null,
    buildWaitMs: 1,
  });
  const search = () => directory.search({ text: "irs", tags: [] }, PAGE);
  for (let i = 0; i < 2; i++) {
    await assert.rejects(
      search(),
      (error) =>
        error instanceof RelayError && error.code === "unavailable" && error.retryAfterMs === 5_000,
    );
  }
  assert.equal(lists, 1, "one search builds for all");
  built.resolve();
  let found: string[] | null = null;
  for (let i = 0; i < 1_000 && found === null; i++) found = await search().catch(() => null);
  assert.deepEqual(found?.map((json) => JSON.parse(json).handle), ["first"]);
});
