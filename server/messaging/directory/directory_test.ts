import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { Presence } from "../agents/presence.ts";
import { AGENT_COUNT } from "../agents/register_agent.ts";
import { RelayError } from "../../base/errors.ts";
import { PublicReads } from "../../base/storage/commits/public_reads.ts";
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
  using kv = await openMemoryKv();
  await kv.set(listingKey(1), LISTING);
  await kv.set(AGENT_COUNT, 1);
  const built = Promise.withResolvers<void>();
  let lists = 0;
  let isOpen = false;
  const slow = new Proxy(kv, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name !== "list") return typeof member === "function" ? member.bind(target) : member;
      return async function* (...given: Parameters<Deno.Kv["list"]>) {
        if (isOfListings(given[0])) lists++;
        if (isOpen) await built.promise;
        yield* target.list(...given);
      };
    },
  });
  const { store, records } = await openTestStorage(slow);
  isOpen = true;
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
    const refused = assert.rejects(
      search(),
      (error) =>
        error instanceof RelayError && error.code === "unavailable" && error.retryAfterMs === 5_000,
    );
    while (lists === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await refused;
  }
  assert.equal(lists, 1, "one search builds for all");
  built.resolve();
  let found: string[] | null = null;
  for (let i = 0; i < 1_000 && found === null; i++) found = await search().catch(() => null);
  assert.deepEqual(found?.map((json) => JSON.parse(json).handle), ["first"]);
});

Deno.test("Directory.search() finds agents of every span that is read side by side, also after a failed read", async () => {
  using kv = await openMemoryKv();
  const count = 9_001;
  const banned = new Set([1, 2_000, 2_001, 4_500]);
  for (let from = 1; from <= count; from += 500) {
    const operation = kv.atomic();
    for (let id = from; id < Math.min(from + 500, count + 1); id++) {
      const listing = { ...LISTING, id, handle: `agent_${id}` };
      if (!banned.has(id)) operation.set(listingKey(id), listing);
    }
    await operation.commit();
  }
  await kv.set(AGENT_COUNT, count);
  let failing = 1;
  let lists = 0;
  const failingOnce = new Proxy(kv, {
    get(target, name) {
      const member = Reflect.get(target, name, target);
      if (name !== "list") return typeof member === "function" ? member.bind(target) : member;
      return async function* (...given: Parameters<Deno.Kv["list"]>) {
        if (isOfListings(given[0]) && ++lists > 2 && failing-- > 0) throw new Error("no disk");
        yield* target.list(...given);
      };
    },
  });
  const { store, records } = await openTestStorage(failingOnce);
  const directory = new Directory({
    store,
    records,
    presence: new Presence(store),
    publicReads: new PublicReads(store, records),
    packs: null,
  });
  const find = async () => {
    const page = { order: "newest" as const, offset: 0, limit: count };
    const found = await directory.search({ text: "agent_", tags: [] }, page);
    return found.map((json) => JSON.parse(json).id as number);
  };
  await assert.rejects(find(), /no disk/);
  const expected = Array.from({ length: count }, (_, i) => count - i).filter((id) =>
    !banned.has(id)
  );
  assert.deepEqual(await find(), expected);
  const later = { ...LISTING, id: count + 1, handle: `agent_${count + 1}` };
  await kv.set(listingKey(later.id), later);
  records.evict("count/agents");
  await kv.set(AGENT_COUNT, later.id);
  assert.deepEqual(await find(), [later.id, ...expected]);
});

function isOfListings(selector: Deno.KvListSelector): boolean {
  const key = "prefix" in selector ? selector.prefix : selector.start;
  return key[0] === "listed";
}
