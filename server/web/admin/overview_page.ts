/** The relay as it stands: what start-up said, health, disk, queues, refusals, the log, the outbox. */
import { html } from "hono/html";
import { doneWithin } from "../../base/time/done_within.ts";
import {
  countText,
  factList,
  type Html,
  notice,
  postButton,
  table,
  timeText,
} from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import type { ClockState } from "../../base/storage/rows/clock_watch.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { mailAlarms, mailOverview } from "./org_pages.ts";
import type { MailOperator } from "../../mail/operator/mail_operator.ts";
import type { OutgoingStatus, RelayStatus } from "./relay_status.ts";

/** A store that hangs must not take the page with it, which is opened to see that it hangs. */
const PATIENCE_MS = 3_000;
const MEBIBYTE = 1024 * 1024;

/** @param mail null where mail is off */
export async function overviewPage(
  status: RelayStatus,
  mail: MailOperator | null,
): Promise<string> {
  const [isAlive, freeBytes, outgoing, mails, mailAlarm] = await Promise.all([
    inTime(status.isDatabaseAlive()),
    inTime(status.freeDiskBytes()),
    inTime(status.outgoing()),
    mail === null ? null : inTime(mailOverview(mail)),
    mail === null ? "" : inTime(mailAlarms(mail)),
  ]);
  return await frame(
    "Operator",
    html`${alarms(status, isAlive, freeBytes)}${mailAlarm ?? ""}
<nav class="on-page" aria-label="On this page">
<a href="#health">Health</a> ${
      mail === null ? "" : html`
        <a href="/admin/orgs">Mail orgs</a> <a href="#mail">Mail</a>
      `
    }<a href="#ban">Ban</a> <a href="/admin/bans">Bans</a>
<a href="#refusals">Refusals</a> <a href="#events">Log</a> <a href="#outbox">Outbox</a>
<a href="#startup">Start-up</a></nav>
<h2 id="health">Health</h2>
<div class="card">${healthFacts(status, isAlive, freeBytes)}</div>
${
      mail === null ? "" : html`<h2 id="mail">Mail: what waits, and what failed</h2>
${mails ?? UNKNOWN}
<p><a href="/admin/orgs">All orgs with their figures</a></p>`
    }
<h2 id="ban">Ban an agent</h2>
${BAN_FORM}
<h2 id="refusals">Refusals since the start, of this process</h2>
${refusals(status)}
<h2 id="events">The last lines of the log, of this process</h2>
${events(status)}
<h2 id="outbox">Outbox: what leaves the relay by itself</h2>
${outgoing === null ? UNKNOWN : outbox(outgoing)}
<h2 id="startup">What start-up said</h2>
<pre>${status.startupLines().join("\n")}</pre>
<div class="actions">${
      postButton({ action: "/admin/sign-out", label: "Sign out", kind: "secondary" })
    }</div>`,
    { isWide: true },
  );
}

const UNKNOWN = notice("warning", "The store does not answer, so that this is not known now.");

const BAN_FORM = html`
  <form method="post" action="/admin/ban" class="card">
    <div class="field"><label for="agent">Handle</label>
  <input id="agent" name="agent" type="text" required autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="agent-hint">
  <span class="hint" id="agent-hint">Or its word name or key. Everybody else sees nothing of the reason.</span></div>
    <div class="field"><label for="reason">Reason</label>
  <input id="reason" name="reason" type="text" maxlength="200" autocomplete="off"></div>
    <div
      class="actions"><button>Go on</button> <span class="hint">The next page asks whether to ban it.</span></div>
  </form>
`;

/** The value of a promise that is kept in time, null where it is not, or is broken. */
async function inTime<T>(promise: Promise<T>): Promise<T | null> {
  let value: T | null = null;
  const kept = promise.then((given) => {
    value = given;
  }, () => {});
  await doneWithin(kept, PATIENCE_MS);
  return value;
}

function alarms(
  { clock, minFreeDiskBytes, custodyKeys }: RelayStatus,
  isAlive: boolean | null,
  freeBytes: number | null,
): Html {
  return html`${isAlive === true ? "" : notice("error", "The database does not answer.")}
${
    freeBytes !== null && freeBytes < minFreeDiskBytes
      ? notice("error", "The disk is nearly full: sends and registrations are refused.")
      : ""
  }${
    custodyKeys.missing.length === 0
      ? ""
      : notice("error", "A custody key that the store needs is not configured.")
  }${clockAlarm(clock())}`;
}

