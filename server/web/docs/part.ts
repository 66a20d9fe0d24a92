/** What is there to read, as a part of the relay: guides, reference, the verifier. */
import type { Core } from "../../base/parts/core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Description } from "../../base/description/description.ts";
import type { Part } from "../../base/parts/part.ts";
import { createDocsReader, LIBRARY_ROUTES } from "./docs_routes.ts";
import { tryHandlers } from "./try_handlers.ts";
import { createVerifier, VERIFY_ROUTES } from "./verify_routes.ts";

export const DOCS_ROUTES = [...LIBRARY_ROUTES, ...VERIFY_ROUTES];

export function openDocs(core: Core, describe: () => Promise<Description>): Part {
  return {
    routes: mount(DOCS_ROUTES, {
      ...core,
      reader: createDocsReader(describe),
      tryOut: tryHandlers(core.deps.config),
      verifier: createVerifier(),
    }),
  };
}
