/** The documents as a part of the relay: guides, reference, the page to try routes out, the verifier. */
import type { Core } from "../../base/parts/core.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Description } from "../../base/description/description.ts";
import { madeOnce } from "../../base/bounds/made_once.ts";
import type { Part } from "../../base/parts/part.ts";
import { createReader, DOCS_ROUTES } from "./docs_routes.ts";
import { tryReadings } from "./try_page.ts";
import { verifyReadings } from "./verify_page.ts";

export { DOCS_ROUTES };

export function openDocs(core: Core, describe: () => Promise<Description>): Part {
  const fixed = new Map([...tryReadings(core.deps.config), ...verifyReadings()]);
  // Texts and renderer take memory: they are loaded when a page is first asked for.
  const openLibrary = madeOnce(async () => {
    const [{ libraryReadings }, description] = await Promise.all([
      import("./library.ts"),
      describe(),
    ]);
    return libraryReadings(description);
  });
  return { routes: mount(DOCS_ROUTES, { ...core, read: createReader(fixed, openLibrary) }) };
}
