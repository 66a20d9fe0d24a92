/** Writes marks of repetitions as versions before the sweep did: the store itself deletes them. */
const HOUR_MS = 3_600_000;
const STORED_MS = 26 * HOUR_MS;

interface Use {
  atMs?: number;
  createdAtMs?: number;
  livedMs?: number;
}

interface IndexRow {
  beside?: Deno.KvKey[];
  held?: { rowBytes: number; blob: unknown };
}

/**
 * @param kv of a store without a running relay; what expires is written through it
 * @param nowMs the time that it expires by
 */
export async function makeRepetitionsFormer(kv: Deno.Kv, nowMs: number): Promise<number> {
  let count = 0;
  const rows = await Array.fromAsync(kv.list<IndexRow>({ prefix: ["repetition"] }));
  for (const { key: index, value: { beside = [], held } } of rows) {
    const [, kind, , ...rest] = index;
    const key = [kind!, ...rest];
    const { livedMs: _, ...use } = (await kv.get<Use>(key)).value!;
    const lifeMs = kind === "mail-gateway" ? 2 * HOUR_MS + 600_000 : STORED_MS;
    const endMs = (use.createdAtMs ?? use.atMs)! + lifeMs;
    const operation = kv.atomic().delete(index).set(key, use, { expireIn: endMs - nowMs });
    for (const more of beside) {
      const row = [...key, ...more];
      operation.set(row, (await kv.get(row)).value, { expireIn: endMs - nowMs });
    }
    if (held !== undefined) {
      const [orgId, scope] = rest;
      operation.set(["mail-answer", endMs, scope!], { v: 1, orgId, ...held });
    }
    await operation.commit();
    count++;
  }
  for await (
    const { key, value } of kv.list<{ answers?: Use[] }>({ prefix: ["mail-message"] })
  ) {
    const answers = value.answers?.map(({ livedMs: _, ...answer }) => answer);
    if (answers !== undefined) {
      await kv.atomic().set(key, { ...value, answers }).commit();
    }
  }
  await kv.atomic().delete(["meta", "lived"]).commit();
  return count;
}
