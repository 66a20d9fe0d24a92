// Over 300 lines: the pages of an org, each a table and a form over the routes of the API.
/** The org: keys, webhooks with their log, lists, figures, inboxes, its address, and its end. */
import { html } from "hono/html";
import { invalidJson, RelayError } from "../../base/errors.ts";
import { countText, type Html, shownText, table } from "../../base/pages/elements.ts";
import { mailCookie } from "../../mail/sessions/mail_sessions.ts";
import { column } from "../mailbox/mailbox_frame.ts";
import { chip } from "../mailbox/mail_list.ts";
import { sizeText } from "../mailbox/reading_pane.ts";
import { shortTimeText } from "../mailbox/short_time.ts";
import { barChart } from "./bar_chart.ts";
import {
  answerConsole,
  confirmedButton,
  formButton,
  formFields,
  refusalNote,
  type Section,
} from "./console_page.ts";
import { form, isSecureVisit, page, seeOther, type SignedInVisit } from "./console_route.ts";
import { type InboxJson, readInboxes } from "./mail_pages.ts";

interface Page<Row> {
  data: Row[];
  next_cursor: string | null;
}

interface KeyJson {
  id: string;
  name: string;
  prefix: string;
  scope: "org" | "inbox";
  inbox_id: string | null;
  permissions: string[];
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
}

interface WebhookJson {
  id: string;
  url?: string;
  events: string[];
  inbox_ids: string[];
  status: "active" | "disabled";
  disabled_reason: string | null;
  consecutive_failures: number;
  last_success_at: string | null;
}

interface DeliveryJson {
  id: string;
  type: string;
  attempt: number;
  at: string;
  duration_ms: number;
  status: number | null;
  error: string | null;
  response: string;
  next_attempt_at: string | null;
}

/** How a page of the org is shown again when its form was refused, or has something to say. */
interface Said {
  refusal?: RelayError;
  /** Above the page, such as a secret that is shown once. */
  note?: Html;
}

function answerOrgPage(
  visit: SignedInVisit,
  section: Section,
  heading: string,
  content: Html,
  { refusal, note }: Said = {},
): Promise<Response> {
  const body = html`${refusalNote(refusal)}${note ?? ""}${content}`;
  return answerConsole(visit, { title: heading, section, body: column(heading, body), refusal });
}

const when = (text: string | null, nowMs: number) =>
  text === null ? "never" : shortTimeText(Date.parse(text), nowMs);

/** Something that is shown this once, with a button that copies it. */
function secretNote(label: string, secret: string): Html {
  // deno-fmt-ignore
  return html`<div class="note ok" role="status"><p>${label}, shown this once:</p><p><code class="whole">${secret}</code> <button type="button" data-copy="${secret}" hidden>Copy </button></p></div>`;
}

/** Runs what a form asks, and shows its page again where that was refused. */
async function attempt(
  what: () => Promise<Response>,
  again: (refusal: RelayError) => Promise<Response>,
): Promise<Response> {
  try {
    return await what();
  } catch (error) {
    if (!(error instanceof RelayError) || error.code === "unknown_key") throw error;
    return await again(error);
  }
}

const MAY = { "inbox:read": "read", "inbox:write": "write" } as const;

