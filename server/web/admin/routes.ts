/** /admin: the relay as its operator sees it, and bans, by forms. Without RELAY_ADMIN_TOKEN it is closed. */
import type { Context } from "hono";
import type { Clock } from "../../base/time/clock.ts";
import type { Log } from "../../base/log.ts";
import { RelayError } from "../../base/errors.ts";
import type { Identity } from "../../messaging/agents/agent_records.ts";
import type { ClientAddresses } from "../../base/http/callers/client_address.ts";
import { isAdminToken } from "../../base/http/callers/require_admin.ts";
import { readForm, requireForm } from "../../base/http/fields/form_body.ts";
import { choice, integer, readQuery, text } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";
import { answerPage, pageHeaders } from "../../base/pages/answer_page.ts";
import type { MailOperator } from "../../mail/operator/mail_operator.ts";
import type { OperatorActions } from "../../messaging/operator/operator_actions.ts";
import { MAX_REASON } from "../../messaging/operator/admin_request.ts";
import { SignInAttempts } from "../sessions/sign_in_attempts.ts";
import { bansPage, confirmBanPage, confirmPurgePage, DONE } from "./ban_pages.ts";
import { confirmSuspensionPage, ORG_DONE, orgPage, orgsPage } from "./org_pages.ts";
import { isPlainLoopback, requireOwnOrigin } from "../../base/pages/own_origin.ts";
import { overviewPage } from "./overview_page.ts";
import type { RelayStatus } from "./relay_status.ts";
import { sentSessions, sessionCookie, Sessions } from "./sessions.ts";
import { signInPage } from "./sign_in_page.ts";

export interface AdminPageServices {
  /** RELAY_ADMIN_TOKEN; unset, every page is a 404 that names the setting. */
  adminToken: string | undefined;
  baseUrl: string;
  clients: ClientAddresses;
  addressKey: Uint8Array;
  actions: OperatorActions;
  status: RelayStatus;
  /** Null where mail is off, and while the relay opens. */
  mail: () => MailOperator | null;
  now: Clock;
  random: (sizeBytes: number) => Uint8Array;
  log: Log;
}

type PageHandler = (c: Context<HttpEnv>, signedIn: boolean) => Promise<Response>;

/** No cache may keep it, no search engine list it. */
const NO_INDEX = { "X-Robots-Tag": "noindex, nofollow" };
const FORM_BYTES = 8 * 1024;
const BANS_A_PAGE = 50;
const BANS_QUERY = {
  offset: integer(0, 10_000, 0),
  done: choice(Object.keys(DONE) as (keyof typeof DONE)[], undefined),
};
const ORGS_QUERY = {
  q: text(),
  older_than: text(),
  done: choice(Object.keys(ORG_DONE) as (keyof typeof ORG_DONE)[], undefined),
};
/** Refused attempts are logged this sparsely: they come in crowds. */
const LOG_EVERY_MS = 10_000;

