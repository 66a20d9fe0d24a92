/** Calls of Google sign-in that tests make. */
import assert from "node:assert/strict";
import { askMail, type MailAnswer } from "../../support/mail_relay.ts";

/** The answer of POST /v1/mail/org/google. */
export interface SignedInBody {
  org_id: string;
  api_key: string;
  trial: boolean;
  verified_email: string | null;
  google_email: string | null;
}

export function signIn({ url }: { url: string }, idToken: string): Promise<MailAnswer> {
  return askMail(url, "POST", "/v1/mail/org/google", { body: { id_token: idToken } });
}

export async function signedIn(relay: { url: string }, idToken: string): Promise<SignedInBody> {
  const { status, body } = await signIn(relay, idToken);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

export function attach(
  { url }: { url: string },
  key: string,
  idToken: string,
): Promise<MailAnswer> {
  return askMail(url, "POST", "/v1/mail/org/attach", { key, body: { id_token: idToken } });
}

export function unlink({ url }: { url: string }, key: string): Promise<MailAnswer> {
  return askMail(url, "DELETE", "/v1/mail/org/google", { key });
}
