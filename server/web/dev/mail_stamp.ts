/** What tells one composed mail from another. */
import { Buffer } from "node:buffer";
import type { Deps } from "../../base/parts/deps.ts";

export interface MailStamp {
  /** Date, Unix ms. */
  atMs: number;
  /** Left of the @ of the Message-ID: fresh random [a-z0-9.]. Boundaries are made of it too. */
  id: string;
}

export function newMailStamp({ now, random }: Pick<Deps, "now" | "random">): MailStamp {
  return { atMs: now(), id: `dev.${Buffer.from(random(16)).toString("hex")}` };
}
