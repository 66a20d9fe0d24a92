/** A thing that people download, as it was built. */
export type Artefact =
  | "package packed"
  | "package unpacked"
  | "browser.js"
  | "browser.js gzipped"
  | "verify.html"
  | "verify.html gzipped";

/**
 * The most bytes that each may have: what it had when the bound was set, and a tenth more. A change
 * that needs more raises the bound in the same commit, and says why.
 */
const SIZE_BOUNDS: Readonly<Record<Artefact, number>> = {
  "package packed": 209_000,
  "package unpacked": 614_000,
  "browser.js": 101_000,
  "browser.js gzipped": 42_000,
  "verify.html": 100_000,
  "verify.html gzipped": 41_500,
};

/**
 * Compares sizes with their bounds.
 *
 * @param sizes bytes
 * @returns one line for each, and whether all are within their bounds
 */
export function reportSizes(
  sizes: Readonly<Partial<Record<Artefact, number>>>,
): { readonly lines: readonly string[]; readonly isWithinBounds: boolean } {
  const entries = Object.entries(sizes) as [Artefact, number][];
  const lines = entries.map(([artefact, bytes]) => {
    const bound = SIZE_BOUNDS[artefact];
    const words = bytes <= bound ? "" : `, ${bytes - bound} TOO MANY`;
    return `${artefact}: ${bytes.toLocaleString("en")} bytes of ${
      bound.toLocaleString("en")
    }${words}`;
  });
  return { lines, isWithinBounds: entries.every(([name, bytes]) => bytes <= SIZE_BOUNDS[name]) };
}

/** How many bytes a text has when a server compresses it. */
export async function gzippedBytes(text: string): Promise<number> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}
