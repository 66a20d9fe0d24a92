/** A session of the mailbox as a program plays it: cookies, forms and their tokens. */
import assert from "node:assert/strict";
import { BROWSER } from "../../support/mail_links.ts";

export interface Visited {
  status: number;
  headers: Headers;
  text: string;
  /** Where it leads; null for nowhere. */
  location: string | null;
}

export class BrowserSession {
  /** What the browser sends; "" for nothing. */
  cookie = "";

  constructor(readonly url: string) {}

  async get(path: string, headers: Record<string, string> = {}): Promise<Visited> {
    return await this.#visit(path, { headers: { ...BROWSER, ...headers } });
  }

  /** A form as a page of the relay sends it. @param headers win over those of a browser */
  async post(
    path: string,
    fields: Record<string, string>,
    headers: Record<string, string> = {},
  ): Promise<Visited> {
    return await this.#visit(path, {
      method: "POST",
      headers: { ...BROWSER, Origin: this.url, ...headers },
      body: new URLSearchParams(fields),
    });
  }

  /** The same, with the token of the form on a page that goes to this path. */
  async press(
    on: string,
    path: string,
    fields: Record<string, string>,
  ): Promise<Visited> {
    return await this.post(path, { ...fields, form: await this.tokenOn(on, path) });
  }

  /** The token of the first form on a page that goes to a path. */
  async tokenOn(on: string, path: string): Promise<string> {
    const { text } = await this.get(on);
    const form = text.split("<form").find((one) => one.includes(`action="${path}"`));
    const token = /name="form"\s+value="([^"]+)"/.exec(form ?? "")?.[1];
    assert.ok(token !== undefined, `no form on ${on} goes to ${path}`);
    return token;
  }

  async #visit(path: string, init: RequestInit): Promise<Visited> {
    const headers = new Headers(init.headers);
    if (this.cookie !== "") headers.set("Cookie", this.cookie);
    const answer = await fetch(this.url + path, { ...init, headers, redirect: "manual" });
    const set = answer.headers.get("set-cookie");
    if (set !== null) this.cookie = /=;/.test(set) ? "" : set.split(";")[0]!;
    const text = await answer.text();
    const location = answer.headers.get("location");
    return { status: answer.status, headers: answer.headers, text, location };
  }
}

/** A session of an API key. */
export async function signedInBy(url: string, apiKey: string): Promise<BrowserSession> {
  const session = new BrowserSession(url);
  const { status, location } = await session.post("/mail/sign-in/key", { api_key: apiKey });
  assert.deepEqual([status, location], [303, "/mail"]);
  return session;
}

export async function isOpen(session: BrowserSession): Promise<boolean> {
  const { status, location, text } = await session.get("/mail/waiting");
  if (status === 303) assert.equal(location, "/mail");
  else assert.match(text, /Drafts/);
  return status === 200;
}
