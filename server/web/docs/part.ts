/** What is there to read, as a part of the relay: guides, reference, the verifier. */
import type { Core } from "../../base/parts/core.ts";
import type { Description } from "../../base/description/description.ts";
import type { Part } from "../../base/parts/part.ts";
import { docsRoutes } from "./docs_routes.ts";
import { tryHandlers } from "./try_handlers.ts";
import { verifyRoutes } from "./verify_routes.ts";

export function openDocs({ deps }: Core, describe: () => Promise<Description>): Part {
  return { routes: [...docsRoutes(describe, tryHandlers(deps.config)), ...verifyRoutes()] };
}
