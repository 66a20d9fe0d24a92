import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { findFolderFaults, type FolderRow } from "./folder_rules.ts";
import { writeFolderTable } from "./write_folder_table.ts";

const PAIRS = [
  ["server/relay.ts", "server/mail/part.ts"],
  ["server/mail/part.ts", "server/mail/sending/send.ts"],
  ["server/mail/sending/send.ts", "server/mail/paths.ts"],
  ["server/mail/rows/row.ts", "server/mail/sending/queued.ts"],
  ["server/mail/sending/send.ts", "server/mail/rows/row.ts"],
  ["server/mail/sending/send.ts", "server/mail/rows/id.ts"],
  ["server/mail/sending/send.ts", "server/mail/paths.ts"],
  ["server/mail/rows/row.ts", "server/base/storage/store.ts"],
  ["server/mail/rows/row.ts", "server/base/errors.ts"],
  ["server/mail/sending/send.ts", "server/base/http/answer.ts"],
  ["server/base/storage/store.ts", "server/base/errors.ts"],
  ["server/base/http/answer.ts", "server/base/errors.ts"],
  ["server/admin/ban.ts", "server/mail/rows/row.ts"],
];
const imports = PAIRS.map(([from, to]) => ({ from: from!, to: to!, specifier: "" }));
const tree = { files: PAIRS.flat(), imports };

Deno.test("writeFolderTable() orders folders from the ground up, with what they import and show", () => {
  const former: FolderRow = {
    inside: {
      storage: { shows: "*" },
      http: { shows: ["former.ts"] },
      mail: { shows: ["parsing/a.ts"], inside: { rows: {} } },
      admin: { inside: { rows: { shows: "*" } } },
    },
  };
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
    shows: ["rows/row.ts"],
    inside: {
      // In a circle, the import with fewer files, and imports of files on top, name no row before them.
      rows: { imports: ["sending"], shows: ["id.ts", "row.ts"] },
      // Not what a file on top of it imports.
      sending: { imports: [".", "rows"], shows: ["queued.ts"] },
    },
  };
  deepStrictEqual(table, { inside: { base, mail, admin: { imports: ["mail"] } } });
  deepStrictEqual(Object.keys(table.inside!["base"]!.inside!), [".", "http", "storage"]);
  deepStrictEqual(Object.keys(table.inside!), ["base", "mail", "admin"]);
});

Deno.test("writeFolderTable() writes what findFolderFaults() accepts, and the same again", () => {
  const untied = imports.filter(({ to }) =>
    !to.startsWith("server/mail/sending/") && to !== "server/mail/paths.ts"
  );
  const lawful = { ...tree, imports: untied };
  const table = writeFolderTable("server", lawful, {});
  deepStrictEqual(findFolderFaults("server", lawful, table), []);
  deepStrictEqual(writeFolderTable("server", lawful, table), table);
  const tied = findFolderFaults("server", tree, writeFolderTable("server", tree, {}));
  strictEqual(tied.filter((fault) => fault.startsWith("circle in server/mail/")).length, 1);
});
