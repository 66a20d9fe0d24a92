import { deepStrictEqual } from "node:assert/strict";
import { findFolderFaults } from "./folder_rules.ts";
import { writeFolderTable } from "./write_folder_table.ts";

const PAIRS = [
  ["server/relay.ts", "server/mail/part.ts"],
  ["server/mail/part.ts", "server/mail/sending/send.ts"],
  ["server/mail/sending/send.ts", "server/mail/rows/row.ts"],
  ["server/mail/sending/send.ts", "server/mail/rows/id.ts"],
  ["server/mail/rows/row.ts", "server/mail/sending/queued.ts"],
  ["server/mail/rows/row.ts", "server/base/storage/store.ts"],
  ["server/mail/rows/row.ts", "server/base/errors.ts"],
  ["server/base/storage/store.ts", "server/base/errors.ts"],
  ["server/base/http/answer.ts", "server/base/errors.ts"],
  ["server/mail/sending/send.ts", "server/base/http/answer.ts"],
];
const imports = PAIRS.map(([from, to]) => ({ from: from!, to: to!, specifier: "" }));
const tree = { files: PAIRS.flat(), imports };

Deno.test("writeFolderTable() orders folders from the ground up, with what they import and show", () => {
  const former = { inside: { storage: { shows: "*" }, http: { shows: ["former.ts"] } } } as const;
  const table = writeFolderTable("server", tree, former);
  const base = {
    // New, with folders inside.
    shows: "*",
    inside: {
      ".": {},
      http: { imports: ["."], shows: ["answer.ts"] },
      // Moved: it showed all.
      storage: { imports: ["."], shows: "*" },
    },
  };
  const mail = {
    imports: ["base"],
    inside: {
      rows: { shows: ["id.ts", "row.ts"] },
      sending: { imports: ["rows"], shows: ["queued.ts"] },
    },
    // The import of fewer files.
    knot: [["rows", "sending"]],
  };
  deepStrictEqual(table, { inside: { base, mail } });
  deepStrictEqual(Object.keys(table.inside!["base"]!.inside!), [".", "http", "storage"]);
  deepStrictEqual(Object.keys(table.inside!), ["base", "mail"]);
});

Deno.test("writeFolderTable() writes what findFolderFaults() accepts, and the same again", () => {
  const table = writeFolderTable("server", tree, {});
  deepStrictEqual(findFolderFaults("server", tree, table), []);
  deepStrictEqual(writeFolderTable("server", tree, table), table);
});
