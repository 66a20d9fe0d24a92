/** The ways into the mailbox: a link in a mail, Google, an API key; switching orgs; and out again. */
import { html } from "hono/html";
import { createHash, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { RelayError } from "../../base/errors.ts";
import { refusalHeaders } from "../../base/http/answers/answer.ts";
import { switchOrg } from "../../mail/sign_in/switch_org.ts";
import { mailCookie } from "../../mail/sessions/mail_sessions.ts";
import { answerMailbox, column, mailboxFrame } from "../mailbox/mailbox_frame.ts";
import { refusalNote } from "./console_page.ts";
import {
  findSession,
  form,
  isSecureVisit,
  openForm,
  openPage,
  seeOther,
  type SignedInVisit,
  type Visit,
} from "./console_route.ts";

interface SignedIn {
  api_key: string;
  verified_email: string | null;
}

const FRAME = { title: "Your mail", homeHref: "/", nav: [], search: null };

/** The page that everybody gets who has no session. */
export async function answerSignIn(
  { mail }: Visit,
  { refusal, email = "" }: { refusal?: RelayError; email?: string } = {},
): Promise<Response> {
  const google = mail.googleClientId === null
    ? ""
    : html`<p><a class="button" href="/mail/sign-in/google">Go on with Google</a></p>`;
  const body = column(
    "Your agents' mail",
    // deno-fmt-ignore
    html`${refusalNote(refusal)}<p>Sign in to read and answer it.</p>
<form method="post" action="/mail/sign-in/email" class="card"><div class="field"><label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254" value="${email}"><span class="hint">You get a link that signs you in. No password.</span></div>
<button class="primary">Send the link</button></form>
${google}
<details${refusal !== undefined && email === "" ? html` open` : ""}><summary>Or with an API key</summary><form method="post" action="/mail/sign-in/key" class="card"><div class="field"><label for="api_key">API key</label>
<input id="api_key" name="api_key" type="password" autocomplete="off" required maxlength="100" spellcheck="false"><span class="hint">It begins with rm_sk_. The session may do what the key may.</span></div>
<button>Sign in with it</button></form></details>`,
    { isNarrow: true },
  );
  return answerMailbox(
    await mailboxFrame(FRAME, body),
    refusal === undefined ? {} : { status: refusal.status, headers: refusalHeaders(refusal) },
  );
}

const askForLink = openForm(
  {
    path: "/mail/sign-in/email",
    id: "askForMailboxLink",
    summary: "Ask for a link into the mailbox",
    says: "Mails a sign-in link, as POST /v1/mail/org/magic does.",
  },
  ["email"],
  async (visit, { email = "" }) => {
    try {
      await visit.api.send("POST", ["org", "magic"], { email: email.trim() });
    } catch (error) {
      if (error instanceof RelayError) return await answerSignIn(visit, { refusal: error, email });
      throw error;
    }
    const body = column(
      "Look at your mail",
      html`<p>A link is on its way to <b>${email.trim()}</b>. It works once, for an hour. Open it in this browser.</p>
<p class="soft">Nothing came? Look among spam, or <a href="/mail">ask again</a>.</p>`,
      { isNarrow: true },
    );
    return answerMailbox(await mailboxFrame(FRAME, body));
  },
);

const followLink = openForm(
  {
    path: "/mail/sign-in/link",
    id: "openMailboxByLink",
    summary: "Open the mailbox by a link",
    says: "The button behind a sign-in link: begins a session, and shows no API key.",
  },
  ["token", "org_id"],
  async (visit, { token, org_id }) => {
    try {
      const asked = { token, ...(org_id === undefined ? {} : { org_id }) };
      const signedIn = await visit.api.send<SignedIn>("POST", ["org", "magic", "confirm"], asked);
      return await begin(visit, signedIn!.api_key, "magic", signedIn!.verified_email);
    } catch (error) {
      if (error instanceof RelayError) return await answerSignIn(visit, { refusal: error });
      throw error;
    }
  },
);

const useKey = openForm(
  {
    path: "/mail/sign-in/key",
    id: "openMailboxByKey",
    summary: "Open the mailbox with an API key",
    says: "Begins a session that may do what the key may, and dies with it.",
  },
  ["api_key"],
  async (visit, { api_key = "" }) => {
    try {
      return await begin(visit, api_key.trim(), "key");
    } catch (error) {
      if (error instanceof RelayError) return await answerSignIn(visit, { refusal: error });
      throw error;
    }
  },
);

/** A fresh session always, and an end of the one that the browser had: what somebody planted opens nothing. */
async function begin(
  visit: Visit,
  apiKey: string,
  way: "magic" | "google" | "key",
  email: string | null = null,
): Promise<Response> {
  const { sessions, freeDisk } = visit.mail;
  await freeDisk.refuseWhenFull();
  const value = await sessions.begin(apiKey, way, email);
  const former = await findSession(visit);
  if (former !== null) await sessions.end(former.value);
  return seeOther("/mail", { "Set-Cookie": mailCookie(value, isSecureVisit(visit)) });
}

const signOut = form(
  {
    path: "/mail/sign-out",
    id: "signOutOfMailbox",
    summary: "Sign out of the mailbox",
    says: "Ends the session, or with `everywhere` all of its org.",
  },
  ["everywhere"],
  async (visit, { everywhere }) => {
    const { mail: { sessions }, session } = visit;
    const others = everywhere === "yes" ? await sessions.endOthers(session) : [];
    for (const keyId of others) await deleteSignInKey(visit, keyId);
    await endSession(visit);
    return seeOther("/mail", { "Set-Cookie": mailCookie("", isSecureVisit(visit)) });
  },
);

/** Ends a session, and the key that a sign-in made for it and showed nobody, unless the org would have none. */
async function endSession(visit: SignedInVisit): Promise<void> {
  const { mail: { sessions }, session: { row, value } } = visit;
  if (row.way !== "key") await deleteSignInKey(visit, row.keyId);
  await sessions.end(value);
}

async function deleteSignInKey({ api }: SignedInVisit, keyId: string): Promise<void> {
  try {
    await api.send("DELETE", ["api-keys", keyId]);
  } catch (error) {
    if (!(error instanceof RelayError)) throw error;
  }
}

const changeOrg = form(
  {
    path: "/mail/switch",
    id: "switchMailboxOrg",
    summary: "Switch to another org of the address",
    says: "Begins a session of another org that was signed in to by the address of this one.",
  },
  ["org_id"],
  async (visit, { org_id = "" }) => {
    const { mail, session: { row } } = visit;
    if (row.email === null) {
      throw new RelayError(
        "forbidden",
        "only a session that began by a link in a mail switches orgs: sign in by one",
      );
    }
    const apiKey = await switchOrg(mail, row.email, org_id);
    const value = await mail.sessions.begin(apiKey, "magic", row.email);
    await endSession(visit);
    return seeOther("/mail", { "Set-Cookie": mailCookie(value, isSecureVisit(visit)) });
  },
);

/** What ties Google's answer to the browser that asked; sent with a form of another site, so it is no session. */
const NONCE = "__Host-relay_google";
const NONCE_SECONDS = 600;

const askGoogle = openPage(
  {
    path: "/mail/sign-in/google",
    id: "askGoogleForMailbox",
    summary: "Go on with Google",
    says: "Leads to Google, which answers to the form beside.",
  },
  ({ mail: { googleClientId, baseUrl, store } }) => {
    if (googleClientId === null) throw googleIsOff();
    const nonce = Buffer.from(store.random(32)).toString("base64url");
    const asked = new URLSearchParams({
      client_id: googleClientId,
      response_type: "id_token",
      response_mode: "form_post",
      scope: "openid email",
      prompt: "select_account",
      redirect_uri: `${baseUrl}/mail/sign-in/google`,
      nonce: hashOf(nonce),
    });
    return Promise.resolve(seeOther(`https://accounts.google.com/o/oauth2/v2/auth?${asked}`, {
      "Set-Cookie":
        `${NONCE}=${nonce}; Path=/; Max-Age=${NONCE_SECONDS}; HttpOnly; Secure; SameSite=None`,
    }));
  },
);

const googleAnswer = openForm(
  {
    path: "/mail/sign-in/google",
    id: "openMailboxByGoogle",
    summary: "Open the mailbox by Google's answer",
    says: "Google's form with an ID token for the browser that asked: begins a session.",
    isFromElsewhere: true,
  },
  ["id_token"],
  async (visit, { id_token = "" }) => {
    if (visit.mail.googleClientId === null) throw googleIsOff();
    const cookies = (visit.c.req.raw.headers.get("cookie") ?? "").split(/;\s*/);
    const nonces = cookies.filter((pair) => pair.startsWith(`${NONCE}=`)).slice(0, 2)
      .map((pair) => pair.slice(NONCE.length + 1));
    try {
      // Before the token's signature is looked at, which covers it too: nothing is made for another browser's.
      if (!nonces.some((nonce) => isSame(hashOf(nonce), nonceOf(id_token)))) {
        throw new RelayError(
          "forbidden",
          "this answer of Google's is for another browser, or too old: sign in again",
        );
      }
      const signedIn = await visit.api.send<SignedIn>("POST", ["org", "google"], { id_token });
      return await begin(visit, signedIn!.api_key, "google");
    } catch (error) {
      if (error instanceof RelayError) return await answerSignIn(visit, { refusal: error });
      throw error;
    }
  },
);

function googleIsOff(): RelayError {
  return new RelayError(
    "google_signin_disabled",
    "sign-in with Google is off on this relay; sign in by e-mail or with an API key",
  );
}

/** What a token says its nonce is; "" for none, or for what is no token. */
function nonceOf(token: string): string {
  try {
    const payload = Buffer.from(token.slice(0, 16_384).split(".")[1]!, "base64url").toString();
    const { nonce } = JSON.parse(payload);
    return typeof nonce === "string" ? nonce : "";
  } catch {
    return "";
  }
}

function hashOf(nonce: string): string {
  return createHash("sha256").update(nonce).digest("base64url");
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const SIGN_IN_ROUTES = [
  askForLink,
  followLink,
  useKey,
  askGoogle,
  googleAnswer,
  signOut,
  changeOrg,
];
