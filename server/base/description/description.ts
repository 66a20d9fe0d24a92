/** The description of a relay's API, made when it is first asked for. */
import { madeOnce } from "../bounds/made_once.ts";
import { type Declaration, describeAll } from "./declaration.ts";
import type { OpenApiDocument } from "./document.ts";
import type { Operation, Setting } from "./operation.ts";

export interface Description {
  setting: Setting;
  /** Of every route, in reading order. */
  operations: readonly Operation[];
  document: OpenApiDocument;
}

/** Made when it is first asked for, as is what writes the document; what failed is tried again. */
export function describeLater(
  setting: Setting,
  routes: readonly Declaration[],
): () => Promise<Description> {
  return madeOnce(async () => {
    const { createDocument } = await import("./document.ts");
    const operations = describeAll(routes, setting);
    return { setting, operations, document: createDocument(setting, operations) };
  });
}
