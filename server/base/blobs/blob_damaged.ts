import { RelayError } from "../errors.ts";

/** What is wrong with stored bytes. */
export type Damage = "missing" | "short" | "changed";

/**
 * Stored bytes that are not what was stored: a 500 `internal` for the object that they belong to, and
 * for nothing else.
 */
export class BlobDamaged extends RelayError {
  /** @param blob its name, as the store and the log have it */
  constructor(readonly blob: readonly string[], readonly damage: Damage) {
    super(
      "internal",
      "what the relay stored of this object is damaged or missing on its disk; its operator is told, " +
        "everything else can be read, and asking again does not help",
    );
  }
}
