import { retryWhileLocked } from "../storage/lock_retry.ts";

const ATTEMPTS = 3;

/**
 * Commits writes that mean the same however often they are applied, again where it is unclear whether
 * they were.
 * @param build adds them to an operation without checks
 * @throws what the store throws for the third time
 */
export async function writeRows(
  kv: Deno.Kv,
  build: (operation: Deno.AtomicOperation) => void,
): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      const operation = kv.atomic();
      build(operation);
      const { ok } = await retryWhileLocked(() => operation.commit());
      if (ok) return;
      throw new Error("the store refused a write without checks");
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
