import { deepStrictEqual } from "node:assert/strict";
import { withTemporaryProject } from "../support/temporary_project.ts";
import { findFolderFaults, type FolderRow } from "./folder_rules.ts";
import { readImports } from "./module_graph.ts";

type Pair = readonly [from: string, to: string];

const TABLE: FolderRow = {
  inside: {
    storage: { shows: "*", inside: { ".": {}, kv: { imports: ["."] } } },
    agents: { imports: ["storage"], shows: ["records.ts"] },
    mail: {
      imports: ["agents", "storage"],
      shows: ["rows/row.ts"],
      inside: {
        rows: { shows: ["id.ts", "row.ts"] },
        sending: {
          imports: ["rows"],
          inside: { queue: { shows: ["send.ts"] }, read: { imports: ["queue"] } },
        },
      },
    },
    digest: { imports: ["mail"] },
  },
};
const LAWFUL: readonly Pair[] = [
  ["server/storage/kv/open.ts", "server/storage/store.ts"],
  ["server/agents/register.ts", "server/storage/store.ts"],
  ["server/mail/rows/row.ts", "server/storage/store.ts"],
  ["server/mail/rows/row.ts", "server/agents/records.ts"],
  ["server/mail/sending/queue/send.ts", "server/mail/rows/id.ts"],
  ["server/mail/sending/read/read.ts", "server/mail/sending/queue/send.ts"],
  ["server/digest/sweep.ts", "server/mail/rows/row.ts"],
];
const SEND = "server/mail/sending/queue/send.ts";
const IDLE = "tests/gate/folder_table.ts says";

function faultsOf(pairs: readonly Pair[], table = TABLE): string[] {
  const files = pairs.flat();
  const imports = pairs.map(([from, to]) => ({ from, to, specifier: "" }));
  return findFolderFaults("server", { files, imports }, table);
}

/** The table with one row, of a path like `mail/sending`, changed. */
function withRow(path: string, change: FolderRow, table = TABLE): FolderRow {
  const [name, ...rest] = path.split("/");
  if (path === "") return { ...table, ...change };
  const row = withRow(rest.join("/"), change, table.inside?.[name!] ?? {});
  return { ...table, inside: { ...table.inside, [name!]: row } };
}

function refusal(from: string, to: string, place: string, importer: string, allowed: string) {
  const owner = to.slice(place.length + 1).split("/")[0]!;
  const name = owner.endsWith(".ts") ? "." : owner;
  return `${from} imports ${to}: in ${place}/, "${importer}" may import ${allowed}; move one of the files, or add "${name}" to its row in tests/gate/folder_table.ts`;
}

function hidden(pair: Pair, folder: string, shown: string, file: string) {
  const broken = pair.join(" imports ");
  return `${broken}: the inside of ${folder}/, which shows ${shown}; move what is needed into one of these, or add "${file}" to what its row shows in tests/gate/folder_table.ts`;
}

function circle(place: string, way: string, ...pairs: Pair[]) {
  const imports = pairs.map((pair) => pair.join(" -> ")).join(", ");
  return `circle in ${place}/: ${way}, by ${imports}; move what two of them need into a folder below both`;
}

Deno.test("findFolderFaults() finds nothing where folders keep to their table", () => {
  deepStrictEqual(faultsOf(LAWFUL), []);
});

Deno.test("findFolderFaults() names an import that the row of its folder does not, at every depth", () => {
  const wrong: [Pair, string, string, string][] = [
    [["server/agents/a.ts", "server/mail/rows/row.ts"], "server", "agents", "storage"],
    [["server/mail/rows/a.ts", "server/mail/sending/x.ts"], "server/mail", "rows", "nothing"],
    [[SEND, "server/mail/sending/read/x.ts"], "server/mail/sending", "queue", "nothing"],
  ];
  for (const [pair, place, importer, allowed] of wrong) {
    const [first] = faultsOf([...LAWFUL, pair]);
    deepStrictEqual(first, refusal(...pair, place, importer, allowed));
  }
});

