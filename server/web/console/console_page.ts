/** What all pages of a session have: the bar with its sections, and the menu of the account. */
import { html } from "hono/html";
import { type Html, shownText } from "../../base/pages/elements.ts";
import { refusalHeaders } from "../../base/http/answers/answer.ts";
import type { RelayError } from "../../base/errors.ts";
import { LARGE_ANSWER_BYTES } from "../../base/http/answers/large_answer.ts";
import { orgsOfAddress } from "../../mail/sign_in/switch_org.ts";
import { draftKey } from "../../mail/records/draft_record.ts";
import { answerMailbox, mailboxFrame, type NavLink } from "../mailbox/mailbox_frame.ts";
import { FORM_FIELD, type SignedInVisit } from "./console_route.ts";

export type Section = "Mail" | "Drafts" | "Keys" | "Webhooks" | "Lists" | "Figures" | "Org";

/** Sections that org-scoped keys alone open. */
const OF_ORG: readonly (readonly [Section, string])[] = [
  ["Keys", "/mail/keys"],
  ["Webhooks", "/mail/webhooks"],
  ["Lists", "/mail/lists"],
  ["Figures", "/mail/figures"],
  ["Org", "/mail/org"],
];

/** So many drafts are counted: reading more of them for a number in the bar would cost too much. */
const COUNTED_DRAFTS = 20;

export interface ConsolePage {
  title: string;
  section: Section | null;
  body: Html;
  unread?: number;
  q?: string;
  /** Hidden fields of the search: what it is within. */
  within?: Readonly<Record<string, string>>;
  streamHref?: string;
  /** Shows why a form was refused, with its status. */
  refusal?: RelayError;
}

/** The page as an answer. */
export async function answerConsole(visit: SignedInVisit, given: ConsolePage): Promise<Response> {
  const { title, section, body, unread = 0, q = "", within, streamHref, refusal } = given;
  const isOrg = visit.session.caller.key.scope === "org";
  const link = (label: Section, href: string, count = 0): NavLink => ({
    href,
    label,
    isChosen: label === section,
    count,
  });
  const page = await mailboxFrame({
    title,
    unread,
    homeHref: "/mail",
    nav: [
      link("Mail", "/mail"),
      link("Drafts", "/mail/waiting", await countDrafts(visit)),
      ...(isOrg ? OF_ORG.map(([label, href]) => link(label, href)) : []),
    ],
    search: { action: "/mail/search", q, hidden: within },
    account: await accountMenu(visit),
    streamHref,
  }, body);
  // The holder of a session counts as an agent: strangers' pages must not keep a person from their mail.
  const { c, mail: { answers } } = visit;
  if (page.length * 3 > LARGE_ANSWER_BYTES) {
    const { length } = new TextEncoder().encode(page);
    if (length > LARGE_ANSWER_BYTES) c.set("reservation", answers.reserve(length, "agent"));
  }
  return answerMailbox(
    page,
    refusal === undefined ? {} : { status: refusal.status, headers: refusalHeaders(refusal) },
  );
}

async function countDrafts({ mail: { store }, session }: SignedInVisit): Promise<number> {
  const { org, key } = session.caller;
  const prefix = key.inboxId === null
    ? draftKey.under(org.id)
    : draftKey.under(org.id, key.inboxId);
  const rows = await store.list({ prefix }, { limit: COUNTED_DRAFTS, batchSize: COUNTED_DRAFTS });
  return rows.length;
}

async function accountMenu(visit: SignedInVisit): Promise<Html> {
  const { mail, session: { caller: { org, key }, row } } = visit;
  const orgs = row.email === null ? [] : await orgsOfAddress(mail, row.email);
  const others = orgs.filter((id) => id !== org.id);
  const who = org.verifiedEmail ?? "Trial org";
  const isScoped = key.scope === "inbox";
  // deno-fmt-ignore
  return html`<details class="menu"><summary>${who}</summary><div>
<p>${shownText(who)}<br><span class="soft">org <code>${org.id}</code></span></p>
<p class="soft">By ${row.way === "key" ? html`the key <code>${key.prefix}</code>${isScoped ? ", for one inbox" : ""}` : row.way === "magic" ? "a link in a mail" : "Google"}, until ${
    new Date(row.untilMs).toISOString().slice(11, 16)
  } UTC.</p>
${others.map((id) => formButton(visit, "/mail/switch", `Open ${id}`, { org_id: id }))}
${formButton(visit, "/mail/sign-out", "Sign out", {})}
${formButton(visit, "/mail/sign-out", "Sign out everywhere", { everywhere: "yes" })}
</div></details>`;
}

/** A form of the session that is one button. @param kind class of the button @param key that presses it */
export function formButton(
  visit: Pick<SignedInVisit, "tokenFor">,
  action: string,
  label: Html | string,
  fields: Readonly<Record<string, string>>,
  { kind = "", key }: { kind?: "" | "primary" | "danger"; key?: string } = {},
): Html {
  // deno-fmt-ignore
  return html`<form method="post" action="${action}">${formFields(visit, action, fields)}<button${
    kind === "" ? "" : html` class="${kind}"`
  }${key === undefined ? "" : html` data-key="${key}"`}>${label}${key === undefined ? "" : html` <kbd>${key}</kbd>`}</button></form>`;
}

/** The hidden fields of a form of the session. */
export function formFields(
  { tokenFor }: Pick<SignedInVisit, "tokenFor">,
  action: string,
  fields: Readonly<Record<string, string>> = {},
): Html {
  const all = { ...fields, [FORM_FIELD]: tokenFor(action) };
  return html`${
    Object.entries(all).map(([name, value]) =>
      html`<input type="hidden" name="${name}" value="${value}">`
    )
  }`;
}

/** A button that opens, and under it the one that does it: for what cannot be undone. */
export function confirmedButton(label: string, says: Html | string, button: Html): Html {
  return html`
    <details
      class="apart"><summary class="button">${label}</summary><p class="note bad">${says}</p>${button}</details>
  `;
}

/** Why a form was refused, above what it was. */
export function refusalNote(refusal: RelayError | undefined): Html | string {
  if (refusal === undefined) return "";
  const { message } = refusal;
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return html`<p class="note bad" role="alert">${
    shownText(/[.!?]$/.test(text) ? text : `${text}.`)
  }</p>`;
}
