/** What DNS says of a record: published as it should be, not there, otherwise, or not to be had. */
export type FindingState = "fine" | "missing" | "differs" | "unknown";

export interface Finding {
  readonly state: FindingState;
  /** Why it is not fine, or what to know where it is; null for nothing to say. */
  readonly why: string | null;
}

export const FINE: Finding = { state: "fine", why: null };

export function missing(why: string): Finding {
  return { state: "missing", why };
}

export function differs(why: string): Finding {
  return { state: "differs", why };
}
