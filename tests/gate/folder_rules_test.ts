import { deepStrictEqual } from "node:assert/strict";
import { findFolderFaults, type FolderTable } from "./folder_rules.ts";

const TABLE: FolderTable = {
  storage: { imports: [], shows: "*" },
  agents: { imports: ["storage"], shows: ["records.ts"] },
  messages: { imports: ["agents", "storage"], shows: ["send/send.ts"] },
  digest: { imports: ["messages"], shows: [] },
};
const LAWFUL = [
  ["server/agents/register.ts", "server/storage/store.ts"],
  ["server/messages/inbox.ts", "server/storage/store.ts"],
  ["server/messages/inbox.ts", "server/agents/records.ts"],
  ["server/digest/sweep.ts", "server/messages/send/send.ts"],
  ["server/storage/store.ts", "server/deps.ts"],
  ["server/relay.ts", "server/messages/inbox.ts"],
];

function faultsOf(pairs: string[][], table = TABLE): string[] {
  return findFolderFaults(
    pairs.map(([from, to]) => ({ from: from!, to: to!, specifier: "" })),
    table,
  );
}

Deno.test("findFolderFaults() finds nothing where folders keep to their table", () => {
  deepStrictEqual(faultsOf(LAWFUL), []);
});

Deno.test("findFolderFaults() names imports of a folder that the table does not allow", () => {
  deepStrictEqual(faultsOf([...LAWFUL, ["server/agents/a.ts", "server/messages/send/send.ts"]]), [
    "server/agents/a.ts imports server/messages/send/send.ts: agents/ may import storage/ of server/",
  ]);
});

Deno.test("findFolderFaults() names imports of a file that another part does not show", () => {
  deepStrictEqual(faultsOf([...LAWFUL, ["server/messages/a.ts", "server/agents/tokens.ts"]]), [
    "server/messages/a.ts imports server/agents/tokens.ts: that file is the inside of agents/",
  ]);
});

Deno.test("findFolderFaults() lets tests and the files directly in server/ import what they like", () => {
  deepStrictEqual(
    faultsOf([
      ...LAWFUL,
      ["server/agents/a_test.ts", "server/messages/rows.ts"],
      ["server/relay.ts", "server/agents/tokens.ts"],
      ["tests/a.ts", "server/agents/tokens.ts"],
    ]),
    [],
  );
});

Deno.test("findFolderFaults() names a folder without a row, and rows that nothing needs", () => {
  deepStrictEqual(faultsOf([...LAWFUL, ["server/mail/a.ts", "server/deps.ts"]]), [
    "server/mail/: has no row in the table",
  ]);
  const withoutDigest = LAWFUL.filter(([from]) => from !== "server/digest/sweep.ts");
  deepStrictEqual(faultsOf(withoutDigest), [
    'the table says "messages shows send/send.ts", and nothing does',
    'the table says "digest imports messages", and nothing does',
  ]);
});

Deno.test("findFolderFaults() names a circle in the table itself", () => {
  const table = { ...TABLE, storage: { imports: ["messages"], shows: "*" as const } };
  deepStrictEqual(
    faultsOf([...LAWFUL, ["server/storage/a.ts", "server/messages/send/send.ts"]], table),
    [
      "circle of folders: agents -> storage -> messages -> agents",
    ],
  );
});