Deno.test("findFolderFaults() judges at the top alone what the folders inside do with other areas", () => {
  const pair = ["server/mail/sending/read/read.ts", "server/agents/records.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, pair]), []);
});

Deno.test("findFolderFaults() lets no folder import a file directly in one around it", () => {
  const toMail = ["server/mail/rows/row.ts", "server/mail/paths.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, toMail]), [
    refusal(...toMail, "server/mail", "rows", "nothing"),
  ]);
  const toTop = ["server/mail/rows/row.ts", "server/errors.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, toTop]), [
    refusal(...toTop, "server", "mail", "agents, storage"),
  ]);
});

Deno.test("findFolderFaults() lets files directly in a folder import all inside, but for a row of theirs", () => {
  deepStrictEqual(
    faultsOf([
      ...LAWFUL,
      ["server/relay.ts", "server/agents/tokens.ts"],
      ["server/relay.ts", "server/mail/sending/read/inner.ts"],
      ["server/mail/part.ts", "server/mail/rows/inner.ts"],
    ]),
    [],
  );
  const down = ["server/storage/store.ts", "server/storage/kv/x.ts"] as const;
  const up = LAWFUL[0]!;
  deepStrictEqual(faultsOf([...LAWFUL, down]), [
    refusal(...down, "server/storage", ".", "nothing"),
    hidden(down, "server/storage/kv", "nothing", "x.ts"),
    circle("server/storage", ". -> kv -> .", down, up),
  ]);
});

Deno.test("findFolderFaults() lets tests and other roots import what they like", () => {
  deepStrictEqual(
    faultsOf([
      ...LAWFUL,
      ["server/agents/a_test.ts", "server/mail/rows/inner.ts"],
      ["tests/a.ts", "server/agents/tokens.ts"],
      ["server/agents/a.ts", "toolkit/mod.ts"],
      ["toolkit/agents/a.ts", "server/mail/rows/row.ts"],
      ["toolkit/mail/a.ts", "server/agents/records.ts"],
    ]),
    [],
  );
});

Deno.test("findFolderFaults() names an import of a file that a folder on the way to it does not show", () => {
  const outer = ["server/digest/sweep.ts", "server/mail/rows/id.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, outer]), [
    hidden(outer, "server/mail", "rows/row.ts", "rows/id.ts"),
  ]);
  const twice = ["server/digest/sweep.ts", "server/mail/rows/inner.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, twice]), [
    hidden(twice, "server/mail", "rows/row.ts", "rows/inner.ts"),
  ]);
  const inner = ["server/mail/sending/queue/send.ts", "server/mail/rows/inner.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, inner]), [
    hidden(inner, "server/mail/rows", "id.ts, row.ts", "inner.ts"),
  ]);
  const deep = ["server/agents/register.ts", "server/storage/kv/inner.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, deep]), [
    hidden(deep, "server/storage/kv", "nothing", "inner.ts"),
  ]);
});

Deno.test("findFolderFaults() names a folder without a row and a row without a folder", () => {
  deepStrictEqual(
    faultsOf([...LAWFUL, ["server/mail/new/a.ts", "server/agents/records.ts"]]),
    [
      "server/mail/new/: has no row; say in tests/gate/folder_table.ts what it imports and shows",
    ],
  );
  const into = ["server/mail/sending/queue/send.ts", "server/mail/new/a.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, into]), [
    "server/mail/new/: has no row; say in tests/gate/folder_table.ts what it imports and shows",
    refusal(...into, "server/mail", "sending", "rows"),
  ]);
  deepStrictEqual(faultsOf(LAWFUL, withRow("mail/gone", {})), [
    "server/mail/gone/: has a row and no file; delete the row",
  ]);
});

