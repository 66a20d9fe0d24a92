/**
 * How long a property is tried, and from which seed: the same each time, or the one in
 * PROPERTY_SEED.
 */
import type fc from "fast-check";

const DEFAULT_SEED = 20_260_601;

/** The seed of this run. A failure prints it, and with it the failure is found again. */
export function propertySeed(): number {
  return Number(Deno.env.get("PROPERTY_SEED") ?? DEFAULT_SEED);
}

/**
 * Parameters for fc.assert. A failure is printed with its seed and path.
 * @param numRuns examples to try
 * @param shrink false when an example is a whole relay: it is shown as it was found
 */
export function propertyRuns<T>(numRuns: number, shrink = true): fc.Parameters<T> {
  return { numRuns, seed: propertySeed(), endOnFailure: !shrink };
}
