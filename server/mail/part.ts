/** The mail area as a part of the relay; it is off. */
import type { Part } from "../part.ts";
import { disabledMailRoutes } from "./disabled.ts";

export function openMail(): Part {
  return { routes: disabledMailRoutes() };
}
