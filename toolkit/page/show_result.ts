/// <reference lib="dom" />
import {
  canonicalJson,
  decodeAddress,
  type InboxMessage,
  isWordNameOf,
  type JsonValue,
  type MessageReport,
  wordName,
} from "../mod.ts";
import { printable } from "../cli/printable.ts";
import { describeVerdicts, type Given, type Outcome, outcomeOf } from "./describe_verdicts.ts";
import { element } from "./element.ts";

const OUTCOME: Readonly<Record<Outcome, string>> = {
  passed: "Every check that you asked for passed",
  false: "Something is false",
  "not-bound": "Nothing is false, but the body is not bound to the signature",
};

const MARK = { holds: ["✓", "Holds: "], false: ["✗", "False: "], open: ["?", "Open: "] } as const;

/** One message with its verdicts, its claims about the sender, and its body. */
export function showReport(
  message: InboxMessage,
  report: MessageReport,
  given: Given,
): HTMLElement {
  const outcome = outcomeOf(report);
  return element(
    "article",
    { class: `result ${outcome}` },
    element("h3", {}, `Message ${message.id}: ${OUTCOME[outcome]}`),
    verdictList(report, given),
    facts(message),
    element("p", { class: "claim" }, "Body"),
    element("pre", { tabindex: "0", "aria-label": "Body of the message" }, bodyText(message.body)),
  );
}

/** Each verdict of a report in a line. */
export function verdictList(report: MessageReport, given: Given): HTMLElement {
  return element(
    "ul",
    { class: "verdicts" },
    ...describeVerdicts(report, given).map(({ claim, outcome, words }) => {
      const [mark, meaning] = MARK[outcome];
      return element(
        "li",
        { class: outcome },
        element("span", { class: "mark", "aria-hidden": "true" }, mark),
        element(
          "span",
          {},
          element("span", { class: "hidden" }, meaning),
          element("span", { class: "claim" }, `${claim}. `),
          words,
        ),
      );
    }),
  );
}

/** A message that could not be checked at all. */
export function showMalformed(index: number, reason: string): HTMLElement {
  return element(
    "article",
    { class: "result malformed" },
    element("h3", {}, `Entry ${index + 1}: not a message`),
    element("p", {}, `${printable(reason)}.`),
  );
}

function facts(message: InboxMessage): HTMLElement {
  const publicKey = decodeAddress(message.from);
  const claimed = isWordNameOf(message.from_word_name, publicKey)
    ? `${message.from_word_name} (a name of this key; other keys can have it too)`
    : `${message.from_word_name} IS NO NAME OF THIS KEY, whose name is ${wordName(publicKey)}`;
  const pairs: [string, string][] = [
    ["From (a key)", message.from],
    ["Word name", claimed],
    ["Handle (the relay's word)", `@${message.from_handle}`],
    ["Arrived (the relay's word)", message.created_at],
  ];
  if (message.in_reply_to !== null) pairs.push(["In reply to message", `${message.in_reply_to}`]);
  return element(
    "dl",
    {},
    ...pairs.flatMap(([term, text]) => [
      element("dt", {}, term),
      element("dd", { class: "mono" }, printable(text)),
    ]),
  );
}

/** The body as JSON, its characters that cannot be seen written out. */
function bodyText(body: JsonValue): string {
  const lines = JSON.stringify(JSON.parse(canonicalJson(body)), null, 2).split("\n");
  return lines.map(printable).join("\n");
}
