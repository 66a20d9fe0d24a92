/** Routes of claims: /v1/mail/org/claim and the links that make somebody an org's owner (specification, 4.7). */
import { z } from "@hono/zod-openapi";
import { time } from "../../base/description/schemas/values.ts";
import { invalidJson } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { keyRoute } from "../access/mail_route.ts";
import { unkept } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { Org, shownOrg } from "../mailbox/shown/shown_org.ts";
import { askToChange } from "./ask_pages.ts";
import { answerCancelled, answerConfirmed, answerRestored } from "./link_pages.ts";
import {
  BROWSERS,
  FORM_OR_JSON,
  LINK_HEADERS,
  type LinkActions,
  linkRoutes,
  openLink,
  PersonEmail,
  readPersonEmail,
} from "./link_route.ts";
import { cancelClaim, followOwnerLink, readOwnerLink, sendClaimLink } from "./owner_link.ts";

const Claimed = z.object({ email: PersonEmail, expires_at: time("End of the link.") })
  .openapi("MailClaim");
const Cancelled = z.object({ cancelled: z.literal(true) }).openapi("MailClaimCancelled");

const claimMailOrg = keyRoute({
  method: "POST",
  path: "/v1/mail/org/claim",
  id: "claimMailOrg",
  may: "orgWrite",
  summary: "Send a confirmation link",
  note: "The link works once, for an hour; 3 per org an hour.",
  words: ({ limits }) => ({
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
      schema: z.object({ email: PersonEmail }).openapi("MailClaimRequest"),
    },
    answers: { 202: unkept("The mail is on its way.", Claimed) },
    errors: {
      invalid_email: null,
      rate_limited: "too many claim links of this org, or links to this e-mail address",
    },
  }),
  handle: (services: MailCore) => async (request) => {
    const email = readPersonEmail(services, await request.body());
    await services.freeDisk.refuseWhenFull();
    const askedFrom = services.clients.addressOf(request.c);
    const { expiresAtMs } = await sendClaimLink(services, request, { email, askedFrom });
    return answerJson({ email, expires_at: timestamp(expiresAtMs) }, 202, NO_STORE);
  },
});

const CHANGE: LinkActions = {
  kinds: ["claim", "restore"],
  async look(services, id, token) {
    const waiting = await readOwnerLink(services, id);
    return { ask: () => askToChange(waiting, token), isAskedByName: true };
  },
  async follow(services, { token, action: given }, asPage) {
    const action = given ?? null;
    if (action !== null && action !== "cancel") {
      throw invalidJson("action must be cancel, or absent");
    }
    const id = await openLink(services, token, action === "cancel" ? ["claim"] : CHANGE.kinds);
    await services.freeDisk.refuseWhenFull();
    if (action === "cancel") {
      await cancelClaim(services, id);
      return asPage ? answerCancelled() : answerJson({ cancelled: true }, 200, LINK_HEADERS);
    }
    const { org, isUndo } = await followOwnerLink(services, id);
    const { limits, now } = services;
    if (!asPage) return answerJson(shownOrg(org, limits, now()), 200, LINK_HEADERS);
    return isUndo ? answerRestored(org) : answerConfirmed(org);
  },
};

const confirmation = z.object({
  token: z.string(),
  action: z.literal("cancel").nullable().optional(),
}).openapi("MailClaimConfirmation");

const LINK_ROUTES = linkRoutes("/v1/mail/org/claim/confirm", CHANGE, {
  follow: {
    id: "followClaimLink",
    summary: "Follow a claim link",
    note: "Query `token`. Clears trial and expiry.",
    description: "The link of a claim, or the one that takes an org back: the trial is verified, " +
      `the address the org's. A trial that has ended within the link's hour too.\n\n${BROWSERS} ` +
      "Any other GET spends the link where `Accept` names application/json, and gets the " +
      "page as well where it does not: what fetches the links of a mail confirms nothing.",
    answer: ["The org as it is now.", Org],
  },
  confirm: {
    id: "confirmClaimLink",
    summary: "Confirm a claim link",
    description: `The buttons of the page, or a program with the link's token. ${FORM_OR_JSON} ` +
      "`action` `cancel` ends the claim.",
    body: confirmation,
    answer: [
      "The org as it is now; with `action`, that the claim is ended.",
      z.union([Org, Cancelled]),
    ],
  },
});

export const CLAIM_ROUTES = [claimMailOrg, ...LINK_ROUTES];
