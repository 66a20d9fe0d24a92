/// <reference lib="dom" />
import { carriedRequest } from "../cli/carried_request.ts";
import { printable } from "../cli/printable.ts";
import { MAX_JSON_DEPTH, MessageError, parseStrict, verifyMessage } from "../mod.ts";
import { type Outcome, outcomeOf } from "./describe_verdicts.ts";
import { verdictList } from "./show_result.ts";

/**
 * Checks the message that a page of a relay shows, and puts the verdicts in their place; again where its
 * reader says which sender was expected.
 *
 * @param place names the element that holds the message as JSON (`data-check`) and the recipient
 * (`data-address`, `data-handle`, `data-word-name`); has an element `.check-verdicts`, and may have a form
 * with a field `from`. What the verdicts amount to goes where `data-outcome` stands
 */
export function openCheck(place: HTMLElement): void {
  const form = place.querySelector("form");
  const field = form?.querySelector<HTMLInputElement>("[name=from]");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    void check(place, field!.value.trim());
  });
  if (form) form.hidden = false;
  void check(place, "");
}

/** What the verdicts amount to; `unnamed`: passed, of a key that nobody was named for. */
const OUTCOME: Readonly<Record<Outcome | "unnamed", string>> = {
  passed: "Signed by the sender that you named, and unchanged.",
  unnamed: "Signed by the key above, and unchanged. Whose key that is was not compared.",
  false: "Something is false: do not believe this message.",
  "not-bound": "Nothing is false, but nothing shows that this is the body that was signed.",
};

async function check(place: HTMLElement, from: string): Promise<void> {
  const { check, address, handle, wordName } = place.dataset;
  const verdicts = place.querySelector(".check-verdicts")!;
  try {
    const message = parseStrict(document.getElementById(check!)!.textContent!, {
      maxDepth: MAX_JSON_DEPTH + 1,
    });
    const request = carriedRequest(message);
    const report = await verifyMessage(message, {
      recipient: { address: address!, handle, wordName },
      from: from === "" ? undefined : from,
      request,
    });
    const outcome = outcomeOf(report);
    const given = { hasRecipient: true, hasRequest: request !== undefined };
    verdicts.replaceChildren(verdictList(report, given));
    conclude(outcome, OUTCOME[from === "" && outcome === "passed" ? "unnamed" : outcome]);
  } catch (thrown) {
    verdicts.replaceChildren();
    conclude("malformed", wordsOf(thrown));
  }
}

function conclude(kind: string, words: string): void {
  const place = document.querySelector("[data-outcome]")!;
  place.className = `check-outcome ${kind}`;
  place.textContent = words;
}

function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof MessageError)) return `This page failed: ${printable(String(thrown))}`;
  return thrown.code === "invalid_option"
    ? `What you entered ${printable(thrown.message.slice(thrown.field.length).trim())}.`
    : `This is not a message: ${printable(thrown.message)}.`;
}
