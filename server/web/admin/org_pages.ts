/** Mail orgs for the operator: their figures, and suspending one. Nobody's mail is readable here. */
import { html } from "hono/html";
import {
  countText,
  factList,
  type Html,
  notice,
  postButton,
  shownText,
  table,
  timeText,
} from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { OrgOverview, OrgPage } from "../../mail/operator/mail_operator.ts";
import type { MailOperator } from "../../mail/operator/mail_operator.ts";

/** What was done, by the words that a redirect says it with. */
export const ORG_DONE = {
  suspended: "The org is suspended: its keys are refused, and its mail stops both ways.",
  unsuspended: "The suspension is lifted.",
};

export interface OrgsPageOptions {
  q: string;
  done: keyof typeof ORG_DONE | undefined;
}

export function orgsPage(
  { orgs, olderThan, isCut }: OrgPage,
  { q, done }: OrgsPageOptions,
): Promise<string> {
  const empty = q === "" ? "No org has registered for mail." : "No org is meant by this.";
  const list = orgs.length === 0 ? html`<p>${empty}</p>` : table(
    [
      ["Org", "head"],
      ["State"],
      ["Inboxes", "number"],
      ["Stored", "number"],
      ["Sent", "number"],
      ["Bounced", "number"],
      ["Complaints", "number"],
    ],
    orgs.map(rowOf),
    "Figures of the last 7 days; what needs a hand stands first",
  );
  return frame(
    "Mail orgs",
    html`${done === undefined ? "" : notice("success", ORG_DONE[done])}
<p><a href="/admin">Back to the relay</a></p>
<form class="search one" action="/admin/orgs" role="search">
<div class="field"><label for="q">Owner, inbox or id</label>
<input id="q" name="q" type="search" maxlength="320" value="${q}"></div><button>Search</button></form>
${list}${isCut ? html`<p>There are more than are shown: write more of the address.</p>` : ""}${
      olderThan === null
        ? ""
        : html`<p><a href="/admin/orgs?older_than=${olderThan}">Older orgs</a></p>`
    }`,
    { isWide: true },
  );
}

export function orgPage(org: OrgOverview, done: OrgsPageOptions["done"]): Promise<string> {
  const { id, week, suspended } = org;
  return frame(
    org.email ?? id,
    html`${done === undefined ? "" : notice("success", ORG_DONE[done])}
<p><a href="/admin/orgs">All orgs</a></p>
${suspended === null ? healthNotice(week) : suspendedNotice(suspended)}
<div class="card">${
      factList([
        ["Id", html`<code class="copy">${id}</code>`],
        ["Owner", org.email === null ? "nobody yet: a trial" : shownText(org.email)],
        ["State", org.state],
        ["Since", timeText(org.createdAtMs)],
        ["Inboxes", countText(org.inboxes)],
        ["Stored", sizeText(org.storedBytes)],
      ])
    }</div>
<h2>Its mail in 7 days</h2>
<div class="card">${
      factList([
        ["Received", countText(week.received)],
        ["Recipients written to", countText(week.accepted)],
        ["Taken by the next hop", countText(week.sent)],
        ["Bounced", html`${bouncesText(week)}${rateText(week.bounce_rate)}`],
        ["Complaints", html`${countText(week.complained)}${rateText(week.complaint_rate)}`],
        ["Failed", countText(week.failed)],
        ["Under way", countText(week.pending + week.deferred)],
      ])
    }</div>
${suspended === null ? suspendForm(id) : liftForm(id)}`,
    { isWide: true },
  );
}

export function confirmSuspensionPage(org: OrgOverview, reason: string): Promise<string> {
  return frame(
    `Suspend ${org.email ?? org.id}?`,
    html`<div class="card">${
      factList([
        ["Id", html`<code>${org.id}</code>`],
        ["Inboxes", countText(org.inboxes)],
        ["Reason", reason === "" ? "none" : shownText(reason)],
      ])
    }</div>
<p>From now on its keys are answered 403, what comes for its inboxes is refused, and what waits is not sent. Nothing is
deleted: lifting the suspension undoes all of it.</p>
<div class="actions">${
      postButton({
        action: "/admin/orgs/suspend",
        label: "Suspend it",
        fields: { org: org.id, reason, confirmed: "yes" },
        kind: "danger",
      })
    }
<a class="button secondary" href="/admin/orgs/${org.id}">Not now</a></div>`,
  );
}

