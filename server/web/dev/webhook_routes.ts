/** /dev/webhooks: what the relay's webhooks delivered, and a receiver to point them at (docs/mail.md). */
import type { Context } from "hono";
import { RelayError } from "../../base/errors.ts";
import { namesHtml } from "../../base/http/answers/names_html.ts";
import { integer, readQuery } from "../../base/http/fields/query.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { HttpEnv, Route } from "../../base/http/routes/route.ts";
import { LIVE, liveHeaders } from "../../base/pages/live_bar.ts";
import type { Deps } from "../../base/parts/deps.ts";
import { Pause } from "../../base/waiting/pause.ts";
import {
  type CapturedRequest,
  checkSignature,
  openCapturedRequests,
  readEvent,
} from "./captured_request.ts";
import {
  answerBytes,
  answerPerson,
  answerProgram,
  LOCAL_HEADERS,
  localRoute,
  numberIn,
} from "./local_route.ts";
import type { LocalWebhooks } from "./local_webhooks.ts";
import { requestPage, webhooksPage } from "./webhook_page.ts";

export interface WebhookRouteServices extends Pick<Deps, "now"> {
  webhooks: LocalWebhooks;
  /** Origin of the relay's links. */
  baseUrl: string;
}

const PATH = "/dev/webhooks";
const TAKEN = 204;
/** What the receiver is told to do, in the query of its URL. */
const ANSWER_QUERY = {
  status: integer(200, 599, TAKEN),
  times: integer(0, 1_000_000, undefined),
  delay_ms: integer(0, 60_000, 0),
  retry_after: integer(0, 86_400, undefined),
};
/** Answers of these may have no content. */
const WITHOUT_CONTENT: readonly number[] = [204, 205, 304];

export interface LocalReceiver {
  routes: Route[];
  /** Answers what still waits. */
  endWaits(): void;
}

/** Mounted in local mode alone: elsewhere these paths are unknown. */
export function webhookRoutes({ webhooks, baseUrl, now }: WebhookRouteServices): LocalReceiver {
  const route = localRoute(baseUrl, "the receiver of webhooks");
  const requests = openCapturedRequests();
  const pauses = new Set<Pause>();
  let isEnding = false;

  function find(c: Context<HttpEnv>): CapturedRequest {
    const number = numberIn(c);
    const request = number === undefined ? undefined : requests.find(number);
    if (request !== undefined) return request;
    throw new RelayError(
      "not_found",
      "no captured request has this number: the newest 100 are kept until the relay stops; GET /dev/webhooks lists them",
    );
  }

  async function wait(ms: number): Promise<void> {
    if (ms === 0 || isEnding) return;
    const pause = new Pause();
    pauses.add(pause);
    await pause.begin(ms);
    pauses.delete(pause);
  }

  /** Fails the first deliveries of an event where it is told how many, else all. */
  function statusFor(
    { status, times }: { status: number; times: number | undefined },
    name: string,
    event: CapturedRequest["event"],
  ): number {
    if (times === undefined) return status;
    const former = requests.newestFirst.filter((one) =>
      one.name === name && one.event?.id === event?.id
    );
    return former.length < times ? status : TAKEN;
  }

  return {
    endWaits() {
      isEnding = true;
      for (const pause of pauses) pause.end();
    },
    routes: [
      route("GET", PATH, async (c) => {
        const deliveries = await webhooks.recentDeliveries();
        const shown = { requests: requests.newestFirst, deliveries };
        if (namesHtml(c.req.raw)) {
          const { live } = readQuery(c.get("query"), { live: LIVE });
          const page = await webhooksPage({ ...shown, baseUrl, period: live });
          return answerPerson(page, liveHeaders(live));
        }
        return answerProgram({ data: shown.requests.map(rowOf), next_cursor: null, deliveries });
      }),
      route("GET", `${PATH}/{n}`, async (c) => {
        const request = find(c);
        return namesHtml(c.req.raw)
          ? answerPerson(await requestPage(request))
          : answerProgram(detailOf(request));
      }),
      route("GET", `${PATH}/{n}/raw`, (c) => answerBytes(find(c).body)),
      route("POST", `${PATH}/receiver/{name}`, async (c) => {
        const path = c.get("path");
        const query = c.get("query");
        const name = path.split("/")[4]!;
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
          throw new RelayError("not_found", "the name of a receiver is 1 to 64 of A-Z a-z 0-9 _ -");
        }
        const { delay_ms: delayMs, retry_after: retryAfter, ...told } = readQuery(
          query,
          ANSWER_QUERY,
          "query parameter",
        );
        const body = await readBody(c);
        const { headers } = c.req.raw;
        const event = readEvent(body);
        const status = statusFor(told, name, event);
        const nowMs = now();
        const signature = checkSignature({ headers, body, path }, await webhooks.known(), nowMs);
        requests.add((number) => ({
          number,
          atMs: nowMs,
          name,
          target: query === "" ? path : `${path}?${query}`,
          headers: [...headers],
          body,
          event,
          signature,
          status,
        }));
        await wait(delayMs);
        return answerAs(status, retryAfter);
      }),
    ],
  };
}

function answerAs(status: number, retryAfter: number | undefined): Response {
  const content = WITHOUT_CONTENT.includes(status)
    ? null
    : `${status}, as the query of this receiver says\n`;
  return new Response(content, {
    status,
    headers: {
      ...LOCAL_HEADERS,
      ...(content === null ? {} : { "Content-Type": "text/plain; charset=utf-8" }),
      ...(retryAfter === undefined ? {} : { "Retry-After": String(retryAfter) }),
    },
  });
}

function rowOf({ number, atMs, name, event, signature, status, body }: CapturedRequest) {
  return {
    n: number,
    at: new Date(atMs).toISOString(),
    receiver: name,
    event_id: event?.id ?? null,
    type: event?.type ?? null,
    signature: signature.verdict,
    webhook_id: signature.webhookId,
    status,
    size: body.length,
  };
}

function detailOf(request: CapturedRequest) {
  return {
    ...rowOf(request),
    target: request.target,
    headers: Object.fromEntries(request.headers),
    body: new TextDecoder().decode(request.body),
  };
}
