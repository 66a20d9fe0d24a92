/** Google sign-in in the API description (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import type { DescribedRoutes } from "../../access/paths.ts";
import { mailId } from "../../access/schemas.ts";
import { Org } from "../../mailbox/shown/shown_org.ts";
import { SIGN_IN_KEYS } from "../../keys/sign_in_key.ts";

const IdTokenRequest = z.object({
  id_token: z.string().openapi({
    description: "Google's ID token for the relay's client id, at most an hour old.",
  }),
}).openapi("MailIdTokenRequest");

const SignedIn = z.object({
  org_id: mailId("org", "The org of the identity."),
  api_key: z.string().regex(/^rm_sk_[A-Za-z0-9_-]{43}$/).openapi({
    description: "Shown this once.",
  }),
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

export function googleRoutes(): DescribedRoutes {
  return {
    signInWithGoogle: {
      description: "Signs in to the org of a Google account, and makes a verified one where the " +
        "account has none: such orgs have no trial. The account is known by the token's `sub` " +
        "alone, so that two accounts with one e-mail address have two orgs.\n\n" +
        "Each sign-in makes an org-scoped API key, **shown once**, named `google` and the date. An " +
        `org keeps ${SIGN_IN_KEYS} keys of sign-ins: the least recently used makes room, one used within a day last.\n\n` +
        "The token is RS256, issued by Google for this relay's client id, not expired, at most an " +
        "hour old, with `email_verified` true. It may be used again while it is valid.",
      body,
      answers: {
        200: {
          description: "Signed in.",
          headers: ["Cache-Control"],
          content: { schema: SignedIn },
        },
      },
      errors: {
        ...TOKEN_ERRORS,
        org_suspended: "the operator has suspended the org of the account",
      },
    },
    attachGoogle: {
      description:
        "Links a Google account to the caller's org and verifies it: a trial ends, and " +
        "one that has expired is recovered until it is purged. `verified_email` is set where there " +
        "was none. Linking the same account again changes nothing.",
      body,
      answers: {
        200: {
          description: "The org.",
          headers: ["Cache-Control"],
          content: { schema: Org },
        },
      },
      errors: { ...TOKEN_ERRORS, identity_in_use: null },
    },
    unlinkGoogle: {
      description: "Unlinks the Google account of the org, whose keys and address stay. The " +
        "account is free for another org. Repeating changes nothing.",
      answers: { 204: { description: "Unlinked." } },
      errors: { last_identity: null },
    },
  };
}