/** The queue by destination and the last failures, for the overview. */
export async function mailOverview(mail: MailOperator): Promise<Html> {
  const { destinations, isCut } = await mail.destinations();
  const failures = mail.failures();
  const waiting = destinations.length === 0 ? html`<p>No mail waits for the next hop.</p>` : table(
    [["Destination", "head"], ["Waiting", "number"], ["Orgs", "number"], ["Next", "when"], [
      "Put back for",
    ]],
    destinations.map(({ domain, waiting, orgs, firstDueMs, lastReason }) => [
      domain === null ? "not known" : shownText(domain),
      countText(waiting),
      countText(orgs),
      timeText(firstDueMs),
      lastReason === null ? "" : shownText(lastReason),
    ]),
    "Mail that waits, by destination",
  );
  const failed = failures.length === 0
    ? html`<p>No recipient has failed for good since the start of this process.</p>`
    : table(
      [["Time", "when"], ["Destination", "head"], ["Outcome"], ["Org"]],
      failures.map(({ atMs, domain, status, smtpCode, enhancedCode, reason, orgId }) => [
        timeText(atMs),
        shownText(domain),
        [status, smtpCode, enhancedCode, reason].filter((word) => word !== null).join(" "),
        orgLink(orgId, orgId),
      ]),
      "Recipients that failed for good, newest first",
    );
  return html`${waiting}${isCut ? html`<p>There is more than was counted.</p>` : ""}${failed}`;
}

function rowOf({ id, email, state, suspended, inboxes, storedBytes, week }: OrgOverview): Html[] {
  const badge = suspended !== null
    ? html`<span class="badge wrong">suspended</span>`
    : week.state === "healthy"
    ? html`${state}`
    : html`<span class="badge ${
      week.state === "critical" ? "wrong" : "relay"
    }">${week.state}</span>`;
  return [
    orgLink(id, email ?? id),
    badge,
    html`${countText(inboxes)}`,
    html`${sizeText(storedBytes)}`,
    html`${countText(week.accepted)}`,
    html`${bouncesText(week)}`,
    html`${countText(week.complained)}`,
  ];
}

function orgLink(id: string, words: string): Html {
  return html`<a href="/admin/orgs/${id}">${shownText(words)}</a>`;
}

/** The newest orgs whose mail fares so badly that somebody should look, said first. */
export async function mailAlarms(mail: MailOperator): Promise<Html | string> {
  const { orgs } = await mail.orgs({ q: "" });
  const bad = orgs.filter(({ week, suspended }) => week.state === "critical" && suspended === null);
  if (bad.length === 0) return "";
  return notice(
    "error",
    html`Too much of what is sent bounces or is complained of: ${
      bad.slice(0, 5).map(({ id, email }, i) =>
        html`${i === 0 ? "" : ", "}${orgLink(id, email ?? id)}`
      )
    }.`,
  );
}

function healthNotice({ state, bounce_rate }: OrgOverview["week"]): Html | string {
  if (state === "healthy") return "";
  return notice(
    state === "critical" ? "error" : "warning",
    `Its mail is ${state}: ${
      bounce_rate === null ? "complaints" : `${percent(bounce_rate)} of its recipients bounced`
    } in 7 days.`,
  );
}

function suspendedNotice({ atMs, reason }: NonNullable<OrgOverview["suspended"]>): Html {
  return notice(
    "error",
    html`Suspended since ${timeText(atMs)}${
      reason === null ? ", without a reason." : html`: ${shownText(reason)}`
    }`,
  );
}

function suspendForm(id: string): Html {
  return html`
    <h2>Suspend it</h2>
    <form method="post" action="/admin/orgs/suspend"
      class="card"><input type="hidden" name="org" value="${id}">
    <div class="field"><label for="reason">Reason</label>
    <input id="reason" name="reason" type="text" maxlength="200" autocomplete="off" aria-describedby="reason-hint">
    <span class="hint" id="reason-hint">For you alone: nobody else is shown it.</span></div>
    <div class="actions"><button>Go on</button> <span class="hint">The next page asks whether to suspend it.</span></div></form>
  `;
}

function liftForm(id: string): Html {
  return html`<div class="actions">${
    postButton({
      action: "/admin/orgs/unsuspend",
      label: "Lift the suspension",
      fields: { org: id },
      kind: "secondary",
    })
  }</div>`;
}

function bouncesText({ bounced }: OrgOverview["week"]): string {
  return countText(bounced.hard + bounced.soft);
}

function rateText(rate: number | null): string {
  return rate === null ? "" : ` (${percent(rate)})`;
}

function percent(rate: number): string {
  return `${(100 * rate).toFixed(1)} %`;
}

function sizeText(bytes: number): string {
  return `${countText(Math.ceil(bytes / 1024))} KiB`;
}
