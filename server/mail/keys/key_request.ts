/** What a request asks a new key to be (docs/mail.md, "Keys"). Pure. */
import type { JsonObject, JsonValue } from "../../../toolkit/json_value.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { readTime } from "../../base/http/fields/read_time.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { isMailId } from "../records/mail_id.ts";
import { type MailKey, type Permission, PERMISSIONS } from "../records/key_record.ts";

const MAX_NAME = 100;
const MAX_LIFE_MS = 5 * 366 * 86_400_000;

export type KeyRequest = Pick<
  MailKey,
  "name" | "scope" | "inboxId" | "permissions" | "expiresAtMs"
>;

/**
 * @param creator the key that asks: a new one has no more permissions and no longer life
 * @throws RelayError `invalid_json` naming the field, `insufficient_permission`
 */
export function readKeyRequest(
  request: JsonObject,
  creator: Pick<MailKey, "permissions" | "expiresAtMs">,
  nowMs: number,
): KeyRequest {
  const name = cleanLine("name", request["name"] ?? "", MAX_NAME);
  if (name === "") throw invalidJson(`name is required: 1 to ${MAX_NAME} characters`);
  const scope = request["scope"] ?? "org";
  if (scope !== "org" && scope !== "inbox") throw invalidJson('scope must be "org" or "inbox"');
  return {
    name,
    scope,
    inboxId: readInboxId(scope, request["inbox_id"] ?? null),
    permissions: readPermissions(request["permissions"] ?? null, creator.permissions),
    expiresAtMs: readExpiry(request["expires_at"] ?? null, creator.expiresAtMs, nowMs),
  };
}

function readInboxId(scope: "org" | "inbox", given: JsonValue): string | null {
  if (scope === "org") {
    if (given === null) return null;
    throw invalidJson('inbox_id is for keys of scope "inbox"; leave it out, or set the scope');
  }
  if (typeof given === "string" && (isMailId("ibx", given) || given.includes("@"))) return given;
  throw invalidJson('inbox_id is required with scope "inbox": the id or the address of an inbox');
}

function readPermissions(given: JsonValue, allowed: readonly Permission[]): Permission[] {
  if (given === null) return [...allowed];
  const form = `permissions must be an array with one or both of ${PERMISSIONS.join(", ")}`;
  if (!Array.isArray(given) || given.length === 0) throw invalidJson(form);
  if (!given.every((one) => PERMISSIONS.includes(one as Permission))) throw invalidJson(form);
  const asked = PERMISSIONS.filter((permission) => given.includes(permission));
  const beyond = asked.filter((permission) => !allowed.includes(permission));
  if (beyond.length === 0) return asked;
  throw new RelayError(
    "insufficient_permission",
    `a key gives only permissions that it has itself, and this one has not ${beyond.join(", ")}`,
  );
}

function readExpiry(given: JsonValue, latestMs: number | null, nowMs: number): number | null {
  if (given === null) return latestMs;
  const atMs = readTime("expires_at", given);
  if (atMs <= nowMs || atMs > nowMs + MAX_LIFE_MS) {
    throw invalidJson("expires_at must be in the future, at most 5 years ahead");
  }
  if (latestMs === null || atMs <= latestMs) return atMs;
  throw invalidJson(
    `expires_at must not be later than that of the key that makes it: ${timestamp(latestMs)}`,
  );
}
