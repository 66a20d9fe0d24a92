/** The mail area in the API description (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import type { Credential, Operation, Setting } from "../description/operation.ts";
import type { ErrorCode } from "../errors.ts";
import { isKeyAccess, type MailAccess } from "./access.ts";
import type { DescribedRoutes } from "./described.ts";
import { draftRoutes } from "./drafts/operations.ts";
import { deliveryRoutes } from "./delivery/operations.ts";
import { googleRoutes } from "./google/operations.ts";
import { figureRoutes } from "./figures/operations.ts";
import { inboxRoutes } from "./inboxes/operations.ts";
import { keyRoutes } from "./keys/operations.ts";
import { messageRoutes } from "./messages/operations.ts";
import { receivingRoutes } from "./receiving/operations.ts";
import { sendingRoutes } from "./sending/operations.ts";
import { orgRoutes } from "./orgs/operations.ts";
import { searchRoutes } from "./search/operations.ts";
import { signInRoutes } from "./sign_in/operations.ts";
import { suppressionRoutes } from "./suppressions/operations.ts";
import { mailToolServer } from "./tools/operations.ts";
import { MAIL_PATHS, type MailPath } from "./paths.ts";

const OFF = "**Mail is off on this relay: the answer is 503 `mail_disabled`,** before anything " +
  "of the request is looked at.";
const MISSING = "**This version of the relay does not have it yet: the answer is 503 " +
  "`mail_disabled`.**";

/** What a mail key may end in, whatever the route. */
const BY_KEY: readonly ErrorCode[] = [
  "missing_token",
  "unknown_key",
  "expired_key",
  "org_suspended",
  "insufficient_permission",
];

const KEY_WORDS: Partial<Record<MailAccess, string>> = {
  orgRead: "Takes an org-scoped key with `inbox:read`.",
  orgWrite: "Takes an org-scoped key with `inbox:write`.",
  read: "Takes a key with `inbox:read`; an inbox-scoped one sees its own inbox.",
  write: "Takes a key with `inbox:write`; an inbox-scoped one for its own inbox.",
  readWrite:
    "Takes a key with `inbox:read` and `inbox:write`; an inbox-scoped one for its own inbox.",
};

export function mailOperations({ limits, mailOn: on }: Setting): Operation[] {
  const described: DescribedRoutes = on
    ? {
      ...orgRoutes(limits),
      ...signInRoutes(limits),
      ...googleRoutes(),
      ...keyRoutes(limits),
      ...inboxRoutes(limits),
      ...messageRoutes(),
      ...searchRoutes(),
      ...mailToolServer(limits),
      ...draftRoutes(limits),
      ...receivingRoutes(limits),
      ...deliveryRoutes(),
      ...figureRoutes(),
      ...suppressionRoutes(),
      ...sendingRoutes(limits),
    }
    : {};
  return MAIL_PATHS.map((path) => operationOf(path, described, on));
}

function operationOf(path: MailPath, described: DescribedRoutes, on: boolean): Operation {
  const { method, id, summary, note, addition, access } = path;
  const shared = {
    method,
    path: path.path,
    id,
    tag: "Mail" as const,
    summary,
    addition,
    // The one page outside the API.
    ...(path.path.startsWith("/mail/") ? { page: true } : {}),
    access: credentialsOf(access),
    params: paramsOf(path.path),
  };
  const own = described[id];
  if (own === undefined) {
    const words = [note, on ? MISSING : OFF].filter((text) => text !== undefined);
    // Nothing else is answered.
    return {
      ...shared,
      description: words.join("\n\n"),
      answers: {},
      errors: { mail_disabled: null },
    };
  }
  const words = [own.description, KEY_WORDS[access]].filter((text) => text !== undefined);
  const errors: Operation["errors"] = { ...own.errors };
  const never = new Set(own.never);
  if (isKeyAccess(access)) {
    for (const code of BY_KEY) errors[code] ??= null;
    if (path.expiredTrial !== true) errors.trial_expired ??= null;
    // What a mail key is refused with has codes of its own.
    never.add("unknown_token");
  }
  return { ...shared, ...own, description: words.join("\n\n"), errors, never: [...never] };
}

function credentialsOf(access: MailAccess): Credential[] {
  if (isKeyAccess(access) || access === "tools") return ["mailKey"];
  return access === "adminToken" ? ["adminToken"] : [];
}

function paramsOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name!);
  if (names.length === 0) return undefined;
  return z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
}
