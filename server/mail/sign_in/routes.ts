/** Routes of the ways in by mail: /v1/mail/org/magic, /v1/mail/org/claim and their links. */
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Config } from "../../base/config/config.ts";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { answerError, answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { callerAddress } from "../../base/http/callers/client_address.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { namesType } from "../../base/http/answers/names_type.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { FreeDisk } from "../../base/storage/free_disk.ts";
import { timestamp } from "../../base/time/timestamp.ts";
import { cleanEmail, refuseOwnDomain } from "../records/email_address.ts";
import { unlinkIdentity } from "./google/identities.ts";
import type { MailRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import { shownOrg } from "../mailbox/shown/shown_org.ts";
import { isLive } from "../records/key_record.ts";
import { linkExpired } from "../records/link_record.ts";
import { isMailId } from "../records/mail_id.ts";
import { isForm, readForm } from "../../base/http/fields/form_body.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import { askToChange, askToSignIn } from "./ask_pages.ts";
import {
  answerCancelled,
  answerConfirmed,
  answerExpired,
  answerKeysDeleted,
  answerRestored,
  answerSignedIn,
  answerSuspended,
  answerUnlinked,
} from "./link_pages.ts";
import { type LinkKind, openLinkToken, tokenOf } from "../access/link_token.ts";
import { followMagicLink, readMagicLink, sendMagicLink } from "./magic_link.ts";
import { cancelClaim, followOwnerLink, readOwnerLink, sendClaimLink } from "./owner_link.ts";
import { deleteOtherKeys, signInCaller } from "./shut_out.ts";
import { NEW_ORG } from "./sign_in_choice.ts";
import type { SignInServices } from "./owners/sign_in_services.ts";

export interface SignInRouteServices extends SignInServices {
  secret: Pick<MailSecret, "key">;
  freeDisk: FreeDisk;
  config: Pick<Config, "trustedProxyHops">;
  /** Of the relay's own inboxes. */
  domain: string;
}

/** A link that works, before it is followed. */
interface Waiting {
  /** The page with the button that follows it. */
  ask(): Promise<Response>;
  /**
   * Whether a GET has to ask for it by name: it makes somebody else the owner of an org, or opens one that
   * nobody who reads the address has opened yet. Whoever asked for the link may have chosen that org.
   */
  isAskedByName: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Of every answer that a link gets. */
const LINK_HEADERS = { ...NO_STORE, "Referrer-Policy": "no-referrer" };
/** Refusals that people read as pages. */
const REFUSALS = { link_expired: answerExpired, org_suspended: answerSuspended };
const FORM_FIELDS = ["token", "action", "org_id", "api_key"] as const;
const MAGIC: readonly LinkKind[] = ["magic"];
const CLAIM: readonly LinkKind[] = ["claim", "restore"];

export function signInHandlers(services: SignInRouteServices) {
  const { store, limits, secret, freeDisk, config, domain } = services;

  const askedFrom = ({ c }: MailRequest) => callerAddress(c, config.trustedProxyHops);

  function readEmail(request: JsonObject): string {
    const email = cleanEmail("email", request["email"]);
    refuseOwnDomain("email", email, domain);
    return email;
  }

  /** @throws RelayError `link_expired` for a token that was never made for one of these kinds */
  async function open(token: unknown, kinds: readonly LinkKind[]) {
    const opened = typeof token === "string"
      ? openLinkToken(await secret.key("mail-link"), token, kinds)
      : null;
    if (opened === null) throw linkExpired();
    return opened;
  }

  /** What a link would do; nothing is spent. @throws RelayError `link_expired` */
  async function read(kind: LinkKind, id: string, token: string): Promise<Waiting> {
    if (kind === "magic") {
      const waiting = await readMagicLink(services, id);
      const { org, undone, claimed } = waiting.choice;
      return {
        ask: () => askToSignIn(waiting, token),
        isAskedByName: org !== null && (undone !== null || claimed.includes(org)),
      };
    }
    const waiting = await readOwnerLink(services, id);
    return { ask: () => askToChange(waiting, token), isAskedByName: true };
  }

  /** Does what a button or a program asks of a link. */
  async function follow(fields: Fields, kinds: readonly LinkKind[], asPage: boolean) {
    const action = fields["action"] ?? null;
    if (kinds === MAGIC && action !== null) return await shutOut(fields, action, asPage);
    if (action !== null && action !== "cancel") {
      throw invalidJson("action must be cancel, or absent");
    }
    const { kind, id } = await open(fields["token"], action === "cancel" ? ["claim"] : kinds);
    await freeDisk.refuseWhenFull();
    if (kind === "magic") return await signIn(id, fields["org_id"] ?? null, asPage);
    if (action === "cancel") {
      await cancelClaim(services, id);
      return asPage ? answerCancelled() : answerJson({ cancelled: true }, 200, LINK_HEADERS);
    }
    const { org, isUndo } = await followOwnerLink(services, id);
    if (!asPage) return answerJson(shownOrg(org, limits, store.now()), 200, LINK_HEADERS);
    return isUndo ? answerRestored(org) : answerConfirmed(org);
  }

  /** The buttons of a sign-in's page against anybody else who gets in. */
  async function shutOut(fields: Fields, action: unknown, asPage: boolean): Promise<Response> {
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

  async function signIn(id: string, chosen: unknown, asPage: boolean): Promise<Response> {
    if (chosen !== null && typeof chosen !== "string") {
      throw invalidJson(
        `org_id must be the id of an org that carries the address, "${NEW_ORG}", or absent`,
      );
    }
    const signedIn = await followMagicLink(services, id, chosen);
    if (asPage) {
      const live = signedIn.otherKeys.filter((key) => isLive(key, store.now()));
      return await answerSignedIn(signedIn, live.length, store.now());
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

  /**
   * GET: browsers are asked first, and so are scanners that act as one; where more than a sign-in to one's
   * own org would come of it, everybody is who does not ask for JSON by name. HEAD spends nothing.
   */
  async function get({ c }: MailRequest, kinds: readonly LinkKind[]): Promise<Response> {
    const { raw } = c.req;
    const isPerson = isBrowser(raw);
    return await linkAnswer(isPerson, async () => {
      const token = tokenOf(c.get("query"));
      const { kind, id } = await open(token, kinds);
      const { ask, isAskedByName } = await read(kind, id, token!);
      if (isPerson || (isAskedByName && !namesType(raw, "application/json"))) return await ask();
      if (c.get("head")) return answerJson({}, 200, LINK_HEADERS);
      return await follow({ token }, kinds, false);
    });
  }

  /** POST: the button of the page, as a form, or a program, as JSON. */
  async function post({ c }: MailRequest, kinds: readonly LinkKind[]): Promise<Response> {
    const bytes = await readBody(c);
    const asPage = namesHtml(c.req.raw);
    return await linkAnswer(asPage, async () =>
      await follow(
        isForm(c.req.raw) ? readForm(bytes, FORM_FIELDS) : readObject(bytes),
        kinds,
        asPage,
      ));
  }

  return {
    async sendMagicLink(request) {
      const asked = await request.body();
      const email = readEmail(asked);
      const named = asked["org_id"] ?? null;
      if (named !== null && typeof named !== "string") {
        throw invalidJson("org_id must be the id of an org that carries the address, or absent");
      }
      // What no org can be called is not stored: strangers choose it, and its length.
      const orgId = named !== null && isMailId("org", named) ? named : null;
      await freeDisk.refuseWhenFull();
      await sendMagicLink(services, { email, orgId, askedFrom: askedFrom(request) });
      return answerJson({ sent: true }, 202);
    },
    followMagicLink: (request) => get(request, MAGIC),
    confirmMagicLink: (request) => post(request, MAGIC),
    async claimMailOrg(request) {
      const email = readEmail(await request.body());
      await freeDisk.refuseWhenFull();
      const asked = { email, askedFrom: askedFrom(request) };
      const { expiresAtMs } = await sendClaimLink(services, request, asked);
      return answerJson({ email, expires_at: timestamp(expiresAtMs) }, 202, NO_STORE);
    },
    followClaimLink: (request) => get(request, CLAIM),
    confirmClaimLink: (request) => post(request, CLAIM),
  } satisfies MailHandlers;
}

/**
 * Whether a browser asks, or a scanner of mail that acts as one: Accept names text/html, User-Agent
 * begins `Mozilla/`, or a Sec-Fetch header is there (docs/mail.md, "Signing in"). Pure.
 */
export function isBrowser(request: Request): boolean {
  const { headers } = request;
  return namesHtml(request) || (headers.get("user-agent") ?? "").startsWith("Mozilla/") ||
    [...headers.keys()].some((name) => name.startsWith("sec-fetch-"));
}

/** The answer of a link, or that it does nothing: neither may be kept, and nothing behind it learns its address. */
async function linkAnswer(asPage: boolean, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RelayError) || !Object.hasOwn(REFUSALS, error.code)) throw error;
    if (asPage) return await REFUSALS[error.code as keyof typeof REFUSALS]();
    const refusal = answerError(error);
    for (const [name, value] of Object.entries(LINK_HEADERS)) refusal.headers.set(name, value);
    return refusal;
  }
}
