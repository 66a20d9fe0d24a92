/**
 * Who may call what in the mail area (mail page, "Who may call what"). paths.ts gives every route
 * one of these words; `refusalOf` is the only place that decides by them.
 */
import type { MailKey, Permission } from "./records/key_record.ts";

/** What a route asks of a mail key. */
export type KeyAccess =
  /** An org-scoped key that may read. */
  | "orgRead"
  /** An org-scoped key that may write. */
  | "orgWrite"
  /** Any key that may read; an inbox-scoped one for its own inbox. */
  | "read"
  /** Any key that may write; an inbox-scoped one for its own inbox. */
  | "write";

/** How a request gets into a route: by a mail key, or otherwise. */
export type MailAccess =
  | KeyAccess
  /** Nobody is asked who they are; links carry tokens of their own. */
  | "public"
  /** Signed by the operator's mail gateway. */
  | "gateway"
  | "adminToken"
  /** The tool server: each tool asks for itself. */
  | "tools";

const KEY_ACCESS: Record<KeyAccess, { permission: Permission; orgOnly: boolean }> = {
  orgRead: { permission: "inbox:read", orgOnly: true },
  orgWrite: { permission: "inbox:write", orgOnly: true },
  read: { permission: "inbox:read", orgOnly: false },
  write: { permission: "inbox:write", orgOnly: false },
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
  const { permission, orgOnly } = KEY_ACCESS[access];
  if (orgOnly && key.scope !== "org") {
    return `this ${what} takes an org-scoped key, and this one is for a single inbox`;
  }
  if (!key.permissions.includes(permission)) {
    return `this ${what} takes a key with permission ${permission}, which this one has not`;
  }
  return null;
}

export function isKeyAccess(access: MailAccess): access is KeyAccess {
  return Object.hasOwn(KEY_ACCESS, access);
}
