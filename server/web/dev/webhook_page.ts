/** What webhooks delivered, as pages. What others wrote, answers included, is shown as text alone. */
import { html } from "hono/html";
import { LIVE_SCRIPT } from "../../base/pages/asset_files.ts";
import {
  codeBlock,
  countText,
  factList,
  type Html,
  shownText,
  timeText,
} from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import { liveBar, type LivePeriod } from "../../base/pages/live_bar.ts";
import { visibleText } from "../../base/pages/visible_text.ts";
import type { CapturedRequest, SignatureVerdict } from "./captured_request.ts";
import type { RecentDelivery } from "./local_webhooks.ts";

export interface WebhooksShown {
  /** The newest first, as the deliveries. */
  requests: readonly CapturedRequest[];
  deliveries: readonly RecentDelivery[];
  /** Origin of the relay's links. */
  baseUrl: string;
  period: LivePeriod | undefined;
}

const VERDICTS: Readonly<Record<SignatureVerdict, string>> = {
  "ok": "a secret of this webhook signed it",
  "wrong": "a webhook of this relay points here, but no secret of it signed this",
  "unknown secret": "no webhook of this relay points here, so that nothing is known of its secret",
  "missing": "webhook-id, webhook-timestamp or webhook-signature is not there",
  "bad time": "webhook-timestamp is no time, or over 5 minutes from the clock",
};
const SHOWN_BODY = 64 * 1024;

export function webhooksPage(shown: WebhooksShown): Promise<string> {
  const { requests, deliveries, baseUrl, period } = shown;
  const attempts = deliveries.map((delivery) => deliveryLine(delivery, requests));
  // deno-fmt-ignore
  const body = html`<p>Local mode: webhooks may point to this machine. The receiver here takes what they
deliver, checks its signature, and keeps the newest 100 requests in memory until the relay stops.
<a href="/dev/mail">Captured mail</a> has a page of its own.</p>
${liveBar("/dev/webhooks", period)}
<h2>What this relay delivered</h2>
<section id="deliveries" data-live>
${lines(attempts, "No attempt yet: each that the relay makes, to any receiver, will be a line here.")}
</section>
<h2>What came to the receiver here</h2>
<section id="received" data-live>
${lines(requests.map(requestLine), "Nothing yet: what comes will be a line here, with the verdict on its signature.")}
</section>
<h2>Point a webhook here, and make it fail</h2>
${pointHere(baseUrl)}`;
  const scripts = period === undefined ? [LIVE_SCRIPT] : [];
  return frame("Webhooks", body, { isWide: true, scripts });
}

export function requestPage(request: CapturedRequest): Promise<string> {
  const { number, name, atMs, target, event, signature, status, headers, body } = request;
  const { verdict, webhookId } = signature;
  const text = readable(body);
  // deno-fmt-ignore
  const content = html`<p><a href="/dev/webhooks">All deliveries</a></p>
<div class="card">${factList([
    ["Came", timeText(atMs)],
    event === null ? null : ["Event", html`<code class="copy">${event.id}</code>`],
    ["Receiver", html`${name} <span class="soft">${shownText(target)}</span>`],
    ["Signature", html`${verdictBadge(verdict)} ${VERDICTS[verdict]}${webhookId === null ? "" : html`, <code>${webhookId}</code>`}`],
    ["Answered", statusBadge(status)],
  ])}</div>
<h2>Body</h2>
${text.length > SHOWN_BODY ? html`<p>It is long: this is its beginning.</p>` : ""}
<pre>${shownText(text.slice(0, SHOWN_BODY), { keepsLines: true })}</pre>
<p><a href="/dev/webhooks/${number}/raw">The body as it was sent</a>, ${countText(body.length)} bytes</p>
<h2>Headers</h2>
${factList(headers.map(([key, value]) => [visibleText(key), shownText(value)]))}`;
  return frame(event?.type ?? "A request that is no event", content, { isWide: true });
}

function lines(items: readonly Html[], none: string): Html {
  return items.length === 0 ? html`<p>${none}</p>` : html`<ol class="events">${items}</ol>`;
}

function pointHere(baseUrl: string): Html {
  const url = `${baseUrl}/dev/webhooks/receiver/demo`;
  return html`<p>With the API key of an org in <code>$key</code>:</p>
${
    codeBlock(
      `curl -s ${baseUrl}/v1/mail/webhooks -H "Authorization: Bearer $key" \\
  -d '{"url":"${url}?status=500&times=1"}'`,
      { language: "sh" },
    )
  }
<p>The last part of the path is a name of your choice. The query says what is answered; without it, 204:</p>
${
    factList([
      ["status", "the status, 200 to 599"],
      ["times", "so many deliveries of each event get it, then 204; all unless given"],
      ["retry_after", html`seconds, as <code>Retry-After</code>`],
      ["delay_ms", "how long the answer is held, at most 60,000 ms; the relay waits 15 s"],
    ])
  }`;
}

function requestLine(request: CapturedRequest): Html {
  const { number, atMs, name, event, signature, status } = request;
  return html`<li><span><a href="/dev/webhooks/${number}">${event?.type ?? "no event"}</a>
${verdictBadge(signature.verdict)} ${
    statusBadge(status)
  } <span class="soft">to ${name}</span></span>
${timeText(atMs)}</li>`;
}

function deliveryLine(delivery: RecentDelivery, requests: readonly CapturedRequest[]): Html {
  const { type, attempt, at, duration_ms: ms, status, error, url, response } = delivery;
  const next = delivery.next_attempt_at;
  const request = requestOf(delivery, requests);
  const outcome = status === null ? badge("wrong", error ?? "no answer") : statusBadge(status);
  const link = request === undefined
    ? html`${type}`
    : html`<a href="/dev/webhooks/${request.number}">${type}</a>`;
  const again = next === null ? "" : html`, again at ${timeText(Date.parse(next))}`;
  // deno-fmt-ignore
  const answer = response === "" ? "" : html`<details><summary>What was answered</summary>
<pre>${shownText(response, { keepsLines: true })}</pre></details>`;
  return html`<li><span>${link} ${outcome}</span>
${timeText(Date.parse(at))}
<span class="hint">attempt ${attempt}, ${countText(ms)} ms${again}, to ${shownText(url)}</span>
${answer}</li>`;
}

/** The request of an attempt, where the receiver here was sent it: by event, URL and time. */
function requestOf(
  { event_id: id, url, at, duration_ms: durationMs }: RecentDelivery,
  requests: readonly CapturedRequest[],
): CapturedRequest | undefined {
  const parsed = URL.parse(url);
  const target = `${parsed?.pathname}${parsed?.search}`;
  const beganMs = Date.parse(at);
  return requests.find((one) =>
    one.event?.id === id && one.target === target && one.atMs >= beganMs &&
    one.atMs <= beganMs + durationMs
  );
}

function verdictBadge(verdict: SignatureVerdict): Html {
  return badge(verdict === "ok" ? "" : "wrong", `signature ${verdict}`);
}

function statusBadge(status: number): Html {
  return badge(status < 300 ? "" : "wrong", `answered ${status}`);
}

function badge(kind: "" | "wrong", words: string): Html {
  // deno-fmt-ignore
  return html`<span class="badge${kind === "" ? "" : " wrong"}">${words}</span>`;
}

/** JSON in lines, as people read it; anything else as it is. */
function readable(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
