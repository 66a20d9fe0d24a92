/** Routes of Google sign-in: /v1/mail/org/google and /v1/mail/org/attach (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import { invalidJson, RelayError } from "../../../base/errors.ts";
import { answerJson, NO_STORE } from "../../../base/http/answers/answer.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import { keyRoute, type MailRequest, openRoute } from "../../access/mail_route.ts";
import { mailId, newApiKey, unkept } from "../../access/schemas.ts";
import { SIGN_IN_KEYS } from "../../keys/sign_in_key.ts";
import type { MailCore } from "../../mailbox/mail_core.ts";
import { Org, shownOrg } from "../../mailbox/shown/shown_org.ts";
import type { GoogleKeys } from "./google_keys.ts";
import { attachIdentity, signInByGoogle, unlinkIdentity } from "./identities.ts";
import { type GoogleIdentity, readIdToken } from "./read_id_token.ts";

interface GoogleServices extends MailCore {
  /** Null while sign-in is off. */
  signIn: { clientId: string; keys: GoogleKeys } | null;
}

const IdTokenRequest = z.object({
  id_token: z.string().openapi({
    description: "Google's ID token for the relay's client id, at most an hour old.",
  }),
}).openapi("MailIdTokenRequest");

const SignedIn = z.object({
  org_id: mailId("org", "The org of the identity."),
  api_key: newApiKey(),
  trial: z.boolean(),
  verified_email: z.string().nullable(),
  google_email: z.string().nullable().openapi({ description: "As the token says it." }),
}).openapi("MailGoogleSignedIn");

const body = { description: "Unknown fields are ignored.", schema: IdTokenRequest };
const TOKEN_ERRORS = {
  google_signin_disabled: null,
  invalid_google_token: null,
  internal: "Google's keys cannot be fetched, or the relay failed; try again",
} as const;

const signInWithGoogle = openRoute({
  method: "POST",
  path: "/v1/mail/org/google",
  id: "signInWithGoogle",
  may: "public",
  summary: "Sign in by identity provider",
  note: "Creates a verified org, or signs in to the one of that identity.",
  words: {
    description: "Signs in to the org of a Google account, and makes a verified one where the " +
      "account has none: such orgs have no trial. The account is known by the token's `sub` " +
      "alone, so that two accounts with one e-mail address have two orgs.\n\n" +
      "Each sign-in makes an org-scoped API key, **shown once**, named `google` and the date. An " +
      `org keeps ${SIGN_IN_KEYS} keys of sign-ins: the least recently used makes room, one used within a day last.\n\n` +
      "The token is RS256, issued by Google for this relay's client id, not expired, at most an " +
      "hour old, with `email_verified` true. It may be used again while it is valid.",
    body,
    answers: { 200: unkept("Signed in.", SignedIn) },
    errors: {
      ...TOKEN_ERRORS,
      org_suspended: "the operator has suspended the org of the account",
    },
  },
  handle: (services: GoogleServices) => async (request) => {
    const { freeDisk, secret, deps: { log } } = services;
    const identity = await identify(services, request);
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
});

const unlinkGoogle = keyRoute({
  method: "DELETE",
  path: "/v1/mail/org/google",
  id: "unlinkGoogle",
  may: "orgWrite",
  summary: "Unlink the identity",
  addition: true,
  words: {
    description: "Unlinks the Google account of the org, whose keys and address stay. The " +
      "account is free for another org. Repeating changes nothing.",
    answers: { 204: { description: "Unlinked." } },
    errors: { last_identity: null },
  },
  handle: (services: MailCore) => async (request) => {
    const org = await unlinkIdentity(services, request);
    services.deps.log("mail_identity_unlinked", { org_id: org.id });
    return noContent();
  },
});

const attachGoogle = keyRoute({
  method: "POST",
  path: "/v1/mail/org/attach",
  id: "attachGoogle",
  may: "orgWrite",
  summary: "Link an identity to the org",
  note: "Recovers an expired trial.",
  expiredTrial: true,
  words: {
    description: "Links a Google account to the caller's org and verifies it: a trial ends, and " +
      "one that has expired is recovered until it is purged. `verified_email` is set where there " +
      "was none. Linking the same account again changes nothing.",
    body,
    answers: { 200: unkept("The org.", Org) },
    errors: { ...TOKEN_ERRORS, identity_in_use: null },
  },
  handle: (services: GoogleServices) => async (request) => {
    const { limits, now, deps: { log } } = services;
    const identity = await identify(services, request);
    const askedFrom = services.clients.addressOf(request.c);
    const org = await attachIdentity(services, request, identity, askedFrom);
    log("mail_identity_attached", { org_id: org.id });
    return answerJson(shownOrg(org, limits, now()), 200, NO_STORE);
  },
});

export const GOOGLE_ROUTES = [signInWithGoogle, unlinkGoogle, attachGoogle];

/** The identity that a request proves. */
async function identify(
  { signIn, store }: GoogleServices,
  { body }: MailRequest,
): Promise<GoogleIdentity> {
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
