/** Relays with Google sign-in that share one store, as processes of one deployment do. */
import type { OrgRecord } from "../../../server/mail/records/org_record.ts";
import { KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createTestClock } from "../../support/clock.ts";
import { createFakeKv, type FakeKvOptions } from "../../support/fake_kv.ts";
import {
  type GoogleIssuer,
  startGoogleIssuer,
  startGoogleRelay,
} from "../../support/google_issuer.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";

export interface GoogleRelays {
  kv: Deno.Kv;
  issuer: GoogleIssuer;
  relays: TestRelay[];
  token(claims?: Record<string, unknown>): Promise<string>;
}

/** Two relays of one store that takes what a KV server takes: ten checks a commit. */
export async function withGoogleRelays(
  fake: Pick<FakeKvOptions, "faults" | "intercept">,
  test: (rig: GoogleRelays) => Promise<void>,
): Promise<void> {
  const kv = await openMemoryKv();
  const dataDir = await Deno.makeTempDir({ prefix: "relay-google-" });
  const clock = createTestClock();
  const relays: TestRelay[] = [];
  try {
    await using issuer = await startGoogleIssuer();
    for (const seed of [1, 2]) {
      const relay = await startGoogleRelay(issuer, {
        config: { dataDir, sharedStore: true },
        limits: { mailRegistrationsPerIpPerHour: 1000 },
        deps: { kv: createFakeKv({ kv, seed, ...fake }), now: clock.now },
        relay: { capacity: KV_CONNECT_CAPACITY },
      });
      relays.push(Object.assign(relay, { clock }));
    }
    try {
      await test({ kv, issuer, relays, token: (claims) => issuer.token(clock.now(), claims) });
    } finally {
      for (const relay of relays) await relay.stop();
    }
  } finally {
    kv.close();
    await Deno.remove(dataDir, { recursive: true });
  }
}

/** The orgs that are not deleted. */
export async function orgsIn(kv: Deno.Kv): Promise<OrgRecord[]> {
  const rows = await Array.fromAsync(kv.list<OrgRecord>({ prefix: ["mail-org"] }));
  return rows.map(({ value }) => value).filter(({ deletedAtMs }) => deletedAtMs === null);
}
