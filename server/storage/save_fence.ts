import { retryWhileLocked } from "./lock_retry.ts";

/** Only its versionstamp says anything. */
const FENCE: Deno.KvKey = ["meta", "journal"];

/**
 * Commits of whole records, unchecked, one after the other. One that was called failed might come to the
 * store late and undo what a later one wrote. So each requires a row as it is, and one that follows a
 * commit of unclear outcome writes that row first: the unclear one is stored by then, or never.
 */
export class SaveFence {
  /** Versionstamp of the row; null before the first commit, and while one may be on its way. */
  #raised: string | null = null;

  constructor(private readonly kv: Deno.Kv) {}

  /**
   * @param build adds the writes to an operation, anew for each try on a locked database
   * @throws whatever the store throws, and where an earlier fence has come late
   */
  async commit(build: (operation: Deno.AtomicOperation) => void): Promise<void> {
    const versionstamp = this.#raised ?? await this.#raise();
    this.#raised = null;
    const { ok } = await retryWhileLocked(() => {
      const operation = this.kv.atomic().check({ key: FENCE, versionstamp });
      build(operation);
      return operation.commit();
    });
    if (!ok) throw new Error("the fence of the journal has changed: a commit has come late");
    this.#raised = versionstamp;
  }

  async #raise(): Promise<string> {
    const raised = await retryWhileLocked(() => this.kv.atomic().set(FENCE, { v: 1 }).commit());
    return (raised as Deno.KvCommitResult).versionstamp; // nothing is checked, so nothing is refused
  }
}