async function answerKeys(visit: SignedInVisit, said: Said = {}): Promise<Response> {
  const { api, nowMs, session: { caller } } = visit;
  const [{ data }, inboxes] = await Promise.all([
    api.get<Page<KeyJson>>(["api-keys"], { limit: 100 }),
    readInboxes(visit),
  ]);
  const addressOf = (id: string | null) => inboxes.find((one) => one.id === id)?.address ?? id;
  const rows = data.map((key) => [
    html`${shownText(key.name)}<br><code>${key.prefix}</code>`,
    html`${
      key.scope === "org" ? "all inboxes" : addressOf(key.inbox_id) ?? ""
    }<br><span class="soft">${
      key.permissions.map((one) => MAY[one as keyof typeof MAY] ?? one).join(" and ")
    }</span>`,
    html`${when(key.last_used_at, nowMs)}${
      key.expires_at === null
        ? ""
        : html`<br><span class="soft">ends ${key.expires_at.slice(0, 10)}</span>`
    }`,
    key.id === caller.key.id ? html`<span class="soft">this session's</span>` : confirmedButton(
      "Delete",
      html`What uses <b>${key.name}</b> stops at once.`,
      formButton(visit, "/mail/keys", "Delete the key", { do: "delete", id: key.id }, {
        kind: "danger",
      }),
    ),
  ]);
  const path = "/mail/keys";
  // deno-fmt-ignore
  const content = html`${table([["Key", "head"], ["May"], ["Last use"], ["Deletion"]], rows, "API keys")}
<h2>A new key</h2><form method="post" action="${path}" class="card">${formFields(visit, path, { do: "create" })}
<div class="field"><label for="name">Name</label><input id="name" name="name" required maxlength="100" autocomplete="off"></div>
<div class="field"><label for="inbox_id">For</label><select id="inbox_id" name="inbox_id"><option value="">all inboxes, and the org</option>${
    inboxes.map(({ id, address }) => html`<option value="${id}">${address} alone</option>`)
  }</select></div>
<fieldset><legend>May</legend><label class="choice"><input type="checkbox" name="read" value="yes" checked> read</label> <label class="choice"><input type="checkbox" name="write" value="yes" checked> write</label></fieldset>
<button class="primary">Make the key</button></form>`;
  return await answerOrgPage(visit, "Keys", "API keys", content, said);
}

const keysPage = page(
  {
    path: "/mail/keys",
    id: "openKeys",
    summary: "API keys",
    says: "The org's keys, with their last use.",
  },
  (visit) => answerKeys(visit),
);

const changeKeys = form(
  {
    path: "/mail/keys",
    id: "changeKeys",
    summary: "Make or delete an API key",
    says: "Makes a key, which is shown once, or revokes one.",
  },
  ["do", "id", "name", "inbox_id", "read", "write"],
  (visit, fields) =>
    attempt(async () => {
      if (fields.do === "delete") {
        await visit.api.send("DELETE", ["api-keys", fields.id ?? ""]);
        return seeOther("/mail/keys");
      }
      const permissions = [
        ...fields.read === "yes" ? ["inbox:read"] : [],
        ...fields.write === "yes" ? ["inbox:write"] : [],
      ];
      const inbox_id = fields.inbox_id || null;
      const made = await visit.api.send<{ api_key: string }>("POST", ["api-keys"], {
        name: fields.name ?? "",
        scope: inbox_id === null ? "org" : "inbox",
        inbox_id,
        permissions,
      });
      return await answerKeys(visit, { note: secretNote("The new key", made!.api_key) });
    }, (refusal) => answerKeys(visit, { refusal })),
);

function webhookState({ status, disabled_reason, consecutive_failures }: WebhookJson): Html {
  if (status === "disabled") {
    return chip({ word: `disabled: ${disabled_reason ?? "by hand"}`, tone: "bad" });
  }
  return consecutive_failures === 0
    ? chip({ word: "active", tone: "ok" })
    : chip({ word: `${consecutive_failures} failures`, tone: "warn" });
}

async function answerWebhooks(visit: SignedInVisit, said: Said = {}): Promise<Response> {
  const { data } = await visit.api.get<Page<WebhookJson>>(["webhooks"], { limit: 100 });
  const rows = data.map((hook) => [
    html`<a href="/mail/webhooks/${hook.id}">${shownText(hook.url ?? hook.id)}</a>`,
    html`${hook.events.length} events`,
    webhookState(hook),
    when(hook.last_success_at, visit.nowMs),
  ]);
  const path = "/mail/webhooks";
  // deno-fmt-ignore
  const content = html`${
    rows.length === 0 ? html`<p class="soft">No webhook yet. One is told of mail that comes, and of how sent mail fares.</p>`
      : table([["Address", "head"], ["Told"], ["State"], ["Last success"]], rows, "Webhooks")
  }
<h2>A new webhook</h2><form method="post" action="${path}" class="card">${formFields(visit, path)}
<div class="field"><label for="url">Address</label><input id="url" name="url" type="url" required maxlength="2048" placeholder="https://"><span class="hint">https. It is told of everything, in all inboxes; the API narrows that.</span></div>
<button class="primary">Make the webhook</button></form>`;
  return await answerOrgPage(visit, "Webhooks", "Webhooks", content, said);
}

