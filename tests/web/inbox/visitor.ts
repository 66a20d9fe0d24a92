/** A browser at /inbox, or what pretends to be one. */
import assert from "node:assert/strict";
import type { Answer } from "../../support/answer.ts";
import type { TestRelay } from "../../support/relay.ts";
import { visit } from "../../messaging/operator/operator.ts";

/** @returns the cookie as a browser sends it back */
export async function openInbox(relay: TestRelay, token: string): Promise<string> {
  const answer = await visit(relay, "/inbox/sign-in", { form: { token } });
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/inbox"], answer.text);
  return answer.headers.get("set-cookie")!.split(";")[0]!;
}

export const isOpen = async (relay: TestRelay, cookie?: string) =>
  (await visit(relay, "/inbox", { cookie })).text.includes('action="/inbox/sign-out"');

export function formTokenIn({ text }: Answer): string {
  return /name="form_token" value="([^"]+)"/.exec(text)![1]!;
}
