/** The reference of mail that comes in, under Node.js: smtp-server, mailparser and SQLite with a sync a commit. */
import { join } from "node:path";
import type { Context } from "../row.ts";
import type { Child } from "../servers/child.ts";
import { type NodePackages, startNodePeer } from "./node_packages.ts";

export const MAIL_PACKAGES: NodePackages = {
  name: "mail-reference",
  versions: { "smtp-server": "3.21.6", "mailparser": "3.14.2", "better-sqlite3": "11.10.0" },
};

/**
 * @param commits a transaction for each mail, or one for all mails that wait for it
 * @throws NotMeasured where there is no Node.js, or its packages cannot be installed
 */
export function startMailReference(
  commits: "each" | "grouped",
  context: Context,
): Promise<Child<{ port: number }>> {
  const file = join(context.temporaryFolder, "mails.db");
  return startNodePeer(MAIL_PACKAGES, "mail_server.mjs", [file, commits], context);
}
