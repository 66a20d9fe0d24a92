/** Routes of Google sign-in: /v1/mail/org/google and /v1/mail/org/attach. */
import type { Deps } from "../../../base/parts/deps.ts";
import { invalidJson, RelayError } from "../../../base/errors.ts";
import { answerJson, NO_STORE } from "../../../base/http/answers/answer.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import type { FreeDisk } from "../../../base/storage/free_disk.ts";
import type { MailRequest } from "../../access/mail_route.ts";
import type { MailHandlers } from "../../access/paths.ts";
import { shownOrg } from "../../mailbox/shown/shown_org.ts";
import type { MailSecret } from "../../access/mail_secret.ts";
import type { GoogleKeys } from "./google_keys.ts";
import {
  attachIdentity,
  type GoogleServices,
  signInByGoogle,
  unlinkIdentity,
} from "./identities.ts";
import { type GoogleIdentity, readIdToken } from "./read_id_token.ts";

export interface GoogleRouteServices extends GoogleServices {
  /** Null while sign-in is off. */
  signIn: { clientId: string; keys: GoogleKeys } | null;
  freeDisk: FreeDisk;
  secret: MailSecret;
  deps: Deps;
}

export function googleHandlers(services: GoogleRouteServices) {
  const { signIn, store, freeDisk, secret, limits, deps: { log } } = services;

  /** The identity that a request proves. */
  async function identify({ body }: MailRequest): Promise<GoogleIdentity> {
    if (signIn === null) {
      throw new RelayError(
        "google_signin_disabled",
        "sign-in with Google is off on this relay; its operator can turn it on",
      );
    }
    const { id_token } = await body();
    if (typeof id_token !== "string") {
      throw invalidJson("id_token is required: the ID token of Google for this relay, as a string");
    }
    store.clock.requireSure(); // whether a token has expired is the clock's to say
    return await readIdToken(id_token, { ...signIn, nowMs: store.now() });
  }

  return {
    async signInWithGoogle(request) {
      const identity = await identify(request);
      await freeDisk.refuseWhenFull();
      await secret.key("mail-link"); // made with the first org
      const { org, apiKey, isNew } = await signInByGoogle(services, identity);
      log(isNew ? "mail_org_made" : "mail_signed_in", { org_id: org.id, by: "google" });
      return answerJson(
        {
          org_id: org.id,
          api_key: apiKey,
          trial: org.trialEndsAtMs !== null,
          verified_email: org.verifiedEmail,
          google_email: org.google?.email ?? null,
        },
        200,
        NO_STORE,
      );
    },
    async attachGoogle(request) {
      const identity = await identify(request);
      const askedFrom = services.clients.addressOf(request.c);
      const org = await attachIdentity(services, request, identity, askedFrom);
      log("mail_identity_attached", { org_id: org.id });
      return answerJson(shownOrg(org, limits, store.now()), 200, NO_STORE);
    },
    async unlinkGoogle(request) {
      const org = await unlinkIdentity(services, request);
      log("mail_identity_unlinked", { org_id: org.id });
      return noContent();
    },
  } satisfies MailHandlers;
}
