import assert from "node:assert/strict";
import { ClientAddresses } from "../../base/http/callers/client_address.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import type { WindowRecord } from "../../base/storage/commits/window_record.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { ClientRate } from "./client_rate.ts";
import { RefusalWindows } from "./refusal_windows.ts";
import { Refused } from "./refused.ts";

const NOW_MS = 100 * HOUR_MS;

Deno.test("ClientRate.stage() forgets a refusal that rested on an outdated record", () => {
  const client = new ClientRate({
    records: { read: () => Promise.resolve(null) },
    limits: { mailInboundPerClientPerHour: 1 },
    now: () => NOW_MS,
    clients: new ClientAddresses(new Uint8Array(32), 0),
    refusals: new RefusalWindows(() => NOW_MS),
  }, "192.0.2.1");
  const turnOn = (record: WindowRecord | null) =>
    ({ nowMs: NOW_MS, record: () => record, putRecord: () => {} }) as unknown as Transaction;
  assert.throws(() => client.stage(turnOn({ v: 1, window: [NOW_MS, 1] })), Refused);
  assert.ok(client.refused instanceof Refused);
  client.stage(turnOn(null));
  assert.equal(client.refused, null);
});
