/** Calls of the mail area by one key, with the refusals that tests expect. */
import assert from "node:assert/strict";
import { ERROR_STATUS, type ErrorCode } from "../../server/base/errors.ts";
import { askMail, type MailAnswer, registerOrg, type TestOrg } from "./mail_relay.ts";
import type { TestRelay } from "./relay.ts";

type AskOptions = NonNullable<Parameters<typeof askMail>[3]>;

/** Asserts the refusal: code, its status and a message. */
export function assertMailRefused(answer: MailAnswer, code: ErrorCode, message?: RegExp): void {
  const told = `${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`;
  assert.equal(answer.body?.error?.code, code, told);
  assert.equal(answer.status, ERROR_STATUS[code], told);
  if (message !== undefined) assert.match(answer.body.error.message, message);
}

/** Asserts an accepted request and returns its body. */
// deno-lint-ignore no-explicit-any -- tests assert the fields one by one
export function accepted(answer: MailAnswer, status: number): any {
  assert.equal(answer.status, status, JSON.stringify(answer.body).slice(0, 300));
  return answer.body;
}

export class MailKeyHolder {
  constructor(readonly url: string, readonly key: string, readonly orgId: string) {}

  /** The same key at another relay. */
  at({ url }: { url: string }): MailKeyHolder {
    return new MailKeyHolder(url, this.key, this.orgId);
  }

  /** Another key of the same org. */
  with(key: string): MailKeyHolder {
    return new MailKeyHolder(this.url, key, this.orgId);
  }

  ask(method: string, path: string, options: Omit<AskOptions, "key"> = {}): Promise<MailAnswer> {
    return askMail(this.url, method, path, { ...options, key: this.key });
  }

  createInbox(body: unknown = {}): Promise<MailAnswer> {
    return this.ask("POST", "/v1/mail/inboxes", { body });
  }

  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  async inbox(body: unknown = {}): Promise<any> {
    return accepted(await this.createInbox(body), 201);
  }

  createKey(body: unknown): Promise<MailAnswer> {
    return this.ask("POST", "/v1/mail/api-keys", { body });
  }

  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  async newKey(body: unknown): Promise<any> {
    return accepted(await this.createKey(body), 201);
  }

  readOrg(): Promise<MailAnswer> {
    return this.ask("GET", "/v1/mail/org");
  }

  deleteOrg(): Promise<MailAnswer> {
    return this.ask("DELETE", "/v1/mail/org", { body: { org_id: this.orgId } });
  }
}

/** A new trial org, by the holder of its first key. */
export async function newOrg(relay: TestRelay): Promise<MailKeyHolder> {
  const { orgId, apiKey }: TestOrg = await registerOrg(relay);
  return new MailKeyHolder(relay.url, apiKey, orgId);
}
