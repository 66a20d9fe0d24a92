import { SMALL_PAGE_BYTES } from "../client/inbox_reader.ts";
import type { Pins } from "../client/pins.ts";
import type { OutboxMessage, OutboxPage } from "../client/records.ts";
import { openSigningClient, SIGNING_OPTIONS } from "./connect.ts";
import { describeAgent } from "./describe_agent.ts";
import { printBody } from "./print.ts";
import { printable } from "./printable.ts";
import { wholeNumber } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

const DEFAULT_LIMIT = 50;

/** `relay outbox`. */
export const outbox = defineVerb({
  name: "outbox",
  summary: "show what you sent, and what was fetched",
  about: `
Oldest first. A message stays 30 days. "delivered" is when its recipient first fetched it. Each line
begins with the recipient's key, after the name that you pinned it by ('relay pin'); what stands in
parentheses is the relay's word.`,
  options: {
    since: option("ID", "only messages after this one; 0", wholeNumber(0)),
    limit: option("N", "how many, 1 to 200; 50", wholeNumber(1, 200)),
    ...SIGNING_OPTIONS,
    json: flag("print one JSON object a message, as the relay gives it (GET /v1/outbox)"),
  },
  async run(call) {
    const { client, pins } = await openSigningClient(call);
    let { since, limit: left = DEFAULT_LIMIT } = call.values;
    for (;;) {
      const page = await client.outbox({ since, limit: left });
      for (const message of page.messages) await call.print(message, inWords(message, pins));
      left -= page.messages.length;
      since = page.last_id;
      if (left === 0 || isLast(page)) return;
    }
  },
});

/** Relays end a page early for its bytes, never a small one. */
function isLast({ messages }: OutboxPage): boolean {
  return messages.length === 0 || JSON.stringify(messages).length < SMALL_PAGE_BYTES;
}

function inWords(message: OutboxMessage, pins: Pins): string {
  const { id, to_handle, to_word_name, to, created_at, delivered_at, body } = message;
  const delivered = delivered_at === null ? "not fetched yet" : `delivered ${delivered_at}`;
  const shown = { address: to, handle: to_handle, wordName: to_word_name };
  const line = `${describeAgent(shown, pins)}: sent message ${id}, ${created_at}, ${delivered}`;
  return `${printable(line)}\n${printBody(body)}`;
}
