import assert from "node:assert/strict";
import { ERROR_CAUSES } from "../../../server/base/description/error_causes.ts";
import { LIMIT_NOTES } from "../../../server/base/description/schemas/limit_notes.ts";
import { describeAll } from "../../../server/base/description/declaration.ts";
import { ROUTES } from "../../../server/routes.ts";
import { ERROR_STATUS } from "../../../server/base/errors.ts";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";

const PAGE = await Deno.readTextFile(new URL("../../../docs/api.md", import.meta.url));
const OPERATIONS = describeAll(ROUTES, {
  baseUrl: "http://127.0.0.1",
  limits: DEFAULT_LIMITS,
  mailOn: false,
});

/** Cells of the table rows below a heading. */
function rowsBelow(heading: string): string[][] {
  const section = PAGE.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0];
  assert.ok(section !== undefined, heading);
  return section.split("\n").filter((line) => /^\| (?!-)/.test(line))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()));
}

Deno.test("docs/api.md has a row for each limit, with its default and its source", () => {
  const [, ...rows] = rowsBelow("Limits");
  assert.deepEqual(
    rows.map(([name, value, , source]) => [name, value, source]),
    Object.entries(DEFAULT_LIMITS).map(([name, value]) => {
      const { source } = LIMIT_NOTES[name as keyof typeof LIMIT_NOTES];
      return [`\`${name}\``, String(value), source === "specification" ? "8" : "own"];
    }),
  );
});

Deno.test("docs/api.md has a row for each error code, with its status, additions marked", () => {
  const [, ...rows] = rowsBelow("Errors");
  assert.deepEqual(
    rows.map(([code, status, cause]) => [code, status, cause!.endsWith("(addition)")]).toSorted(),
    Object.entries(ERROR_STATUS).map(([code, status]) => {
      const { addition = false } = ERROR_CAUSES[code as keyof typeof ERROR_CAUSES];
      return [`\`${code}\``, String(status), addition];
    }).toSorted(),
  );
});

Deno.test("docs/api.md has a row for each added route outside mail, and names every other one", () => {
  const additions = rowsBelow("Additions").map(([name]) => name).join("\n");
  const operations = OPERATIONS.filter(({ tag }) => tag !== "Mail");
  assert.ok(operations.length >= 25, String(operations.length));
  for (const { method, path, addition } of operations) {
    if (addition) assert.ok(additions.includes(`\`${method.toUpperCase()} ${path}\``), path);
    else assert.ok(PAGE.includes(`\`${path}\``), path);
  }
});

Deno.test("docs/api.md tells of nothing twice", () => {
  for (const heading of ["Limits", "Errors", "Additions"]) {
    const names = rowsBelow(heading).map(([name]) => name);
    assert.deepEqual(names, [...new Set(names)], heading);
  }
});
