/** The secret under which the operator's gateway signs what it hands in (docs/mail.md). */
import { base64 } from "@scure/base";
import { join } from "node:path";
import { decodeInboundSecret } from "../../../toolkit/client/inbound_secret.ts";
import type { Config } from "../../base/config/config.ts";
import { makeSecretFile, readSecretFile, type SecretForm } from "../../base/files/secret_file.ts";

const SECRET_BYTES = 32;
const FORM: SecretForm = {
  encode: (secret) => `whsec_${base64.encode(secret)}`,
  decode: decodeInboundSecret,
  advice:
    "must hold whsec_ and base64 of at least 24 bytes, the secret of the inbound gateway; without the file the next start makes another",
};

/** Path of the secret that local mode makes; as `relay mail inject --secret-file` reads it. */
export function inboundSecretPath(config: Pick<Config, "dataDir">): string {
  return join(config.dataDir, "inbound.secret");
}

/**
 * RELAY_MAIL_INBOUND_SECRET; in local mode, where it is unset, the one in the data folder, made where
 * there is none.
 * @returns at least 24 bytes; null where there is none, so that nothing can be handed in
 * @throws Error when the file holds anything else
 */
export async function openInboundSecret(
  config: Pick<Config, "dataDir"> & { mail: Pick<Config["mail"], "inboundSecret" | "local"> },
  random: (sizeBytes: number) => Uint8Array,
): Promise<Uint8Array | null> {
  const { inboundSecret, local } = config.mail;
  if (inboundSecret !== undefined) return inboundSecret;
  if (!local) return null;
  const path = inboundSecretPath(config);
  return await readSecretFile(path, FORM) ??
    await makeSecretFile(path, random(SECRET_BYTES), FORM);
}
