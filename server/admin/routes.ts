/** POST /v1/admin/ban and /v1/admin/unban (specification, 4.5). */
import { createHash, timingSafeEqual } from "node:crypto";
import { AddressError } from "../../toolkit/address_error.ts";
import { decodeAddress } from "../../toolkit/decode_address.ts";
import type { JsonObject } from "../../toolkit/json_value.ts";
import type { Identities } from "../agents/identities.ts";
import { invalidJson, RelayError } from "../errors.ts";
import { answerJson } from "../http/answer.ts";
import { bearerToken } from "../http/authenticate.ts";
import type { ReadBody } from "../http/body.ts";
import { readObject } from "../http/json_body.ts";
import type { Route } from "../http/route.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import { setBanned } from "./ban_agent.ts";

export interface AdminServices {
  /** RELAY_ADMIN_TOKEN; unset, every call is refused. */
  adminToken: string | undefined;
  readBody: ReadBody;
  rawBodyBytes: number;
  identities: Identities;
  commits: GroupCommit;
  /** Corrects the network's figures after a change; waits for it, but not for long. */
  sweep(): Promise<void>;
}

export function adminRoutes(services: AdminServices): Route[] {
  return [
    banRoute(services, "/v1/admin/ban", true),
    banRoute(services, "/v1/admin/unban", false),
  ];
}

function banRoute(services: AdminServices, path: string, banned: boolean): Route {
  const { adminToken, readBody, rawBodyBytes, identities, commits, sweep } = services;
  return {
    method: "POST",
    path,
    cors: "none",
    async handle(c) {
      const body = await readBody(c.req.raw, rawBodyBytes);
      requireAdmin(bearerToken(c.req.raw.headers), adminToken);
      const agent = await identities.byAddress(readPublicKey(readObject(body)));
      if (agent === null) {
        throw new RelayError("not_found", "no agent is registered with this pubkey");
      }
      await setBanned(commits, agent, banned);
      await sweep();
      return answerJson({ ok: true });
    },
  };
}

/** Compares hashes, so that the time taken tells nothing of the token. @throws RelayError `unknown_token` */
function requireAdmin(token: string | null, adminToken: string | undefined): void {
  const given = sha256(token ?? "");
  if (timingSafeEqual(given, sha256(adminToken ?? "")) && token !== null && adminToken) return;
  throw new RelayError(
    "unknown_token",
    "admin endpoints take Authorization: Bearer with the relay's admin token (RELAY_ADMIN_TOKEN); without one configured they are closed",
  );
}

function sha256(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** The address in `pubkey`. @throws RelayError `invalid_json`, `invalid_pubkey` */
function readPublicKey({ pubkey }: JsonObject): string {
  const form = "pubkey must be the base58 (33 to 44 characters) of a 32-byte Ed25519 public key";
  if (pubkey === undefined) throw invalidJson(`pubkey is required: ${form}`);
  if (typeof pubkey !== "string") throw invalidJson(form);
  try {
    decodeAddress(pubkey);
    return pubkey;
  } catch (error) {
    if (error instanceof AddressError) throw new RelayError("invalid_pubkey", form);
    throw error;
  }
}
