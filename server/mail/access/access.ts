/**
 * Who may call what in the mail area (docs/api.md, "The mail area"), and what of it a key is told
 * (docs/mail.md, "Keys that only write"). Each route has one of these words;
 * `refusalOf` is the only place that decides by them.
 */
import type { MailKey, Permission } from "../records/key_record.ts";

/** What a route asks of a mail key. */
export type KeyAccess =
  /** An org-scoped key that may read. */
  | "orgRead"
  /** An org-scoped key that may write. */
  | "orgWrite"
  /** Any key that may read; an inbox-scoped one for its own inbox. */
  | "read"
  /** Any key that may write; an inbox-scoped one for its own inbox. */
  | "write"
  /** Any key that may do both: what is written there holds what others wrote. */
  | "readWrite";

/** How a request gets into a route: by a mail key, or otherwise. */
export type MailAccess =
  | KeyAccess
  /** No caller is asked for; links carry tokens of their own. */
  | "public"
  /** Signed by the operator's mail gateway. */
  | "gateway"
  | "adminToken"
  /** The tool server: each tool asks for itself. */
  | "tools";

interface KeyNeeds {
  permissions: readonly Permission[];
  orgOnly: boolean;
  /** As the description of the API says it. */
  words: string;
}

const KEY_ACCESS: Readonly<Record<KeyAccess, KeyNeeds>> = {
  orgRead: {
    permissions: ["inbox:read"],
    orgOnly: true,
    words: "Takes an org-scoped key with `inbox:read`.",
  },
  orgWrite: {
    permissions: ["inbox:write"],
    orgOnly: true,
    words: "Takes an org-scoped key with `inbox:write`.",
  },
  read: {
    permissions: ["inbox:read"],
    orgOnly: false,
    words: "Takes a key with `inbox:read`; an inbox-scoped one sees its own inbox.",
  },
  write: {
    permissions: ["inbox:write"],
    orgOnly: false,
    words: "Takes a key with `inbox:write`; an inbox-scoped one for its own inbox.",
  },
  readWrite: {
    permissions: ["inbox:read", "inbox:write"],
    orgOnly: false,
    words:
      "Takes a key with `inbox:read` and `inbox:write`; an inbox-scoped one for its own inbox.",
  },
};

/**
 * Why a key may not call a route, in words; null where it may. Pure.
 * @param what is called: a route or a tool
 */
export function refusalOf(
  access: KeyAccess,
  key: Pick<MailKey, "scope" | "permissions">,
  what: "route" | "tool" = "route",
): string | null {
  const { permissions, orgOnly } = KEY_ACCESS[access];
  if (orgOnly && key.scope !== "org") {
    return `this ${what} takes an org-scoped key, and this one is for a single inbox`;
  }
  const lacking = permissions.find((permission) => !key.permissions.includes(permission));
  return lacking === undefined
    ? null
    : `this ${what} takes a key with permission ${
      permissions.join(" and ")
    }, and this one has not ${lacking}`;
}

/** Whether a key is told what others have written. Pure. */
export function mayRead({ permissions }: Pick<MailKey, "permissions">): boolean {
  return permissions.includes("inbox:read");
}

/**
 * Whether a key is told what a message or a draft says, and to whom. Pure.
 * @param writtenByKey id of the one key that wrote all of it; null or absent where it is not one key's
 */
export function maySee(
  key: Pick<MailKey, "id" | "permissions">,
  writtenByKey: string | null | undefined,
): boolean {
  return mayRead(key) || writtenByKey === key.id;
}

export function isKeyAccess(access: MailAccess): access is KeyAccess {
  return Object.hasOwn(KEY_ACCESS, access);
}

/** What a route asks of a key, in words; null where it takes none. Pure. */
export function keyWords(access: MailAccess): string | null {
  return isKeyAccess(access) ? KEY_ACCESS[access].words : null;
}
