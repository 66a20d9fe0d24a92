import type { Backend, Write } from "../rows/backend.ts";
import { defineRow } from "../rows/row_key.ts";

/** Only its versionstamp says anything. */
const FENCE = defineRow(["meta", "journal"], 0, {
  holds: "what each save of changed rows requires unchanged, and one after a save of " +
    "unclear outcome writes first",
})();

/**
 * Commits of whole rows, unchecked, one after the other. One that was called failed might come to the
 * store late and undo what a later one wrote. So each requires a row as it is, and one that follows a
 * commit of unclear outcome writes that row first: the unclear one is stored by then, or never.
 */
export class SaveFence {
  /** Versionstamp of the row; null before the first commit, and while one may be on its way. */
  #raised: string | null = null;

  constructor(private readonly store: Pick<Backend, "commit">) {}

  /**
   * @throws whatever the store throws, and where an earlier fence has come late
   */
  async commit(writes: readonly Write[]): Promise<void> {
    const versionstamp = this.#raised ?? await this.#raise();
    this.#raised = null;
    if (await this.store.commit([{ key: FENCE, versionstamp }], writes) === null) {
      throw new Error("the fence of the journal has changed: a commit has come late");
    }
    this.#raised = versionstamp;
  }

  async #raise(): Promise<string> {
    const raised = await this.store.commit([], [{ kind: "set", key: FENCE, value: { v: 1 } }]);
    return raised!; // nothing is checked, so nothing is refused
  }
}
