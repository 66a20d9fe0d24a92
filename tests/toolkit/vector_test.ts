import { test } from "node:test";
import { vectorCases } from "./vector_cases.ts";

// node:test, so that this very file runs under `deno test` and, bundled, under `node --test`.
for (const { name, run } of vectorCases()) test(name, run);
