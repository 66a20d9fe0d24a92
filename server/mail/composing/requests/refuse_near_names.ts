/** Fields that somebody meant otherwise. Pure. */
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";

/**
 * Refuses a name that differs from a known one by case, underscores or one letter only: unknown fields
 * are ignored, and what was to be sent tomorrow would go out now.
 * @param known all names that the request may have
 * @param within where the object stands, as "attachments[0]."; the request itself is ""
 * @throws RelayError `invalid_json` that names both
 */
export function refuseNearNames(
  request: JsonObject,
  known: readonly string[],
  within = "",
): void {
  for (const name of Object.keys(request)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => isNear(name, one));
    if (meant === undefined) continue;
    throw invalidJson(
      `${within}${name} is not a field of this request: write ${within}${meant}, or leave it out`,
    );
  }
}

/** Underscores of a name that is looked at. */
const MAX_UNDERSCORES = 8;

function isNear(name: string, known: string): boolean {
  if (name.length > known.length + MAX_UNDERSCORES) return false;
  return isOneLetterOff(plain(name), plain(known));
}

const plain = (name: string) => name.toLowerCase().replaceAll("_", "");

/** Whether one letter more, less or other makes them equal, or none. */
function isOneLetterOff(name: string, known: string): boolean {
  if (Math.abs(name.length - known.length) > 1) return false;
  let same = 0;
  while (same < name.length && name[same] === known[same]) same++;
  const [shorter, longer] = name.length < known.length ? [name, known] : [known, name];
  const skipped = shorter.length === longer.length ? 1 : 0;
  return shorter.slice(same + skipped) === longer.slice(same + 1);
}
