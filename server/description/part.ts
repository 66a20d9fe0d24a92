/** The description of the API as a part of the relay. */
import type { Core } from "../core.ts";
import type { Part } from "../part.ts";
import { descriptionRoutes, type LoadOperations } from "./routes.ts";

export function openDescription(
  { deps }: Core,
  mailOn: boolean,
  loadOperations: LoadOperations,
): Part {
  return { routes: descriptionRoutes(deps, mailOn, loadOperations) };
}
