/** Profiles as a part of the relay. */
import type { Core } from "../core.ts";
import type { Part } from "../part.ts";
import { profileRoutes } from "./routes.ts";

export function openProfiles(core: Core): Part {
  return { routes: profileRoutes(core) };
}
