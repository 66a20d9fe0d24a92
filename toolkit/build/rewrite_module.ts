/**
 * Turns what `deno transpile` emits for a module into what every runtime loads as it is.
 *
 * - Imports of `./x.ts` become imports of `./x.js`; Node.js and browsers resolve no other.
 * - Imports of JSON become imports of a module with the same data. Node.js 20 warns about JSON
 *   modules on stderr, and only new browsers know them.
 * - The name of the file on the machine that built it is removed.
 *
 * @param text the emitted JavaScript or declarations
 */
export function rewriteModule(text: string): string {
  return text
    .replace(/^\/\/\/ <amd-module [^\n]*\n/m, "")
    .replace(STATIC_JSON, (_, head, path) => `${head}"${path}.js"`)
    .replace(STATIC, (_, head, path) => `${head}"${path}.js"`)
    .replace(DYNAMIC, (_, head, path) => `${head}"${path}.js"`);
}

/** From the beginning of a line, so that the examples in comments stay as they are. */
const STATIC = /(^(?:import|export)\b[^"'`;]*?)"(\.{1,2}\/[^"]+)\.ts"/gm;
const STATIC_JSON =
  /(^import\b[^"'`;]*?)"(\.{1,2}\/[^"]+)\.json"\s+with\s*\{\s*type:\s*"json",?\s*\}/gm;
const DYNAMIC = /(\bimport\(\s*)"(\.{1,2}\/[^"]+)\.ts"/g;

/** A module that has a JSON document as its default export. */
export function jsonModule(json: string): string {
  return `export default ${JSON.stringify(JSON.parse(json))};\n`;
}
