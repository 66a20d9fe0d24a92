/** The contract of the store over a Deno KV of a test. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { createTestClock } from "./clock.ts";
import { storeTimes } from "./storage.ts";
import type { CallDeadlineOptions } from "../../server/base/storage/rows/call_deadline.ts";
import {
  createStore,
  EMBEDDED_CAPACITY,
  type Store,
} from "../../server/base/storage/rows/store.ts";

export function storeOn(
  kv: Deno.Kv,
  given:
    & Partial<Pick<Store, "exclusive" | "capacity" | "now" | "random">>
    & CallDeadlineOptions = {},
): Store {
  return createStore({
    backend: new KvBackend(kv),
    exclusive: true,
    capacity: EMBEDDED_CAPACITY,
    ...storeTimes(createTestClock()),
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    ...given,
  });
}
