/// <reference lib="dom" />
/**
 * The offline verifier: reads the form, checks, shows verdicts. It asks nothing of a network, and
 * the page's policy forbids it. Inside a page of a relay that shows a message it checks that one.
 *
 * @module
 */
import { carriedRequest } from "../cli/carried_request.ts";
import { openCheck } from "./check_shown.ts";
import { type InboxMessage, MessageError, verifyMessage } from "../mod.ts";
import { NOT_PROVEN } from "./describe_verdicts.ts";
import { element } from "./element.ts";
import { ALTERED_EXAMPLE, EXAMPLE_MESSAGE, EXAMPLE_RECIPIENT, EXAMPLE_SENDER } from "./example.ts";
import {
  type PageField,
  type PageFields,
  type PageInput,
  PageInputError,
  readPageInput,
} from "./page_input.ts";
import { showMalformed, showReport } from "./show_result.ts";

type Control = HTMLInputElement | HTMLTextAreaElement;

const FIELDS: readonly PageField[] = [
  "message",
  "from",
  "address",
  "handle",
  "wordName",
  "request",
  "maxSkew",
];

/** The fields that an option of the verifier was read from. */
const FIELD_OF_OPTION: Readonly<Record<string, PageField>> = {
  from: "from",
  "recipient.address": "address",
  "recipient.handle": "handle",
  "recipient.wordName": "wordName",
  maxSkewSeconds: "maxSkew",
};

/** Of an address, base58 of 32 bytes. */
const LONGEST_ADDRESS = 44;

let checks = 0;

const shown = document.querySelector<HTMLElement>("[data-check]");
if (shown !== null) openCheck(shown);
else openForm();

function openForm(): void {
  byId("not-proven").append(...NOT_PROVEN.map((words) => element("li", {}, words)));
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    void check();
  });
  byId("example").addEventListener("click", () => tryExample(EXAMPLE_MESSAGE));
  byId("altered").addEventListener("click", () => tryExample(ALTERED_EXAMPLE));
  addEventListener("hashchange", takeFromLink);
  takeFromLink();
}

/** `#from=` names a sender. Only the link's author vouches for it, and the page says so. */
function takeFromLink(): void {
  const from = new URLSearchParams(location.hash.slice(1)).get("from");
  if (from === null) return;
  control("from").value = from.slice(0, LONGEST_ADDRESS);
  byId("from-hint").textContent =
    "Filled in by the link that you followed, which proves nothing: " +
    "compare it with the address that you got from its owner.";
}

function tryExample(message: InboxMessage): void {
  for (const field of FIELDS) control(field).value = "";
  (byId("request-file") as HTMLInputElement).value = "";
  control("message").value = JSON.stringify(message, null, 2);
  control("from").value = EXAMPLE_SENDER;
  control("address").value = EXAMPLE_RECIPIENT;
  void check();
}

async function check(): Promise<void> {
  const mine = ++checks;
  for (const field of FIELDS) clearError(field);
  byId("results").replaceChildren();
  try {
    const input = readPageInput(await readFields());
    const articles = await verdictsOn(input);
    // Somebody has asked again meanwhile, and gets that answer alone.
    if (mine !== checks) return;
    const heading = element("h2", { tabindex: "-1" }, "Verdicts");
    byId("results").replaceChildren(heading, ...articles);
    heading.focus();
  } catch (thrown) {
    if (thrown instanceof PageInputError) return showError(thrown.field, thrown.message);
    showError("message", `This page failed, which is a fault of its own: ${String(thrown)}`);
    throw thrown;
  }
}

async function verdictsOn({ messages, options }: PageInput): Promise<HTMLElement[]> {
  const articles: HTMLElement[] = [];
  for (const [index, message] of messages.entries()) {
    try {
      const request = options.request ?? carriedRequest(message);
      const report = await verifyMessage(message, { ...options, request });
      const given = {
        hasRecipient: options.recipient !== undefined,
        hasRequest: request !== undefined,
      };
      articles.push(showReport(message as unknown as InboxMessage, report, given));
    } catch (thrown) {
      if (!(thrown instanceof MessageError)) throw thrown;
      const field = FIELD_OF_OPTION[thrown.field];
      if (thrown.code === "invalid_option" && field !== undefined) {
        throw new PageInputError(field, sentence(thrown.message.slice(thrown.field.length)));
      }
      if (messages.length === 1) {
        throw new PageInputError("message", `This is not a message: ${thrown.message}.`);
      }
      articles.push(showMalformed(index, thrown.message));
    }
  }
  return articles;
}

function sentence(reason: string): string {
  return `This ${reason.trim()}.`;
}

async function readFields(): Promise<PageFields> {
  const text = (field: PageField) => control(field).value;
  return {
    message: text("message"),
    from: text("from"),
    address: text("address"),
    handle: text("handle"),
    wordName: text("wordName"),
    maxSkew: text("maxSkew"),
    request: await readRequest(),
  };
}

/** The chosen file, else what was pasted. */
async function readRequest(): Promise<Uint8Array | undefined> {
  const file = (byId("request-file") as HTMLInputElement).files?.[0];
  if (file !== undefined) {
    try {
      return new Uint8Array(await file.arrayBuffer());
    } catch {
      throw new PageInputError("request", "This file cannot be read. Choose it again.");
    }
  }
  const pasted = control("request").value;
  return pasted === "" ? undefined : new TextEncoder().encode(pasted);
}

function showError(field: PageField, words: string): void {
  const message = byId(`${field}-error`);
  message.textContent = words;
  message.hidden = false;
  control(field).setAttribute("aria-invalid", "true");
  control(field).closest("details")?.setAttribute("open", "");
  control(field).focus();
}

function clearError(field: PageField): void {
  byId(`${field}-error`).hidden = true;
  control(field).removeAttribute("aria-invalid");
}

function control(field: PageField): Control {
  return byId(field) as Control;
}

function byId(id: string): HTMLElement {
  return document.getElementById(id)!;
}