const webhooksPage = page(
  {
    path: "/mail/webhooks",
    id: "openWebhooks",
    summary: "Webhooks",
    says: "The org's webhooks and how they fare.",
  },
  (visit) => answerWebhooks(visit),
);

const makeWebhook = form(
  {
    path: "/mail/webhooks",
    id: "makeMailboxWebhook",
    summary: "Make a webhook",
    says: "Makes a webhook, whose secret is shown once.",
  },
  ["url"],
  (visit, { url = "" }) =>
    attempt(async () => {
      const made = await visit.api.send<{ secret: string }>("POST", ["webhooks"], {
        url: url.trim(),
      });
      return await answerWebhooks(visit, { note: secretNote("Its secret", made!.secret) });
    }, (refusal) => answerWebhooks(visit, { refusal })),
);

async function answerWebhook(visit: SignedInVisit, said: Said = {}): Promise<Response> {
  const { api, params, nowMs } = visit;
  const id = params["id"]!;
  const [hook, { data }] = await Promise.all([
    api.get<WebhookJson>(["webhooks", id]),
    api.get<Page<DeliveryJson>>(["webhooks", id, "deliveries"], { limit: 100 }),
  ]);
  const path = `/mail/webhooks/${id}`;
  const button = (label: string, fields: Record<string, string>) =>
    formButton(visit, path, label, fields);
  const rows = data.map((one) => [
    html`${when(one.at, nowMs)}<br><span class="soft">${one.type}, attempt ${one.attempt}</span>`,
    one.status !== null && one.status >= 200 && one.status < 300
      ? chip({ word: String(one.status), tone: "ok" })
      : html`${chip({ word: one.error ?? String(one.status ?? "none"), tone: "bad" })}${
        one.next_attempt_at === null
          ? ""
          : html`<br><span class="soft">again ${when(one.next_attempt_at, nowMs)}</span>`
      }`,
    html`${countText(one.duration_ms)} ms`,
    html`${
      one.response === "" ? "" : html`
        <details>
          <summary class="soft">Answer</summary>
          <pre>${shownText(one.response, { keepsLines: true })}</pre>
        </details>
      `
    }${button("Redeliver", { do: "redeliver", delivery: one.id })}`,
  ]);
  // deno-fmt-ignore
  const content = html`<p>${webhookState(hook)} <span class="soft">last success ${when(hook.last_success_at, nowMs)}</span></p>
<p class="soft">Told of: ${hook.events.join(", ")}.</p>
<div class="actions">${button("Send a test", { do: "test" })}${hook.status === "active" ? "" : button("Enable it again", { do: "enable" })}${button("New secret", { do: "rotate" })}${
    confirmedButton("Delete", "It is told of nothing more.", formButton(visit, path, "Delete the webhook", { do: "delete" }, { kind: "danger" }))
  }</div>
${rows.length === 0 ? html`<p class="soft">Nothing was delivered yet.</p>` : table([["When", "head"], ["Answer"], ["Time", "number"], ["Redelivery"]], rows, "The last deliveries")}`;
  return await answerOrgPage(visit, "Webhooks", hook.url ?? hook.id, content, said);
}

const webhookPage = page(
  {
    path: "/mail/webhooks/{id}",
    id: "openWebhook",
    summary: "A webhook",
    says: "Its state and the log of its deliveries.",
  },
  (visit) => answerWebhook(visit),
);

const changeWebhook = form(
  {
    path: "/mail/webhooks/{id}",
    id: "changeMailboxWebhook",
    summary: "Do something about a webhook",
    says: "Tests, redelivers, enables, rotates or deletes it.",
  },
  ["do", "delivery"],
  (visit, { do: what, delivery = "" }) =>
    attempt(async () => {
      const { api, params } = visit;
      const path = ["webhooks", params["id"]!] as const;
      if (what === "delete") {
        await api.send("DELETE", path);
        return seeOther("/mail/webhooks");
      }
      if (what === "rotate") {
        const made = await api.send<{ secret: string }>("POST", [...path, "rotate"], {});
        const note = secretNote(
          "The new secret; the former one signs too for 24 hours",
          made!.secret,
        );
        return await answerWebhook(visit, { note });
      }
      if (what === "test") await api.send("POST", [...path, "test"], {});
      else if (what === "redeliver") {
        await api.send("POST", [...path, "deliveries", delivery, "redeliver"], {});
      } else if (what === "enable") await api.send("PATCH", path, { status: "active" });
      else throw invalidJson("do must be test, redeliver, enable, rotate or delete");
      return seeOther(`/mail/webhooks/${params["id"]}`);
    }, (refusal) => answerWebhook(visit, { refusal })),
);

