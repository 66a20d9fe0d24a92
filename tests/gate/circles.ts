/**
 * One circle of each group of modules that import each other, as paths in import order; the first
 * path stands at the end again. Groups come in the order of their smallest path.
 * @param edges pairs of importing and imported module
 */
export function findCircles(edges: Iterable<readonly [string, string]>): string[][] {
  const imports = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (!imports.has(from)) imports.set(from, new Set());
    imports.get(from)!.add(to);
  }
  const circles: string[][] = [];
  const reported = new Set<string>();
  for (const start of [...imports.keys()].sort()) {
    if (reported.has(start)) continue;
    const circle = shortestWayBack(start, imports);
    if (circle === null) continue;
    circles.push(circle);
    for (const member of membersOfGroup(start, imports)) reported.add(member);
  }
  return circles;
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

function shortestWayBack(start: string, graph: Graph): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const module of queue) {
    for (const next of [...graph.get(module) ?? []].sort()) {
      if (next === start) return [...wayTo(module, start, cameFrom), start];
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, module);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(module: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [module];
  while (way[0] !== start) way.unshift(cameFrom.get(way[0]!)!);
  return way;
}

/** Modules that reach `start` and are reached from it. */
function membersOfGroup(start: string, graph: Graph): string[] {
  const reached = reachableFrom(start, graph);
  return [...reached].filter((module) => reachableFrom(module, graph).has(start));
}

function reachableFrom(start: string, graph: Graph): Set<string> {
  const reached = new Set<string>();
  const queue = [start];
  for (const module of queue) {
    for (const next of graph.get(module) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      queue.push(next);
    }
  }
  return reached;
}