Deno.test("findFolderFaults() names imports, shown files and rows that nothing needs", () => {
  const idle: [string, FolderRow, string][] = [
    ["digest", { imports: ["agents", "mail"] }, "server/digest imports agents"],
    ["mail/rows", { shows: ["id.ts", "old.ts", "row.ts"] }, "server/mail/rows shows old.ts"],
    ["mail", { shows: ["rows/id.ts", "rows/row.ts"] }, "server/mail shows rows/id.ts"],
    ["digest", { shows: "*" }, "server/digest shows *"],
  ];
  for (const [path, change, row] of idle) {
    deepStrictEqual(faultsOf(LAWFUL, withRow(path, change)), [
      `${IDLE} "${row}", and nothing needs it; delete that`,
    ]);
  }
  const table = withRow("mail", { inside: { ...TABLE.inside!["mail"]!.inside, ".": {} } });
  deepStrictEqual(faultsOf([...LAWFUL, ["server/mail/part.ts", "toolkit/mod.ts"]], table), [
    `${IDLE} "server/mail/.", and nothing needs it; delete that`,
  ]);
});

Deno.test("findFolderFaults() counts what only files on top import as not shown to anybody", () => {
  const pairs = [...LAWFUL, ["server/relay.ts", "server/agents/part.ts"]] as const;
  deepStrictEqual(faultsOf(pairs, withRow("agents", { shows: ["part.ts", "records.ts"] })), [
    `${IDLE} "server/agents shows part.ts", and nothing needs it; delete that`,
  ]);
});

Deno.test("findFolderFaults() refuses a row that names none before it, so that no circle stands in the table", () => {
  const pair = ["server/agents/a.ts", "server/mail/rows/row.ts"] as const;
  const table = withRow("agents", { imports: ["mail", "storage"] });
  const [first, ...rest] = faultsOf([...LAWFUL, pair], table);
  deepStrictEqual(
    first,
    `server/agents: imports "mail", which is no row before it in server/; order the rows from the ground up, or move files until that goes`,
  );
  deepStrictEqual(rest, [circle("server", "agents -> mail -> agents", pair, LAWFUL[3]!)]);
});

// a imports b and b imports a, in a table that allows all but the first.
const KINDS = {
  "type-only import": (path: string) => `import type { T } from "${path}";\nexport type U = T;\n`,
  "type of an import()": (path: string) => `export type U = import("${path}").T;\n`,
  "re-export": (path: string) => `export * from "${path}";\n`,
  "dynamic import": (path: string) => `export const load = () => import("${path}");\n`,
  "worker": (path: string) =>
    `export const start = () => new Worker(new URL("${path}", import.meta.url));\n`,
};

for (const place of ["server", "server/p", "server/p/q"]) {
  for (const [kind, text] of Object.entries(KINDS)) {
    Deno.test(`findFolderFaults() finds a planted circle in ${place}/ by a ${kind}`, async () => {
      const files = {
        "deno.json": "{}",
        [`${place}/a/one.ts`]: text("../b/two.ts"),
        [`${place}/a/end.ts`]: "export type T = 1;\n",
        [`${place}/b/two.ts`]: "export type T = 1;\n",
        [`${place}/b/other.ts`]: text("../a/end.ts"),
      };
      const inside: FolderRow = {
        inside: { a: { shows: "*" }, b: { imports: ["a"], shows: "*" } },
      };
      const depth = place.split("/").length;
      const table = ["q", "p"].slice(3 - depth).reduce<FolderRow>(
        (row, name) => ({ inside: { [name]: row } }),
        inside,
      );
      await withTemporaryProject(files, async (root) => {
        const paths = Object.keys(files).filter((path) => path.endsWith(".ts"));
        const imports = await readImports(root, paths);
        const planted = [`${place}/a/one.ts`, `${place}/b/two.ts`] as const;
        const back = [`${place}/b/other.ts`, `${place}/a/end.ts`] as const;
        deepStrictEqual(findFolderFaults("server", { files: paths, imports }, table), [
          refusal(...planted, place, "a", "nothing"),
          circle(place, "a -> b -> a", planted, back),
        ]);
      });
    });
  }
}

Deno.test("findFolderFaults() finds a circle through the files directly in a folder", () => {
  const up = ["server/mail/rows/row.ts", "server/mail/paths.ts"] as const;
  const down = ["server/mail/part.ts", "server/mail/rows/row.ts"] as const;
  deepStrictEqual(faultsOf([...LAWFUL, up, down]), [
    refusal(...up, "server/mail", "rows", "nothing"),
    circle("server/mail", ". -> rows -> .", down, up),
  ]);
});