const LISTS = [
  ["allow_send", "Sends to these alone", "Empty: to everybody."],
  [
    "allow_receive",
    "Takes mail from these alone",
    "Empty: from everybody. The sender must be proven.",
  ],
  ["block_receive", "Takes no mail from these", ""],
] as const;

async function answerLists(visit: SignedInVisit, said: Said = {}): Promise<Response> {
  const { api, nowMs } = visit;
  const [{ data, next_cursor }, inboxes] = await Promise.all([
    api.get<Page<{ address: string; reason: string; message_id: string; created_at: string }>>(
      ["suppressions"],
      { limit: 100 },
    ),
    readInboxes(visit),
  ]);
  const path = "/mail/lists";
  const rows = data.map(({ address, reason, message_id, created_at }) => [
    shownText(address),
    html`<a href="/mail/messages/${message_id}">${reason.replaceAll("_", " ")}</a>`,
    when(created_at, nowMs),
    formButton(visit, path, "Lift it", { do: "lift", address }),
  ]);
  // deno-fmt-ignore
  const content = html`<h2>Suppressed addresses</h2><p class="soft">Mail bounced there for good, or its reader complained: nothing goes to them any more.</p>${
    rows.length === 0 ? html`<p>None.</p>` : table([["Address", "head"], ["Why"], ["Since"], ["Lifting"]], rows, "Suppressed addresses")
  }${next_cursor === null ? "" : html`<p class="soft">There are more; the API lists all of them.</p>`}
${inboxes.map((inbox) => html`<h2 id="${inbox.id}">${inbox.address}</h2><form method="post" action="${path}" class="card">${formFields(visit, path, { do: "lists", inbox: inbox.id })}
<div class="field"><label for="policy-${inbox.id}">What an agent with a key for this inbox sends</label><select id="policy-${inbox.id}" name="send_policy"><option value="direct"${inbox.send_policy === "direct" ? html` selected` : ""}>goes out at once</option><option value="draft_only"${inbox.send_policy === "draft_only" ? html` selected` : ""}>waits until a person approves</option></select></div>
${LISTS.map(([name, label, hint]) => html`<div class="field"><label for="${name}-${inbox.id}">${label}</label><input id="${name}-${inbox.id}" name="${name}" value="${(inbox[name] ?? []).join(", ")}" autocomplete="off" placeholder="name@example.org, example.org, *.example.org">${hint === "" ? "" : html`<span class="hint">${hint}</span>`}</div>`)}
<button>Save</button></form>`)}`;
  return await answerOrgPage(visit, "Lists", "Lists", content, said);
}

const listsPage = page(
  {
    path: "/mail/lists",
    id: "openLists",
    summary: "Lists",
    says: "Suppressed addresses, and whom each inbox writes to and hears from.",
  },
  (visit) => answerLists(visit),
);

const changeLists = form(
  {
    path: "/mail/lists",
    id: "changeLists",
    summary: "Change a list",
    says: "Lifts a suppression, or replaces the lists and the policy of an inbox.",
  },
  ["do", "address", "inbox", "send_policy", "allow_send", "allow_receive", "block_receive"],
  (visit, fields) =>
    attempt(async () => {
      const { api } = visit;
      if (fields.do === "lift") {
        await api.send("DELETE", ["suppressions", fields.address ?? ""]);
        return seeOther("/mail/lists");
      }
      const entries = (text = "") => text.split(/[\s,;]+/).filter((one) => one !== "");
      await api.send("PATCH", ["inboxes", fields.inbox ?? ""], {
        send_policy: fields.send_policy,
        ...Object.fromEntries(LISTS.map(([name]) => [name, entries(fields[name])])),
      });
      return seeOther(`/mail/lists#${fields.inbox}`);
    }, (refusal) => answerLists(visit, { refusal })),
);

