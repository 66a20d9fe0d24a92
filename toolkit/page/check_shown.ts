/// <reference lib="dom" />
import { carriedRequest } from "../cli/carried_request.ts";
import { printable } from "../cli/printable.ts";
import { MAX_JSON_DEPTH, MessageError, parseStrict, verifyMessage } from "../mod.ts";
import { outcomeOf } from "./describe_verdicts.ts";
import { element } from "./element.ts";
import { OUTCOME, verdictList } from "./show_result.ts";

/**
 * Checks the message that a page of a relay shows, and puts the verdicts in their place; again where its
 * reader says which sender was expected.
 *
 * @param place names the element that holds the message as JSON (`data-check`) and the recipient
 * (`data-address`, `data-handle`, `data-word-name`); has an element `.check-verdicts`, and may have a form
 * with a field `from`
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
    verdicts.replaceChildren(
      element("p", { class: `check-outcome ${outcome}` }, OUTCOME[outcome]),
      verdictList(report, given),
    );
  } catch (thrown) {
    verdicts.replaceChildren(
      element("p", { class: "check-outcome malformed" }, wordsOf(thrown)),
    );
  }
}

function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof MessageError)) return `This page failed: ${printable(String(thrown))}`;
  return thrown.code === "invalid_option"
    ? `What you entered ${printable(thrown.message.slice(thrown.field.length).trim())}.`
    : `This is not a message: ${printable(thrown.message)}.`;
}
