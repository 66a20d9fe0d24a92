import { createHash } from "node:crypto";
import { join } from "node:path";
import { VERSION } from "../version.ts";
import { bundleForBrowser } from "./bundle_for_browser.ts";

/** Where the built page stands, so that it can be downloaded from the repository. */
export const PAGE = "docs/verify.html";

/**
 * Builds the offline verifier: one HTML file that holds everything it needs and is allowed nothing
 * but that. Its policy names the hashes of its script and its style; all other sources are `none`.
 *
 * @param root the folder of the repository
 * @returns the HTML
 */
export async function buildPage(root: string): Promise<string> {
  const read = (name: string) => Deno.readTextFile(join(root, "toolkit/page", name));
  const script = scriptText(await bundleForBrowser(root, "toolkit/page/page.ts", "iife"));
  const style = (await read("page.css")).trim();
  const policy = [
    "default-src 'none'",
    `script-src ${sourceHash(script)}`,
    `style-src ${sourceHash(style)}`,
    // The empty icon: without one a browser would ask the server for /favicon.ico.
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  const values: Readonly<Record<string, string>> = {
    __POLICY__: policy,
    __VERSION__: VERSION,
    "<!-- STYLE -->": `<style>${style}</style>`,
    "<!-- SCRIPT -->": `<script>${script}</script>`,
  };
  const places = new RegExp(Object.keys(values).join("|"), "g");
  return (await read("page.html")).replace(places, (place) => values[place]!);
}

/** A script as it can stand inside an HTML file: nothing in it may end or hide its element. */
function scriptText(script: string): string {
  if (/<\/script|<!--/i.test(script)) throw new Error("the script would end its element");
  return script.trim();
}

function sourceHash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
