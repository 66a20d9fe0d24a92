/** Values of fields that requests must refuse, and the refusal that is expected. */
import assert from "node:assert/strict";
import type { MailAnswer } from "./mail_relay.ts";

/** No strings. */
export const WRONG_STRINGS: unknown[] = [1, true, {}, [], ["a"]];
/** What no line of text may hold. */
export const CONTROLS = ["a\nb", "a\u0000b", "a\u202eb", "a\u2028b", "\u007f", "a\u0085b"];

/** Each is refused with the field's name in the message. */
export async function refuseEach(
  field: string,
  values: readonly unknown[],
  ask: (value: unknown) => Promise<MailAnswer>,
): Promise<void> {
  for (const value of values) {
    const answer = await ask(value);
    const told = `${field} ${JSON.stringify(value)}`;
    assert.equal(answer.body?.error?.code, "invalid_json", told);
    assert.ok(answer.body.error.message.includes(field), `${told}: ${answer.body.error.message}`);
  }
}
