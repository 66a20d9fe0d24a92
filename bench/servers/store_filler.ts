/** Writes stores one after the other, and tells when all of them are there. */
import type { StoreSize } from "../row.ts";
import { seededRandom } from "../seeded_random.ts";
import { storedNetwork } from "../stored_network.ts";

export interface StoreFillerArgument {
  sizes: readonly StoreSize[];
  keptFolder: string;
  seed: number;
}

const { sizes, keptFolder, seed }: StoreFillerArgument = JSON.parse(Deno.args[0]!);
for (const size of sizes) {
  await storedNetwork(size, {
    keptFolder,
    random: seededRandom(seed),
    progress: (text) => console.error(`    ${text}`),
  });
}
console.log("{}");