interface ActivityJson {
  bucket: "hour" | "day";
  series: { at: string; received: number; sent: number; bounced: number }[];
}

interface HealthJson {
  sent: number;
  delivered: number;
  deferred: number;
  bounced: { hard: number; soft: number };
  complained: number;
  failed: number;
  pending: number;
  bounce_rate: number | null;
  complaint_rate: number | null;
  state: "healthy" | "warning" | "critical";
}

interface UsedJson {
  used: number;
  limit: number;
}

interface UsageJson {
  inboxes: UsedJson;
  messages_sent: UsedJson;
  messages_received: number;
  storage_bytes: UsedJson;
}

const STATES = { healthy: "ok", warning: "warn", critical: "bad" } as const;
const PERIODS = { "24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days" } as const;

const figuresPage = page(
  {
    path: "/mail/figures",
    id: "openFigures",
    summary: "Figures",
    says: "What came, what was sent and how it fared, and what of the limits is used.",
    query: ["period"],
  },
  async (visit) => {
    const { api, query } = visit;
    const given = query["period"] ?? "";
    const period = Object.hasOwn(PERIODS, given) ? given as keyof typeof PERIODS : "30d";
    const [activity, health, usage] = await Promise.all([
      api.get<ActivityJson>(["activity"], { period }),
      api.get<HealthJson>(["delivery-health"], { period }),
      api.get<UsageJson>(["usage"]),
    ]);
    const bars = (name: "received" | "sent" | "bounced") =>
      activity.series.map((one) => ({
        label: activity.bucket === "day"
          ? one.at.slice(0, 10)
          : one.at.slice(0, 16).replace("T", " "),
        value: one[name],
      }));
    const used = ({ used, limit }: UsedJson, text = countText) => `${text(used)} of ${text(limit)}`;
    const rate = (value: number | null) =>
      value === null ? "too few to say" : `${(100 * value).toFixed(value < 0.01 ? 2 : 1)}%`;
    const fact = (name: string, value: Html | string) => html`<dt>${name}</dt><dd>${value}</dd>\n`;
    // deno-fmt-ignore
    const content = html`<nav class="actions" aria-label="Period">${
      Object.entries(PERIODS).map(([name, label]) => html`<a class="button" href="/mail/figures?period=${name}"${name === period ? html` aria-current="true"` : ""}>${label}</a>`)
    }</nav>
<h2>Delivery ${chip({ word: health.state, tone: STATES[health.state] })}</h2><dl class="pairs">${
      fact("Bounced", html`${rate(health.bounce_rate)} <span class="soft">${countText(health.bounced.hard)} for good, ${countText(health.bounced.soft)} otherwise</span>`)
    }${fact("Complaints", rate(health.complaint_rate))}${fact("Sent", countText(health.sent))}${fact("Reported as delivered", countText(health.delivered))}${
      fact("Waiting", countText(health.pending + health.deferred))
    }${fact("Failed", countText(health.failed))}</dl>
<h2>Received</h2>${barChart("Received", bars("received"))}
<h2>Sent</h2>${barChart("Sent", bars("sent"))}
<h2>Bounced</h2>${barChart("Bounced", bars("bounced"))}
<h2>Limits</h2><dl class="pairs">${fact("Recipients today", used(usage.messages_sent))}${fact("Received today", countText(usage.messages_received))}${
      fact("Storage", used(usage.storage_bytes, sizeText))
    }${fact("Inboxes", used(usage.inboxes))}</dl>`;
    return await answerOrgPage(visit, "Figures", "Figures", content);
  },
);

interface OrgJson {
  org_id: string;
  trial: boolean;
  verified_email: string | null;
  expires_at: string | null;
  google_email: string | null;
  inboxes: { count: number; limit: number };
  pending_claim: { email: string; expires_at: string } | null;
}

/** What has to be typed before an org is deleted: what its owner calls it. */
const nameOf = ({ verified_email, org_id }: OrgJson) => verified_email ?? org_id;

