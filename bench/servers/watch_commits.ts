/**
 * Notes when commits have ended that write rows of one kind.
 * @param kv whose operations are watched from now on
 * @param kind first part of the rows' keys
 * @returns tells the unix ms at which the newest such commit was known to have ended; null before any
 */
export function watchCommits(kv: Deno.Kv, kind: string): () => number | null {
  const atomic = kv.atomic.bind(kv);
  let newestMs: number | null = null;
  kv.atomic = () => {
    const operation = atomic();
    const set = operation.set.bind(operation);
    const commit = operation.commit.bind(operation);
    let hasKind = false;
    operation.set = (key, ...rest) => {
      hasKind ||= key[0] === kind;
      return set(key, ...rest);
    };
    operation.commit = (async () => {
      const result = await commit();
      if (hasKind && result.ok) newestMs = Date.now();
      return result;
    }) as typeof operation.commit;
    return operation;
  };
  return () => newestMs;
}
