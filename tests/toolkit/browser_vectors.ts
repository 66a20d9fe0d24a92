/// <reference lib="dom" />
/** Runs all vectors where it is loaded and leaves what failed, for the test that loaded it. */
import { vectorCases } from "./vector_cases.ts";

/** What ran, and what of it failed. */
export interface VectorResults {
  ran: number;
  failed: string[];
  isSecure: boolean;
}

async function runAll(): Promise<VectorResults> {
  const results: VectorResults = { ran: 0, failed: [], isSecure: globalThis.isSecureContext };
  for (const { name, run } of vectorCases()) {
    results.ran++;
    await run().catch((error) => results.failed.push(`${name}: ${error.message}`));
  }
  return results;
}

Object.assign(globalThis, { vectorResults: runAll() });
