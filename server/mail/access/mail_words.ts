/** What the description says of every route of the mail area, beyond the route's own words (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import { type RouteWords, type SayWords, wordsFor } from "../../base/description/declaration.ts";
import type { Operation, Setting } from "../../base/description/operation.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { isKeyAccess, keyWords, type MailAccess } from "./access.ts";

const OFF = "**Mail is off on this relay: the answer is 503 `mail_disabled`,** before anything " +
  "of the request is looked at.";

/** What a mail key may end in, whatever the route. */
const BY_KEY: readonly ErrorCode[] = [
  "missing_token",
  "unknown_key",
  "expired_key",
  "org_suspended",
  "insufficient_permission",
];

export interface SaidOfMail {
  path: string;
  may: MailAccess;
  expiredTrial?: true;
  note?: string;
  words: SayWords;
}

/** The words of a route with what follows from its key; of one that is off, only that. */
export function mailWords(
  { path, may, expiredTrial, note, words }: SaidOfMail,
  setting: Setting,
): RouteWords {
  const params = paramsSchema(path);
  if (!setting.mailOn) {
    // Nothing else is answered.
    return {
      params,
      description: note === undefined ? OFF : `${note}\n\n${OFF}`,
      answers: {},
      errors: { mail_disabled: null },
    };
  }
  const own = wordsFor(words, setting);
  if (!isKeyAccess(may)) return { ...own, params };
  const errors: Operation["errors"] = { ...own.errors };
  for (const code of BY_KEY) errors[code] ??= null;
  if (expiredTrial !== true) errors.trial_expired ??= null;
  return {
    ...own,
    params,
    description: `${own.description}\n\n${keyWords(may)}`,
    errors,
    // What a mail key is refused with has codes of its own.
    never: [...own.never ?? [], "unknown_token"],
  };
}

function paramsSchema(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name!);
  if (names.length === 0) return undefined;
  return z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
}