function clockAlarm(clock: ClockState): Html | "" {
  switch (clock.state) {
    case "steady":
      return "";
    case "unsure":
      return notice(
        "warning",
        `The clock leapt ahead by ${lengthText(clock.leaptMs)}, or the machine slept that long. ` +
          `Reads go on; what would write is answered 503 for ${lengthText(clock.leftMs)} more. ` +
          "Where the clock is wrong now, set it right: sends go on at once.",
      );
    case "behind":
      return notice(
        "warning",
        html`The clock went back. What was decided by ${timeText(clock.untilMs)} waits until then;
nothing else does. If the clock is right now, RELAY_CLOCK_CHECK=off at one start ends the wait.`,
      );
    case "impossible":
      return notice(
        "error",
        "The clock is not between 2025 and 2090: what would write is answered 503 until it is set right.",
      );
  }
}

const UNITS = [["day", DAY_MS], ["hour", HOUR_MS], ["minute", MINUTE_MS], [
  "second",
  1_000,
]] as const;

/** A length of time in the largest unit that fits twice, such as "9 hours". */
function lengthText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms >= 2 * unitMs) ?? UNITS.at(-1)!;
  const options = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 0 } as const;
  return new Intl.NumberFormat("en", options).format(Math.ceil(ms) / unitMs);
}

function healthFacts(
  status: RelayStatus,
  isAlive: boolean | null,
  freeBytes: number | null,
): Html {
  const { minFreeDiskBytes, custodyKeys: { encrypting, opening, missing } } = status;
  const ids = (keyIds: readonly string[]) =>
    html`<span class="lines">${keyIds.map((id) => html`<code>${id}</code>`)}</span>`;
  return factList([
    ["Database", isAlive === true ? "answers" : "does not answer"],
    [
      "Free disk",
      freeBytes === null
        ? "not on a disk of this machine, or not known"
        : `${mebibytes(freeBytes)} MiB; writes stop below ${mebibytes(minFreeDiskBytes)} MiB`,
    ],
    ...status.queues().map(([name, count]) => [name, countText(count)] as const),
    ["Custody key", encrypting === null ? "none: tools register nobody" : ids([encrypting])],
    opening.length === 0 ? null : ["Other custody keys", ids(opening)],
    missing.length === 0 ? null : ["Missing custody keys", ids(missing)],
  ]);
}

function refusals(status: RelayStatus): Html {
  const rows = status.refusals();
  if (rows.length === 0) return html`<p>None.</p>`;
  return table(
    [["Code", "head"], ["Count", "number"]],
    rows.map(({ code, count }) => [html`<code>${code}</code>`, countText(count)]),
    "Refusals by code",
  );
}

function events(status: RelayStatus): Html {
  const rows = status.events();
  if (rows.length === 0) return html`<p>None since the start.</p>`;
  return table(
    [["Time", "when"], ["Event", "head"], ["Fields", "fields"]],
    rows.map(({ atMs, event, fields }) => [
      timeText(atMs),
      html`<code>${event}</code>`,
      visibleText(fields),
    ]),
    "Log, newest first",
  );
}

function outbox({ counts, leased, isCut, givenUp }: OutgoingStatus): Html {
  const waiting = counts.length === 0 ? html`<p>Nothing waits.</p>` : table(
    [["Kind", "head"], ["Waiting", "number"], ["First due", "when"]],
    counts.map(({ kind, waiting, firstDueMs }) => [
      html`<code>${kind}</code>`,
      countText(waiting),
      firstDueMs === null ? "" : timeText(firstDueMs),
    ]),
    "What waits",
  );
  const dead = givenUp.length === 0
    ? html`<p>Nothing was given up in the last 30 days.</p>`
    : table(
      [["Time", "when"], ["Kind", "head"], ["Attempts", "number"], ["Reason"]],
      givenUp.map(({ diedAtMs, kind, attempts, reason }) => [
        timeText(diedAtMs),
        html`<code>${kind}</code>`,
        String(attempts),
        visibleText(reason),
      ]),
      "Given up, newest first",
    );
  return html`${waiting}<p>${countText(leased)} under way${
    isCut ? "; there are more rows than were counted" : ""
  }.</p>${dead}`;
}

function mebibytes(bytes: number): string {
  return countText(Math.floor(bytes / MEBIBYTE));
}
