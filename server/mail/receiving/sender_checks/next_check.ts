/**
 * Whose mail is checked next. Mails wait for DNS beside each other, so that what is shared out is not
 * turns but places: they go to who has the fewest. Pure.
 */

/** Whom a mail is for, and who brought it. */
export interface Party {
  org: string;
  source: string;
}

interface Member {
  party: Party;
}

/**
 * The oldest of the source that has the fewest places, in the org that has the fewest. An org has no more
 * places than are free, and a source half as many: so there is always one for another org, and in an org
 * for another source.
 *
 * @param waiting the oldest first
 * @param places how many there are, those that are taken included
 * @returns null where none of them may begin
 */
export function nextCheck<T extends Member>(
  waiting: readonly T[],
  underWay: readonly Member[],
  places: number,
): T | null {
  const free = places - underWay.length;
  const [orgs, sources] = [countBy(underWay, "org"), countBy(underWay, "source")];
  let [next, fewest] = [null as T | null, [Infinity, Infinity]];
  for (const one of waiting) {
    const [ofOrg, ofSource] = [orgs.get(one.party.org) ?? 0, sources.get(one.party.source) ?? 0];
    if (ofOrg >= free || 2 * ofSource >= free) continue;
    if (ofOrg < fewest[0]! || ofOrg === fewest[0] && ofSource < fewest[1]!) {
      [next, fewest] = [one, [ofOrg, ofSource]];
    }
  }
  return next;
}

/** The newest waiting mail of the source that has the most, in the org that has the most. */
export function newestOfMost<T extends Member>(waiting: readonly T[]): T {
  const org = most(countBy(waiting, "org"));
  const ofOrg = waiting.filter(({ party }) => party.org === org);
  const source = most(countBy(ofOrg, "source"));
  return ofOrg.findLast(({ party }) => party.source === source)!;
}

function countBy(members: readonly Member[], part: keyof Party): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { party } of members) counts.set(party[part], (counts.get(party[part]) ?? 0) + 1);
  return counts;
}

/** The last one counted of several. */
function most(counts: Map<string, number>): string {
  let [found, count] = ["", 0];
  for (const [name, number] of counts) if (number >= count) [found, count] = [name, number];
  return found;
}
