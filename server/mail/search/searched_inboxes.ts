/** Which inboxes a search looks at. */
import type { Inboxes } from "../mailbox/inboxes/inboxes.ts";
import type { MailCaller } from "../access/authenticate_key.ts";

const INBOXES_A_READ = 100;

/**
 * Ids of the one that is named, else of all that the caller may see.
 * @param named id or address
 * @throws RelayError `not_found`
 */
export async function searchedInboxes(
  inboxes: Pick<Inboxes, "find" | "list">,
  caller: MailCaller,
  named: string | undefined,
): Promise<string[]> {
  const { org, key } = caller;
  const one = named ?? key.inboxId;
  if (one !== null) return [(await inboxes.find(caller, one)).id];
  const ids: string[] = [];
  for (let more = true; more;) {
    const page = await inboxes.list(org.id, ids.at(-1) ?? null, INBOXES_A_READ);
    ids.push(...page.inboxes.map(({ id }) => id));
    more = page.more;
  }
  return ids;
}
