/** Routes of sign-in links: /v1/mail/org/magic and /v1/mail/org/magic/confirm (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import { invalidJson } from "../../base/errors.ts";
import { answerJson } from "../../base/http/answers/answer.ts";
import { openRoute } from "../access/mail_route.ts";
import { mailId, newApiKey } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { isLive } from "../records/key_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { askToSignIn } from "./ask_pages.ts";
import { unlinkIdentity } from "./google/identities.ts";
import { answerKeysDeleted, answerSignedIn, answerUnlinked } from "./link_pages.ts";
import {
  BROWSERS,
  FORM_OR_JSON,
  LINK_HEADERS,
  type LinkActions,
  type LinkFields,
  linkRoutes,
  openLink,
  PersonEmail,
  readPersonEmail,
} from "./link_route.ts";
import {
  followMagicLink as followLink,
  readMagicLink,
  sendMagicLink as send,
} from "./magic_link.ts";
import { deleteOtherKeys, signInCaller } from "./shut_out.ts";
import { NEW_ORG } from "./sign_in_choice.ts";

const MagicRequest = z.object({
  email: PersonEmail,
  org_id: z.string().nullable().optional().openapi({
    description:
      "An org that carries the address, or that was taken from it; another one opens the default org.",
  }),
}).openapi("MailMagicRequest");

const SignedIn = z.object({
  org_id: mailId("org", "The org that the link opened."),
  api_key: newApiKey(),
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

const sendMagicLink = openRoute({
  method: "POST",
  path: "/v1/mail/org/magic",
  id: "sendMagicLink",
  may: "public",
  summary: "Send a sign-in link",
  note: "The link works once, for an hour; 3 per e-mail an hour.",
  words: ({ limits }) => ({
    description: "Mails a sign-in link to an address. It works once, for an hour, and opens the " +
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
  }),
  handle: (services: MailCore) => async ({ c, body }) => {
    const asked = await body();
    const email = readPersonEmail(services, asked);
    const named = asked["org_id"] ?? null;
    if (named !== null && typeof named !== "string") {
      throw invalidJson("org_id must be the id of an org that carries the address, or absent");
    }
    // What no org can be called is not stored: strangers choose it, and its length.
    const orgId = named !== null && isMailId("org", named) ? named : null;
    await services.freeDisk.refuseWhenFull();
    const askedFrom = services.clients.addressOf(c);
    await send(services, { email, orgId, askedFrom });
    return answerJson({ sent: true }, 202);
  },
});

const SIGN_IN: LinkActions = {
  kinds: ["magic"],
  async look(services, id, token) {
    const waiting = await readMagicLink(services, id);
    const { org, undone, claimed } = waiting.choice;
    return {
      ask: () => askToSignIn(waiting, token),
      isAskedByName: org !== null && (undone !== null || claimed.includes(org)),
    };
  },
  async follow(services, fields, asPage) {
    const action = fields["action"] ?? null;
    if (action !== null) return await shutOut(services, fields, action, asPage);
    const id = await openLink(services, fields["token"], SIGN_IN.kinds);
    await services.freeDisk.refuseWhenFull();
    return await signIn(services, id, fields["org_id"] ?? null, asPage);
  },
};

const confirmation = z.object({
  token: z.string().optional(),
  org_id: z.string().nullable().optional(),
  action: z.enum(["delete_other_keys", "unlink_google"]).nullable().optional(),
  api_key: z.string().optional(),
}).openapi("MailMagicConfirmation");

const LINK_ROUTES = linkRoutes("/v1/mail/org/magic/confirm", SIGN_IN, {
  follow: {
    id: "followMagicLink",
    summary: "Follow a sign-in link",
    note: "Query `token`. Mints an API key once.",
    description: `The link of a sign-in: gives an API key, **shown once**.\n\n${BROWSERS} ` +
      "Any other GET spends the link; where it would take an org back from a later " +
      "owner, or open one that only claimed the address, only one whose `Accept` names application/json.",
    answer: ["Signed in.", SignedIn],
  },
  confirm: {
    id: "confirmMagicLink",
    summary: "Confirm a sign-in link",
    description: "The button of the page, or a program with the link's token: gives an API key, " +
      `**shown once**. ${FORM_OR_JSON}\n\n\`org_id\` opens another org than the link does: one that carries ` +
      "the address or was taken from it, or `new` for none that only claimed it.\n\n`action` `delete_other_keys` with the `api_key` of a " +
      "sign-in deletes all other keys of its org, and ends the links by which later owners than the " +
      "oldest of the last 7 days could take it back; `unlink_google` unlinks the org's Google account. " +
      "The page offers both.",
    body: confirmation,
    answer: [
      "Signed in; with `action`, how many keys were deleted.",
      z.union([SignedIn, KeysDeleted, Unlinked]),
    ],
    errors: { unknown_key: "`api_key` is no key of a sign-in" },
  },
});

export const MAGIC_ROUTES = [sendMagicLink, ...LINK_ROUTES];

/** The buttons on the page of a sign-in that shut everybody else out. */
async function shutOut(
  services: MailCore,
  fields: LinkFields,
  action: unknown,
  asPage: boolean,
): Promise<Response> {
  if (action !== "delete_other_keys" && action !== "unlink_google") {
    throw invalidJson(
      "action must be delete_other_keys or unlink_google, with api_key, or absent",
    );
  }
  const apiKey = String(fields["api_key"] ?? "");
  const caller = await signInCaller(services, apiKey);
  if (action === "unlink_google") {
    await unlinkIdentity(services, caller);
    return asPage ? answerUnlinked(apiKey) : answerJson({ unlinked: true }, 200, LINK_HEADERS);
  }
  const { deleted, org: { google } } = await deleteOtherKeys(services, caller);
  return asPage
    ? answerKeysDeleted(deleted, google, apiKey)
    : answerJson({ deleted, google_email: google?.email ?? null }, 200, LINK_HEADERS);
}

async function signIn(
  services: MailCore,
  id: string,
  chosen: unknown,
  asPage: boolean,
): Promise<Response> {
  if (chosen !== null && typeof chosen !== "string") {
    throw invalidJson(
      `org_id must be the id of an org that carries the address, "${NEW_ORG}", or absent`,
    );
  }
  const signedIn = await followLink(services, id, chosen);
  if (asPage) {
    const nowMs = services.now();
    const live = signedIn.otherKeys.filter((key) => isLive(key, nowMs));
    return await answerSignedIn(signedIn, live.length, nowMs);
  }
  const { org, apiKey, key, otherOrgs } = signedIn;
  return answerJson(
    {
      org_id: org.id,
      api_key: apiKey,
      key_prefix: key.prefix,
      verified_email: org.verifiedEmail,
      other_orgs: otherOrgs,
    },
    200,
    LINK_HEADERS,
  );
}
