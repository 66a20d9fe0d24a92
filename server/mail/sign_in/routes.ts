/** Routes of the ways in by mail: /v1/mail/org/magic, /v1/mail/org/claim and their links. */
import type { Context } from "hono";
import type { JsonObject } from "../../../toolkit/json_value.ts";
import type { Config } from "../../config.ts";
import { invalidJson, RelayError } from "../../errors.ts";
import { answerError, answerJson, NO_STORE } from "../../http/answer.ts";
import { clientAddress } from "../../http/client_address.ts";
import { readObject } from "../../http/json_body.ts";
import { namesHtml } from "../../http/names_html.ts";
import { readBody } from "../../http/read_body.ts";
import type { HttpEnv } from "../../http/route.ts";
import type { FreeDisk } from "../../storage/free_disk.ts";
import { timestamp } from "../../timestamp.ts";
import { cleanEmail, refuseOwnDomain } from "../email_address.ts";
import type { MailHandlers, MailRequest } from "../mail_routes.ts";
import { shownOrg } from "../orgs/shown_org.ts";
import { isLive } from "../records/key_record.ts";
import { isAlive, linkExpired, linkKey, type LinkRecord } from "../records/link_record.ts";
import { isMailId } from "../records/mail_id.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { isForm, readForm, tokenOf } from "../form_body.ts";
import type { MailSecret } from "../secret/mail_secret.ts";
import { cancelClaim, confirmClaim, readClaim, sendClaimLink } from "./claim_link.ts";
import { deleteOtherKeys } from "./delete_other_keys.ts";
import { isBrowser } from "./is_browser.ts";
import {
  answerCancelled,
  answerConfirmed,
  answerExpired,
  answerKeysDeleted,
  answerRestored,
  answerSignedIn,
  askToFollow,
} from "./link_pages.ts";
import { type LinkKind, openLinkToken } from "./link_token.ts";
import { followMagicLink, sendMagicLink } from "./magic_link.ts";
import { followRestoreLink, readRestore } from "./restore_link.ts";
import type { SignInServices } from "./sign_in_services.ts";

