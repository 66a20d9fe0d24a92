/** /inbox: what has come for an agent, for the person behind it. It is signed in to by the agent's token. */
import type { Context } from "hono";
import { RelayError } from "../../base/errors.ts";
import { NO_STORE } from "../../base/http/answers/answer.ts";
import { answerWhole } from "../../base/http/answers/large_answer.ts";
import { MAX_ID } from "../../base/bounds/max_id.ts";
import { readForm, requireForm } from "../../base/http/fields/form_body.ts";
import { integer, readQuery } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import { pageHeaders } from "../../base/pages/answer_page.ts";
import type { AgentCore } from "../../messaging/agents/agent_core.ts";
import type { InboxLooks } from "../../messaging/messages/inbox/inbox_looks.ts";
import { answerMailbox } from "../mailbox/mailbox_frame.ts";
import { requireOwnOrigin } from "../../base/pages/own_origin.ts";
import { SignInAttempts } from "../sessions/sign_in_attempts.ts";
import { inboxPage } from "./inbox_page.ts";
import { inboxCookie, InboxSessions, type OpenInbox } from "./inbox_sessions.ts";
import { inboxSignInPage } from "./sign_in_page.ts";

export interface InboxPageServices extends AgentCore {
  looks: InboxLooks;
}

const PATH = "/inbox";
const SIGN_IN = `${PATH}/sign-in`;
const SIGN_OUT = `${PATH}/sign-out`;
const FORM_BYTES = 8 * 1024;
const ROWS = 50;
const QUERY = { before: integer(1, MAX_ID, MAX_ID) };
const NO_INDEX = { "X-Robots-Tag": "noindex, nofollow" };
const KEPT_APART = { headers: NO_INDEX };
const WRONG_TOKEN_ADVICE =
  "use the owner_token that the registration gave, or make a new one with POST /v1/owner-token";

type Handler = (c: Context<HttpEnv>, inbox: OpenInbox) => Promise<Response>;

export function inboxPageRoutes(services: InboxPageServices): Route[] {
  const { looks, clients, deps: { config: { baseUrl } } } = services;
  const sessions = new InboxSessions(services);
  const attempts = new SignInAttempts(services.store.now, WRONG_TOKEN_ADVICE);

  function page(path: string, handle: Handler): Route {
    return {
      method: "GET",
      path,
      page: true,
      cors: "none",
      async handle(c) {
        const inbox = await sessions.find(c.req.raw.headers);
        if (inbox !== null) return await handle(c, inbox);
        if (c.get("path") !== PATH) return seeInbox();
        return answerMailbox(
          await inboxSignInPage({ action: SIGN_IN, baseUrl, isWrong: false }),
          KEPT_APART,
        );
      },
    };
  }

  function form(path: string, handle: (c: Context<HttpEnv>) => Promise<Response>): Route {
    const body = { limitBytes: FORM_BYTES, pool: "messages" } as const;
    return { method: "POST", path, page: true, cors: "none", body, handle };
  }

  async function signIn(c: Context<HttpEnv>): Promise<Response> {
    const origin = requireOwnOrigin(c.req.raw.headers, baseUrl);
    requireForm(c.req.raw, ["token"]);
    const { token = "" } = readForm(await readBody(c), ["token"]);
    try {
      return seeInbox({ "Set-Cookie": inboxCookie(await sessions.issue(token.trim()), origin) });
    } catch (refusal) {
      if (!(refusal instanceof RelayError && refusal.code === "unknown_token")) throw refusal;
      attempts.failed(clients.hashOf(c));
      const again = await inboxSignInPage({ action: SIGN_IN, baseUrl, isWrong: true });
      return answerMailbox(again, { status: 403, ...KEPT_APART });
    }
  }

  async function signOut(c: Context<HttpEnv>): Promise<Response> {
    const { headers } = c.req.raw;
    const origin = requireOwnOrigin(headers, baseUrl);
    requireForm(c.req.raw, ["form_token"]);
    const { form_token = "" } = readForm(await readBody(c), ["form_token"]);
    const inbox = await sessions.find(headers);
    if (inbox !== null) {
      if (!sessions.isFormToken(inbox, SIGN_OUT, form_token)) throw forgedForm();
      await sessions.end(inbox);
    }
    return seeInbox({ "Set-Cookie": inboxCookie(null, origin) });
  }

  async function show(c: Context<HttpEnv>, inbox: OpenInbox, id?: number): Promise<Response> {
    const { before } = readQuery(c.get("query"), QUERY);
    if (c.get("head")) return answerMailbox("", KEPT_APART);
    const { agent } = inbox;
    const look = await looks.look(agent.id, { beforeId: before, limit: ROWS, chosenId: id });
    c.set("reservation", look.reservation);
    const signOut = { action: SIGN_OUT, formToken: sessions.formToken(inbox, SIGN_OUT) };
    return answerMailbox(
      await inboxPage({
        ...{ agent, look, signOut, nowMs: services.store.now() },
        isChosen: id !== undefined,
        before: before === MAX_ID ? undefined : before,
      }),
      KEPT_APART,
    );
  }

  async function give(c: Context<HttpEnv>, { agent }: OpenInbox): Promise<Response> {
    const id = idIn(c);
    const headers = {
      ...NO_STORE,
      ...NO_INDEX,
      "Content-Type": "application/json",
      "Content-Disposition": `attachment; filename="message_${id}.json"`,
      "X-Content-Type-Options": "nosniff",
    };
    if (c.get("head")) return new Response(null, { headers });
    const { json, reservation } = await looks.file(agent.id, id);
    c.set("reservation", reservation);
    return answerWhole(json, { headers });
  }

  return [
    page(PATH, (c, inbox) => show(c, inbox)),
    page(`${PATH}/{id}`, (c, inbox) => show(c, inbox, idIn(c))),
    page(`${PATH}/{id}/message.json`, give),
    form(SIGN_IN, signIn),
    form(SIGN_OUT, signOut),
  ];
}

/** @throws RelayError `not_found` */
function idIn(c: Context<HttpEnv>): number {
  const text = c.get("path").split("/")[2]!;
  const id = Number(text);
  if (/^[1-9][0-9]{0,15}$/.test(text) && id <= MAX_ID) return id;
  throw new RelayError(
    "not_found",
    "a message id is an integer from 1 to 2^53-1; /inbox lists what is here",
  );
}

/** Where a form leads when it was done: reloading that page sends nothing again. */
function seeInbox(headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, {
    status: 303,
    headers: { ...pageHeaders("same-origin"), ...NO_INDEX, ...headers, Location: PATH },
  });
}

function forgedForm(): RelayError {
  return new RelayError(
    "forbidden",
    "this form is not of your session: load /inbox again, and send the one that stands there",
  );
}
