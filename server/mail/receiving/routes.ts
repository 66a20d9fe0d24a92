/** POST /v1/mail/inbound/raw: the operator's gateway hands in a message (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import { unkept } from "../access/schemas.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { parseEnvelope } from "./envelope.ts";
import type { RefusedCode } from "./received_mail.ts";
import type { Receiver } from "./receiver.ts";
import { type ReceivingResult, resultOf } from "./receiving_result.ts";
import { type RememberedAnswer, RememberedAnswers } from "./remembered_answers.ts";
import { gatewayRoute } from "./reports/gateway_route.ts";

const ENVELOPE = "X-Relay-Envelope";

const Headers = z.object({
  "webhook-id": z.string().openapi({ description: "Remembered for 10 minutes." }),
  [ENVELOPE]: z.string().openapi({
    description:
      'ASCII JSON `{"from", "to": [...], "client_ip"?, "client_helo"?}`: from "" for the ' +
      "null sender, to 1 to 100 addresses.",
  }),
});

const Accepted = z.object({
  accepted: z.array(z.string()),
  rejected: z.array(z.object({
    address: z.string(),
    code: z.enum(["not_found", "blocked", "org_suspended"]),
  })),
}).openapi("InboundAnswer");

const receiveMail = gatewayRoute({
  method: "POST",
  path: "/v1/mail/inbound/raw",
  id: "receiveMail",
  summary: "Hand in a received message",
  bodyLimit: "mailInboundBytes",
  signedHeader: { name: ENVELOPE, parse: parseEnvelope },
  words: ({ limits }) => ({
    description: "For the operator's gateway: a message as it came, of at most " +
      `${limits.mailInboundBytes} bytes, for the inboxes that its envelope names. The envelope is ` +
      "signed with it.\n\nThe same bytes and envelope sender are stored once an inbox within 24 " +
      "hours, and accepted again. On 503 hand it in again later.",
    headers: Headers,
    body: {
      description: "The message (RFC 5322).",
      type: "message/rfc822",
      schema: z.string().openapi({ format: "binary" }),
    },
    answers: { 200: unkept("Stored for those who are accepted.", Accepted) },
    errors: {
      invalid_json: "X-Relay-Envelope is missing or malformed",
      not_found:
        "no recipient takes it, the message says why; or no RELAY_MAIL_INBOUND_SECRET is set",
      unavailable: "a recipient has no room or rate now, or the disk is full",
    },
  }),
  handle(services: MailCore & { receiver: Receiver }) {
    const remembered = new RememberedAnswers(services);
    return async ({ id, head: envelope, raw }) => {
      const key = remembered.keyOf(id);
      const former = await remembered.find(key);
      if (former !== null) return give(former);
      const { outcomes, staged } = await services.receiver.receive(
        { ...envelope, raw },
        (transaction, all) => remembered.stage(transaction, key, answerTo(resultOf(all))),
      );
      if (staged !== null) return give(await staged());
      return give(await remembered.keep(key, answerTo(resultOf(outcomes))));
    };
  },
});

export const RECEIVING_ROUTES = [receiveMail];

function answerTo({ accepted, rejected }: ReceivingResult): RememberedAnswer {
  const body = accepted.length > 0 ? { accepted, rejected } : {
    error: { code: "not_found", message: nobodyOf(rejected) },
  };
  return {
    status: accepted.length > 0 ? 200 : 404,
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}

/** An error has one shape, so that its words say why; addresses stay out of them. */
function nobodyOf(rejected: ReceivingResult["rejected"]): string {
  const counts = new Map<RefusedCode, number>();
  for (const { code } of rejected) counts.set(code, (counts.get(code) ?? 0) + 1);
  const told = [...counts].map(([code, count]) => `${code}: ${count}`).join(", ");
  return `no recipient of this message has an inbox here that takes it (${told})`;
}

function give({ status, body }: RememberedAnswer): Response {
  const headers = status === 200 ? { ...JSON_HEADERS, ...NO_STORE } : JSON_HEADERS;
  return new Response(body, { status, headers });
}
