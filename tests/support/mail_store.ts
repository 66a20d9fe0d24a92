/** A relay with mail on whose store a test may read and change beside it. */
import { orgKey } from "../../server/mail/records/org_record.ts";
import { startMailRelay } from "./mail_relay.ts";
import { openMemoryKv } from "./read_through.ts";
import type { TestRelay, TestRelayOptions } from "./relay.ts";

export interface MailStore extends AsyncDisposable {
  relay: TestRelay;
  kv: Deno.Kv;
}

/** The relay takes its store for a shared one, and so sees what the test writes. */
export async function startMailStore(options: TestRelayOptions = {}): Promise<MailStore> {
  const kv = await openMemoryKv();
  const relay = await startMailRelay({
    ...options,
    config: { sharedStore: true, ...options.config },
    deps: { kv, ...options.deps },
  });
  return {
    relay,
    kv,
    async [Symbol.asyncDispose]() {
      try {
        await relay.stop();
      } finally {
        kv.close();
      }
    },
  };
}

/** Writes an org verified, as a confirmed claim leaves it. */
export async function verifyOrg(
  kv: Deno.Kv,
  orgId: string,
  nowMs: number,
  email = "owner@example.org",
): Promise<void> {
  const key = orgKey(orgId);
  const { value } = await kv.get<object>(key);
  if (value === null) throw new Error(`the store has no org ${orgId}`);
  await kv.set(key, { ...value, trialEndsAtMs: null, verifiedAtMs: nowMs, verifiedEmail: email });
}

/** All rows, each as a text of its key and value. */
export async function shownRows(kv: Deno.Kv): Promise<string[]> {
  const rows = await Array.fromAsync(kv.list({ prefix: [] }));
  return rows.map(({ key, value }) =>
    Deno.inspect([key, value], { depth: Infinity, strAbbreviateSize: Infinity })
  );
}

/** All rows whose key or value names the text. */
export async function rowsNaming(kv: Deno.Kv, text: string): Promise<string[]> {
  return (await shownRows(kv)).filter((row) => row.includes(text));
}