export interface SignInRouteServices extends SignInServices {
  secret: Pick<MailSecret, "key">;
  freeDisk: FreeDisk;
  config: Pick<Config, "trustedProxyHops">;
  /** Of the relay's own inboxes. */
  domain: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Of every answer that a link gets. */
const LINK_HEADERS = { ...NO_STORE, "Referrer-Policy": "no-referrer" };
const MAGIC: readonly LinkKind[] = ["magic"];
const CLAIM: readonly LinkKind[] = ["claim", "restore"];

export function signInHandlers(services: SignInRouteServices) {
  const { store, records, limits, secret, freeDisk, config, domain } = services;

  function askedFrom(c: Context<HttpEnv>): string {
    const forwardedFor = c.req.raw.headers.get("x-forwarded-for");
    return clientAddress(forwardedFor, c.env?.remoteAddress, config.trustedProxyHops);
  }

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
  async function read(kind: LinkKind, id: string): Promise<LinkRecord> {
    if (kind === "claim") return await readClaim(services, id);
    if (kind === "restore") return await readRestore(services, id);
    const link = await records.read<LinkRecord>(linkKey(id));
    if (!isAlive(link, store.now())) throw linkExpired();
    return link;
  }

  function shown(org: OrgRecord): Response {
    return answerJson(shownOrg(org, limits, store.now()), 200, LINK_HEADERS);
  }

  /** Does what a button or a program asks of a link. */
  async function follow(fields: Fields, kinds: readonly LinkKind[], asPage: boolean) {
    const action = fields["action"] ?? null;
    if (kinds === MAGIC && action === "delete_other_keys") {
      const deleted = await deleteOtherKeys(services, String(fields["api_key"] ?? ""));
      return asPage ? answerKeysDeleted(deleted) : answerJson({ deleted }, 200, LINK_HEADERS);
    }
    if (action !== null && !(kinds === CLAIM && action === "cancel")) {
      throw invalidJson(
        kinds === MAGIC
          ? "action must be delete_other_keys, with api_key, or absent"
          : "action must be cancel, or absent",
      );
    }
    const { kind, id } = await open(fields["token"], action === "cancel" ? ["claim"] : kinds);
    if (kind === "magic") return await signIn(id, asPage);
    await freeDisk.refuseWhenFull();
    if (action === "cancel") {
      await cancelClaim(services, id);
      return asPage ? answerCancelled() : answerJson({ cancelled: true }, 200, LINK_HEADERS);
    }
    if (kind === "claim") {
      const org = await confirmClaim(services, id);
      return asPage ? answerConfirmed(org) : shown(org);
    }
    const org = await followRestoreLink(services, id);
    return asPage ? answerRestored(org) : shown(org);
  }

  async function signIn(id: string, asPage: boolean): Promise<Response> {
    await freeDisk.refuseWhenFull();
    const signedIn = await followMagicLink(services, id);
    if (asPage) {
      const live = signedIn.otherKeys.filter((key) => isLive(key, store.now()));
      return await answerSignedIn(signedIn, live.length);
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

  /** GET: browsers are asked first, and so are scanners that act as one; HEAD spends nothing. */
  async function get({ c }: MailRequest, kinds: readonly LinkKind[]): Promise<Response> {
    const asPage = isBrowser(c.req.raw);
    return await linkAnswer(asPage, async () => {
      const token = tokenOf(c.get("query"));
      const { kind, id } = await open(token, kinds);
      if (!asPage && !c.get("head")) return await follow({ token }, kinds, asPage);
      const link = await read(kind, id);
      return asPage ? await askToFollow(link, token!) : answerJson({}, 200, LINK_HEADERS);
    });
  }

  /** POST: the button of the page, as a form, or a program, as JSON. */
  async function post({ c }: MailRequest, kinds: readonly LinkKind[]): Promise<Response> {
    const bytes = await readBody(c);
    const asPage = namesHtml(c.req.raw);
    return await linkAnswer(asPage, async () =>
      await follow(
        isForm(c.req.raw) ? readForm(bytes) : readObject(bytes),
        kinds,
        asPage,
      ));
  }

  return {
    async sendMagicLink({ c, body }) {
      const request = await body();
      const email = readEmail(request);
      const named = request["org_id"] ?? null;
      if (named !== null && typeof named !== "string") {
        throw invalidJson("org_id must be the id of an org that carries the address, or absent");
      }
      // What no org can be called is not stored: strangers choose it, and its length.
      const orgId = named !== null && isMailId("org", named) ? named : null;
      await freeDisk.refuseWhenFull();
      await sendMagicLink(services, { email, orgId, askedFrom: askedFrom(c) });
      return answerJson({ sent: true }, 202);
    },
    followMagicLink: (request) => get(request, MAGIC),
    confirmMagicLink: (request) => post(request, MAGIC),
    async claimMailOrg(request) {
      const email = readEmail(await request.body());
      await freeDisk.refuseWhenFull();
      const asked = { email, askedFrom: askedFrom(request.c) };
      const { expiresAtMs } = await sendClaimLink(services, request, asked);
      return answerJson({ email, expires_at: timestamp(expiresAtMs) }, 202, NO_STORE);
    },
    followClaimLink: (request) => get(request, CLAIM),
    confirmClaimLink: (request) => post(request, CLAIM),
  } satisfies MailHandlers;
}

/** The answer of a link, or that it does nothing: neither may be kept, and nothing behind it learns its address. */
async function linkAnswer(asPage: boolean, answer: () => Promise<Response>): Promise<Response> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof RelayError) || error.code !== "link_expired") throw error;
    if (asPage) return await answerExpired();
    const refusal = answerError(error);
    for (const [name, value] of Object.entries(LINK_HEADERS)) refusal.headers.set(name, value);
    return refusal;
  }
}
