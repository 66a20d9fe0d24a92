/** Profiles as a part of the relay. */
import type { Core } from "../core.ts";
import type { Part } from "../part.ts";
import { profileRoutes } from "./routes.ts";

export function openProfiles(core: Core): Part {
  const { random, now } = core.deps;
  return { routes: profileRoutes({ ...core, random, now }) };
}
