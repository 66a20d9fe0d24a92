/** The ways in by mail in the API description (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import type { Content, Operation } from "../../base/description/operation.ts";
import { time } from "../../base/description/schemas/values.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { DescribedRoutes } from "../access/paths.ts";
import { mailId } from "../access/schemas.ts";
import { Org } from "../mailbox/shown/shown_org.ts";

const email = z.string().max(254).openapi({
  description: "One address of a person: ASCII before the @, a domain name after it.",
  example: "name@example.org",
});

const MagicRequest = z.object({
  email,
  org_id: z.string().nullable().optional().openapi({
    description:
      "An org that carries the address, or that was taken from it; another one opens the default org.",
  }),
}).openapi("MailMagicRequest");

const SignedIn = z.object({
  org_id: mailId("org", "The org that the link opened."),
  api_key: z.string().regex(/^rm_sk_[A-Za-z0-9_-]{43}$/).openapi({
    description: "Shown this once.",
  }),
  key_prefix: z.string().length(12),
  verified_email: z.string(),
  other_orgs: z.array(z.string()).openapi({
    description: "Other orgs of the address: name one as `org_id` when you ask for a link.",
  }),
}).openapi("MailSignedIn");

const KeysDeleted = z.object({
  deleted: z.int().min(0),
  google_email: z.string().nullable().openapi({
    description: "The linked Google account, which still signs in; `unlink_google` unlinks it.",
  }),
}).openapi("MailKeysDeleted");
const Unlinked = z.object({ unlinked: z.literal(true) }).openapi("MailGoogleUnlinked");
const Cancelled = z.object({ cancelled: z.literal(true) }).openapi("MailClaimCancelled");

const Claimed = z.object({ email, expires_at: time("End of the link.") }).openapi("MailClaim");

const TokenQuery = z.object({
  token: z.string().optional().openapi({ description: "The one in the link of the mail." }),
});

const page: Content = { type: "text/html", schema: z.string().min(1) };

const BROWSERS =
  "**A browser gets a page whose button does it**, so that what looks at mails for " +
  "viruses spends nothing: one that names text/html in `Accept`, begins `User-Agent` with " +
  "`Mozilla/` or sends a `Sec-Fetch-` header. HEAD spends nothing.";
const MAGIC_GET = "Any other GET spends the link; where it would take an org back from a later " +
  "owner, or open one that only claimed the address, only one whose `Accept` names application/json.";
const CLAIM_GET =
  "Any other GET spends the link where `Accept` names application/json, and gets the " +
  "page as well where it does not: what fetches the links of a mail confirms nothing.";
const ERRORS: Operation["errors"] = {
  link_expired: null,
  org_suspended: "the operator has suspended the org; the link is not spent",
};

function linkAnswers(what: string, ...content: Content[]): Operation["answers"] {
  return {
    200: { description: what, headers: ["Cache-Control"], content: [...content, page] },
    403: { description: "The same as a page.", headers: ["Cache-Control"], content: page },
    410: { description: "The same as a page.", headers: ["Cache-Control"], content: page },
  };
}

export function signInRoutes(limits: Limits): DescribedRoutes {
  return {
    sendMagicLink: {
      description:
        "Mails a sign-in link to an address. It works once, for an hour, and opens the " +
        "org that was signed in to first by the address. Where there is none the link makes a " +
        "verified one: an org that only claimed the address opens when it is named, by `org_id` or " +
        "on the page.\n\nAn org that was taken from the reader of the address in the last 7 days and is " +
        "named by `org_id` is taken back, as by the link in the mail about it.\n\nThe answer is the same " +
        `whether or not the address is known. At most ${limits.mailMagicPerEmailPerHour} an hour to one ` +
        "address, without what follows a `+` in it, the links of claims counted, and " +
        `${limits.mailMagicPerIpPerHour} from one client address.`,
      body: { description: "Unknown fields are ignored.", schema: MagicRequest },
      answers: {
        202: {
          description: "The mail is on its way.",
          content: { schema: z.object({ sent: z.literal(true) }).openapi("MailLinkSent") },
        },
      },
      errors: {
        invalid_email: null,
        rate_limited: "too many links to this e-mail address, or from this client address",
      },
    },
    followMagicLink: {
      description:
        `The link of a sign-in: gives an API key, **shown once**.\n\n${BROWSERS} ${MAGIC_GET}`,
      query: TokenQuery,
      answers: linkAnswers("Signed in.", { schema: SignedIn }),
      errors: ERRORS,
      never: ["invalid_json"],
    },
    confirmMagicLink: {
      description:
        "The button of the page, or a program with the link's token: gives an API key, " +
        "**shown once**. The body is JSON or a form; the answer is a page where Accept names " +
        "text/html.\n\n`org_id` opens another org than the link does: one that carries " +
        "the address or was taken from it, or `new` for none that only claimed it.\n\n`action` `delete_other_keys` with the `api_key` of a " +
        "sign-in deletes all other keys of its org, and ends the links by which later owners than the " +
        "oldest of the last 7 days could take it back; `unlink_google` unlinks the org's Google account. " +
        "The page offers both.",
      body: {
        description: "JSON, or the same fields as `application/x-www-form-urlencoded`.",
        schema: z.object({
          token: z.string().optional(),
          org_id: z.string().nullable().optional(),
          action: z.enum(["delete_other_keys", "unlink_google"]).nullable().optional(),
          api_key: z.string().optional(),
        }).openapi("MailMagicConfirmation"),
      },
      answers: linkAnswers("Signed in; with `action`, how many keys were deleted.", {
        schema: z.union([SignedIn, KeysDeleted, Unlinked]),
      }),
      errors: { ...ERRORS, unknown_key: "`api_key` is no key of a sign-in" },
    },
    claimMailOrg: {
      description:
        "Mails a link to a person: when it is confirmed, the address is the org's, and a " +
        "trial is verified. An earlier link that waits works no more. The mail names org, key and " +
        "client address, never a label.\n\nOf a verified org it changes the address; the reader of " +
        "the former one gets a link that takes the org back, for 7 days. The address of such a former " +
        "owner takes it back by a claim too. At most " +
        `${limits.mailClaimsPerOrgPerHour} an hour of one org, and as many to one address as sign-in links, ` +
        "which count too.",
      body: {
        description: "Unknown fields are ignored.",
        schema: z.object({ email }).openapi("MailClaimRequest"),
      },
      answers: {
        202: {
          description: "The mail is on its way.",
          headers: ["Cache-Control"],
          content: { schema: Claimed },
        },
      },
      errors: {
        invalid_email: null,
        rate_limited: "too many claim links of this org, or links to this e-mail address",
      },
    },
    followClaimLink: {
      description:
        "The link of a claim, or the one that takes an org back: the trial is verified, " +
        `the address the org's. A trial that has ended within the link's hour too.\n\n${BROWSERS} ${CLAIM_GET}`,
      query: TokenQuery,
      answers: linkAnswers("The org as it is now.", { schema: Org }),
      errors: ERRORS,
      never: ["invalid_json"],
    },
    confirmClaimLink: {
      description:
        "The buttons of the page, or a program with the link's token. The body is JSON " +
        "or a form; the answer is a page where Accept names text/html. `action` `cancel` ends the " +
        "claim.",
      body: {
        description: "JSON, or the same fields as `application/x-www-form-urlencoded`.",
        schema: z.object({
          token: z.string(),
          action: z.literal("cancel").nullable().optional(),
        }).openapi("MailClaimConfirmation"),
      },
      answers: linkAnswers("The org as it is now; with `action`, that the claim is ended.", {
        schema: z.union([Org, Cancelled]),
      }),
      errors: ERRORS,
    },
  };
}