async function answerOrg(visit: SignedInVisit, said: Said = {}): Promise<Response> {
  const [org, inboxes] = await Promise.all([
    visit.api.get<OrgJson>(["org"]),
    readInboxes(visit),
  ]);
  const path = "/mail/org";
  const { pending_claim: claim } = org;
  // deno-fmt-ignore
  const content = html`<dl class="pairs"><dt>Org</dt><dd><code class="whole">${org.org_id}</code></dd>
<dt>Owner</dt><dd>${org.verified_email === null ? "nobody yet: a trial" : shownText(org.verified_email)}</dd>
${org.expires_at === null ? "" : html`<dt>Trial ends</dt><dd>${org.expires_at.slice(0, 16).replace("T", " ")} UTC</dd>`}
${org.google_email === null ? "" : html`<dt>Google</dt><dd>${shownText(org.google_email)}</dd>`}</dl>
<h2 id="inboxes">Inboxes, ${org.inboxes.count} of ${org.inboxes.limit}</h2>
<ul>${inboxes.map(({ id, address }) => html`<li><a href="/mail/inboxes/${id}">${address}</a></li>`)}</ul>
<form method="post" action="${path}" class="card">${formFields(visit, path, { do: "inbox" })}<div class="field"><label for="local_part">A new inbox</label><input id="local_part" name="local_part" maxlength="64" autocomplete="off" placeholder="helpdesk"><span class="hint">What stands before the @. Empty: one is made up.</span></div><button${inboxes.length === 0 ? html` class="primary"` : ""}>Make the inbox</button></form>
<h2>Another address of the owner</h2><form method="post" action="${path}" class="card">${formFields(visit, path, { do: "claim" })}<div class="field"><label for="email">E-mail address</label><input id="email" name="email" type="email" required maxlength="254"><span class="hint">It gets a link. Once that is followed, the org is that address's; the former one can take it back for 7 days.</span></div>${
    claim === null ? "" : html`<p class="note">${shownText(claim.email)} was mailed a link, which works until ${claim.expires_at.slice(11, 16)} UTC.</p>`
  }<button>Send the link</button></form>
<h2>Delete the org</h2><form method="post" action="${path}" class="card">${formFields(visit, path, { do: "delete" })}<p>All mail, inboxes, keys and webhooks go for good, at once. The addresses are never given out again.</p><div class="field"><label for="typed">Type <b>${nameOf(org)}</b></label><input id="typed" name="typed" required autocomplete="off" spellcheck="false"></div><button class="danger">Delete ${nameOf(org)} and all its mail</button></form>`;
  return await answerOrgPage(visit, "Org", "Org", content, said);
}

const orgPage = page(
  {
    path: "/mail/org",
    id: "openOrg",
    summary: "The org",
    says: "Its owner and inboxes; a new inbox, another address, and its deletion.",
  },
  (visit) => answerOrg(visit),
);

const changeOrg = form(
  {
    path: "/mail/org",
    id: "changeOrgOfMailbox",
    summary: "Change the org",
    says:
      "Makes an inbox, mails a link to another address, or deletes the org, whose name is typed.",
  },
  ["do", "local_part", "email", "typed"],
  (visit, { do: what, local_part = "", email = "", typed = "" }) =>
    attempt(async () => {
      const { api } = visit;
      if (what === "inbox") {
        const named = local_part.trim().toLowerCase();
        const made = await api.send<InboxJson>("POST", ["inboxes"], {
          local_part: named === "" ? null : named,
        });
        return seeOther(`/mail/inboxes/${made!.id}`);
      }
      if (what === "claim") {
        await api.send("POST", ["org", "claim"], { email: email.trim() });
        return seeOther("/mail/org");
      }
      if (what !== "delete") throw invalidJson("do must be inbox, claim or delete");
      const org = await api.get<OrgJson>(["org"]);
      if (typed.trim().toLowerCase() !== nameOf(org).toLowerCase()) {
        throw invalidJson(`nothing was deleted: type ${nameOf(org)} to delete the org`);
      }
      await api.send("DELETE", ["org"], { org_id: org.org_id });
      return seeOther("/mail", { "Set-Cookie": mailCookie("", isSecureVisit(visit)) });
    }, (refusal) => answerOrg(visit, { refusal })),
);

export const ORG_ROUTES = [
  keysPage,
  changeKeys,
  webhooksPage,
  makeWebhook,
  webhookPage,
  changeWebhook,
  listsPage,
  changeLists,
  figuresPage,
  orgPage,
  changeOrg,
];
