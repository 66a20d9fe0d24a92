/** A store as a former version of the relay left it, kept as JSON. */
import { Buffer } from "node:buffer";
import { rawOf } from "./read_through.ts";
import type { TestRelay } from "./relay.ts";
import { type Answer, ask } from "./answer.ts";

/** A request that was accepted, and what it was answered. */
export interface FormerRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  status: number;
  answer: string;
}

/** Bytes are written as {$bytes: base64}, sums as {$sum: decimal}. */
export interface StoredFixture {
  savedAtMs: number;
  requests: FormerRequest[];
  rows: [key: unknown, value: unknown][];
}

export async function readFixture(url: URL): Promise<StoredFixture> {
  return JSON.parse(await Deno.readTextFile(url));
}

/** Puts the rows into an empty store. */
export async function restoreFixture(kv: Deno.Kv, { rows }: StoredFixture): Promise<void> {
  const raw = rawOf(kv);
  for (const [key, value] of rows) await raw.set(decode(key) as Deno.KvKey, decode(value));
}

/** Sends the very bytes of a former request. */
export function repeatRequest(
  relay: Pick<TestRelay, "url">,
  { method, path, headers, body }: FormerRequest,
): Promise<Answer> {
  return ask(`${relay.url}${path}`, { method, headers, body });
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== "object" || value === null) return value;
  if ("$bytes" in value) return new Uint8Array(Buffer.from(value.$bytes as string, "base64"));
  if ("$sum" in value) return new Deno.KvU64(BigInt(value.$sum as string));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decode(part)]));
}
