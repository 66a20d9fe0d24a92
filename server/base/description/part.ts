/** The description of the API as a part of the relay. */
import type { Core } from "../parts/core.ts";
import type { Part } from "../parts/part.ts";
import { describeLater, type Description, type LoadOperations } from "./description.ts";
import { descriptionRoutes } from "./routes.ts";

export interface OpenDescription extends Part {
  /** Made when it is first asked for. */
  describe(): Promise<Description>;
}

export function openDescription(
  { deps }: Core,
  mailOn: boolean,
  loadOperations: LoadOperations,
): OpenDescription {
  const { baseUrl, limits } = deps.config;
  const describe = describeLater({ baseUrl, limits, mailOn }, loadOperations);
  return { describe, routes: descriptionRoutes(deps, describe) };
}
