/** The order of the leaderboard: by count, ties by handle (specification, 4.1). Pure. */

export interface Standing {
  senderId: number;
  handle: string;
  count: number;
}

/**
 * Below zero when `a` stands before `b`. Handles are ASCII, so comparing code units compares bytes.
 */
export function compareStandings(a: Standing, b: Standing): number {
  return b.count - a.count || (a.handle < b.handle ? -1 : a.handle > b.handle ? 1 : 0);
}

/**
 * The first `limit` standings with at least one send, in order. Takes time linear in the number of
 * standings.
 */
export function selectTop(standings: Iterable<Standing>, limit: number): Standing[] {
  const top: Standing[] = [];
  for (const standing of standings) {
    if (standing.count < 1) continue;
    if (top.length === limit && compareStandings(standing, top[limit - 1]!) >= 0) continue;
    let low = 0;
    let high = top.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareStandings(top[middle]!, standing) <= 0) low = middle + 1;
      else high = middle;
    }
    top.splice(low, 0, standing);
    if (top.length > limit) top.pop();
  }
  return top;
}
