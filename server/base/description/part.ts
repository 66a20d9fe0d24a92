/** The description of the API as a part of the relay. */
import type { Core } from "../parts/core.ts";
import type { Part } from "../parts/part.ts";
import { type Declaration, mount } from "./declaration.ts";
import { describeLater, type Description } from "./description.ts";
import { readDescription, readLimits } from "./routes.ts";

export interface OpenDescription extends Part {
  /** Made when it is first asked for. */
  describe(): Promise<Description>;
}

export function openDescription(
  core: Core,
  mailOn: boolean,
  declared: readonly Declaration[],
): OpenDescription {
  const { limits, deps: { config: { baseUrl } } } = core;
  const describe = describeLater({ baseUrl, limits, mailOn }, declared);
  return { describe, routes: mount([readLimits, readDescription], { ...core, describe }) };
}