export function adminPageRoutes(services: AdminPageServices): Route[] {
  const { adminToken, baseUrl, actions, status, now, log } = services;
  const { mail } = services;
  const attempts = new SignInAttempts(
    now,
    "use the value of RELAY_ADMIN_TOKEN, which is taken at any time",
  );
  const sessions = adminToken === undefined ? null : new Sessions({
    adminToken,
    storeKey: services.addressKey,
    random: services.random,
  });
  let refusedLoggedMs = -Infinity;

  function isSignedIn(c: Context<HttpEnv>): boolean {
    return sentSessions(c.req.raw.headers).some((sent) => sessions!.isOpen(sent, now()));
  }

  function route(method: "GET" | "POST", path: string, handle: PageHandler): Route {
    return {
      method,
      path,
      page: true,
      cors: "none",
      ...(method === "POST" ? { body: { limitBytes: FORM_BYTES, pool: "messages" } } : {}),
      async handle(c) {
        if (sessions === null) throw switchedOff();
        return await handle(c, isSignedIn(c));
      },
    };
  }

  /** A form that only a session may send, from the relay's own page. */
  function action<Name extends string>(
    path: string,
    names: readonly Name[],
    handle: (form: Partial<Record<Name, string>>, c: Context<HttpEnv>) => Promise<Response>,
  ): Route {
    return route("POST", path, async (c, signedIn) => {
      requireOwnOrigin(c.req.raw.headers, baseUrl);
      if (!signedIn) throw signedOut();
      if (names.length > 0) requireForm(c.req.raw, names);
      const body = await readBody(c);
      if (!isSignedIn(c)) throw signedOut(); // the session may have ended while the body came
      return await handle(readForm(body, names), c);
    });
  }

  async function signIn(c: Context<HttpEnv>): Promise<Response> {
    const origin = requireOwnOrigin(c.req.raw.headers, baseUrl);
    requireForm(c.req.raw, ["token"]);
    const { token = "" } = readForm(await readBody(c), ["token"]);
    // Looked at first: wrong tokens of others at the same address keep nobody out who has the right one.
    if (!isAdminToken(token.trim(), adminToken)) {
      if (now() - refusedLoggedMs >= LOG_EVERY_MS) {
        refusedLoggedMs = now();
        log("admin_sign_in_refused");
      }
      attempts.failed(services.clients.hashOf(c));
      return answerAdmin(await signInPage({ baseUrl, isWrong: true }), { status: 403 });
    }
    log("admin_signed_in");
    const cookie = sessionCookie(sessions!.issue(now()), !isPlainLoopback(origin));
    return seeOther("/admin", { "Set-Cookie": cookie });
  }

  async function findAgent(name: string): Promise<Identity> {
    const agent = await actions.identities.resolve(name.trim());
    if (agent !== null) return agent;
    throw new RelayError(
      "not_found",
      "no agent has this handle, word name or key; go back and check the spelling",
    );
  }

  function mailOperator(): MailOperator {
    const operator = mail();
    if (operator !== null) return operator;
    throw new RelayError("mail_disabled", "the mail area is off: start-up says why");
  }

  /** @throws RelayError `not_found` */
  const findOrg = (id: string) => mailOperator().org(id.trim());

  return [
    route("GET", "/admin", async (_, signedIn) =>
      answerAdmin(
        signedIn
          ? await overviewPage(status, mail())
          : await signInPage({ baseUrl, isWrong: false }),
      )),
    route("POST", "/admin/sign-in", (c) => signIn(c)),
    action("/admin/sign-out", [], (_, c) => {
      for (const sent of sentSessions(c.req.raw.headers)) sessions!.revoke(sent, now());
      const isSecure = !isPlainLoopback(requireOwnOrigin(c.req.raw.headers, baseUrl));
      return Promise.resolve(seeOther("/admin", { "Set-Cookie": sessionCookie(null, isSecure) }));
    }),
    route("GET", "/admin/bans", async (c, signedIn) => {
      const { offset, done } = readQuery(c.get("query"), BANS_QUERY);
      if (!signedIn) return seeOther("/admin");
      const bans = await actions.bans.page(BANS_A_PAGE + 1, offset);
      return answerAdmin(await bansPage(bans, { offset, aPage: BANS_A_PAGE, done }));
    }),
    action("/admin/ban", ["agent", "reason", "confirmed"], async (form) => {
      const reason = cleanLine("reason", form.reason ?? "", MAX_REASON);
      const agent = await findAgent(form.agent ?? "");
      if (form.confirmed !== "yes") return answerAdmin(await confirmBanPage(agent, reason));
      await actions.ban(agent, reason || null);
      return seeOther("/admin/bans?done=banned");
    }),
    action("/admin/unban", ["agent"], async ({ agent = "" }) => {
      await actions.unban(await findAgent(agent));
      return seeOther("/admin/bans?done=unbanned");
    }),
    action("/admin/purge", ["agent", "confirmed"], async (form) => {
      const agent = await findAgent(form.agent ?? "");
      if (form.confirmed !== "yes") return answerAdmin(await confirmPurgePage(agent));
      await actions.purge(agent);
      return seeOther("/admin/bans?done=purging");
    }),
    route("GET", "/admin/orgs", async (c, signedIn) => {
      const { q = "", older_than: olderThan, done } = readQuery(c.get("query"), ORGS_QUERY);
      if (!signedIn) return seeOther("/admin");
      const page = await mailOperator().orgs({ q, olderThan });
      return answerAdmin(await orgsPage(page, { q, done }));
    }),
    route("GET", "/admin/orgs/{id}", async (c, signedIn) => {
      const { done } = readQuery(c.get("query"), ORGS_QUERY);
      if (!signedIn) return seeOther("/admin");
      const org = await findOrg(c.get("path").split("/")[3]!);
      return answerAdmin(await orgPage(org, done));
    }),
    action("/admin/orgs/suspend", ["org", "reason", "confirmed"], async (form) => {
      const reason = cleanLine("reason", form.reason ?? "", MAX_REASON);
      const org = await findOrg(form.org ?? "");
      if (form.confirmed !== "yes") return answerAdmin(await confirmSuspensionPage(org, reason));
      await mailOperator().setSuspended(org.id, true, reason || null);
      return seeOther(`/admin/orgs/${org.id}?done=suspended`);
    }),
    action("/admin/orgs/unsuspend", ["org"], async (form) => {
      const org = await findOrg(form.org ?? "");
      await mailOperator().setSuspended(org.id, false);
      return seeOther(`/admin/orgs/${org.id}?done=unsuspended`);
    }),
  ];
}

/** @param page as frame() makes it */
function answerAdmin(page: string, { status = 200 } = {}): Response {
  return answerPage(page, { status, referrerPolicy: "same-origin", headers: NO_INDEX });
}

/** Where a form leads when it was done: reloading that page sends nothing again. */
function seeOther(path: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...pageHeaders("same-origin"), ...NO_INDEX, ...headers, Location: path },
  });
}

function switchedOff(): RelayError {
  return new RelayError(
    "not_found",
    "the operator's pages are off: RELAY_ADMIN_TOKEN is unset; set it to a secret of at least 32 characters, and start the relay again",
  );
}

function signedOut(): RelayError {
  return new RelayError(
    "unknown_token",
    "the session has ended: sign in at /admin, then try again",
  );
}
