/** The description of a relay's API, made when it is first asked for. */
import type { OpenApiDocument } from "./document.ts";
import type { Operation, Setting } from "./operation.ts";

export interface Description {
  setting: Setting;
  /** Of every route, in the order in which a reader meets them. */
  operations: readonly Operation[];
  document: OpenApiDocument;
}

/** The operations of a relay's routes, loaded when the description is first asked for. */
export type LoadOperations = () => Promise<{ describeOperations(setting: Setting): Operation[] }>;

/** A relay starts and serves messages without its schemas; what failed is tried again. */
export function describeLater(
  setting: Setting,
  loadOperations: LoadOperations,
): () => Promise<Description> {
  let description: Promise<Description> | undefined;
  async function describe(): Promise<Description> {
    const { createDocument } = await import("./document.ts");
    const { describeOperations } = await loadOperations();
    const operations = describeOperations(setting);
    return { setting, operations, document: createDocument(setting, operations) };
  }
  return () =>
    description ??= describe().catch((error) => {
      description = undefined;
      throw error;
    });
}
