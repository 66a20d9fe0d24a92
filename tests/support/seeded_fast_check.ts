/** fast-check that tries the same examples each time, or others with PROPERTY_SEED. */
import fc from "fast-check";
import { propertySeed } from "./property_runs.ts";

fc.configureGlobal({ seed: propertySeed() });

export { default } from "fast-check";
