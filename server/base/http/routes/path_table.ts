/** Which methods a path takes: the table behind 405, Allow and OPTIONS. */
import type { Route } from "./route.ts";
import { decodeSegment } from "./target.ts";

interface PathEntry {
  segments: readonly string[];
  /** Routes of the path in the order they were given, never empty. */
  routes: Route[];
}

/** What a path is known for. */
export interface KnownPath {
  /** Methods for `Allow`: the most literal route's first, then HEAD and OPTIONS. */
  allow: string;
  /** The most literal route; its cors holds for answers that no route makes. */
  route: Route;
}

export interface PathTable {
  /** Routes with the most literal paths first, so that "me" comes before "{identifier}". */
  routes: readonly Route[];
  /** @param path raw; undefined when no route has it */
  find(path: string): KnownPath | undefined;
}

/**
 * Table of all routes.
 * @throws TypeError when a path is malformed or a method is declared twice for it
 */
export function createPathTable(routes: readonly Route[]): PathTable {
  const entries = new Map<string, PathEntry>();
  for (const route of routes) {
    if (!/^\/$|^(\/([A-Za-z0-9._~-]+|\{[a-z_]+\}))+$/.test(route.path)) {
      throw new TypeError(`route path ${route.path} is malformed`);
    }
    const key = route.path.replaceAll(/\{[a-z_]+\}/g, "{}");
    const entry = entries.get(key) ?? { segments: route.path.split("/"), routes: [] };
    if (entry.routes.some(({ method }) => method === route.method)) {
      throw new TypeError(`route ${route.method} ${route.path} is declared twice`);
    }
    entry.routes.push(route);
    entries.set(key, entry);
  }
  const ordered = [...entries.values()].sort((a, b) => compareLiterality(a.segments, b.segments));

  function find(path: string): KnownPath | undefined {
    const segments = path.split("/");
    const matching = ordered.filter((entry) => matches(entry.segments, segments));
    const route = matching[0]?.routes[0];
    if (route === undefined) return undefined;
    return { allow: allowOf(matching.flatMap((entry) => entry.routes)), route };
  }

  return { routes: ordered.flatMap((entry) => entry.routes), find };
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  return pattern.length === segments.length && pattern.every((expected, index) => {
    const segment = segments[index]!;
    if (!expected.startsWith("{")) return segment === expected;
    return segment !== "" && decodeSegment(segment) !== undefined;
  });
}

/** By the first segment that differs; paths of other lengths are ordered too, or sorting errs. */
function compareLiterality(a: readonly string[], b: readonly string[]): number {
  const [first, second] = [literalityOf(a), literalityOf(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}

function literalityOf(segments: readonly string[]): string {
  return segments.map((segment) => segment.startsWith("{") ? "1" : "0").join("");
}

function allowOf(routes: readonly Route[]): string {
  const methods = new Set<string>(routes.map(({ method }) => method));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods, "OPTIONS"].join(", ");
}
