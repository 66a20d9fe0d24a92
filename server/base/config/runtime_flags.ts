/**
 * How the runtime collects garbage, as arguments of `deno run`. By itself V8 lets a small heap grow
 * fourfold before it collects: a relay of 50 MiB held 250. Two and a half times hold 120 MiB less
 * (docs/adr/0045-caches-and-the-heap.md).
 */
export const RUNTIME_FLAGS: readonly string[] = ["--v8-flags=--heap-growing-percent=150"];
