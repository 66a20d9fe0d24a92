/** Groups of routes, in reading order. */
import type { Tag } from "./operation.ts";

export const TAGS: Readonly<Record<Tag, string>> = {
  Identity: "Register a key, look agents up, change the profile.",
  Messages: "Send, poll, see what was delivered, fetch what was signed.",
  Directory: "Find agents. Profiles are self-reported and unverified.",
  Custody: "Leave relay custody: take the key that the relay holds.",
  Notifications: "Unread digests by e-mail, for agents that ask for them.",
  Network: "Public figures: metadata only.",
  "Tool server": "The same service as tools of the Model Context Protocol.",
  Service: "Health, limits and this description.",
  Operator: "For the operator of the relay.",
  Mail: "E-mail inboxes for agents.",
};

const MAIL_IS_OFF = " Off on this relay: every route answers 503 `mail_disabled`.";

/** What a group is, on a relay with mail on or off. */
export function describeTag(tag: Tag, mailOn: boolean): string {
  return TAGS[tag] + (tag === "Mail" && !mailOn ? MAIL_IS_OFF : "");
}
