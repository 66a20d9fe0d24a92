/** Fonts that make a text read the same wherever it is shown. Pure. */

/** Others have pictures for letters, or none. */
const FAMILIES: ReadonlySet<string> = new Set([
  "-apple-system",
  "arial",
  "arial black",
  "avenir",
  "blinkmacsystemfont",
  "calibri",
  "cambria",
  "candara",
  "consolas",
  "courier",
  "courier new",
  "cursive",
  "dejavu sans",
  "garamond",
  "geneva",
  "georgia",
  "gill sans",
  "helvetica",
  "helvetica neue",
  "inter",
  "lato",
  "liberation sans",
  "lucida console",
  "lucida grande",
  "lucida sans",
  "lucida sans unicode",
  "menlo",
  "monaco",
  "monospace",
  "montserrat",
  "noto sans",
  "open sans",
  "palatino",
  "palatino linotype",
  "roboto",
  "sans-serif",
  "segoe ui",
  "serif",
  "source sans pro",
  "system-ui",
  "tahoma",
  "times",
  "times new roman",
  "trebuchet ms",
  "ubuntu",
  "ui-monospace",
  "ui-sans-serif",
  "ui-serif",
  "verdana",
]);

/** What of a `font-family` stays, rewritten; undefined where nothing does. @param value lowercased */
export function fontFamilies(value: string): string | undefined {
  const known = value.split(",").map((one) => one.trim().replaceAll(/^["']|["']$/g, ""))
    .filter((one) => FAMILIES.has(one));
  if (known.length === 0) return undefined;
  return [...new Set(known)].map((one) => one.includes(" ") ? `'${one}'` : one).join(", ");
}
