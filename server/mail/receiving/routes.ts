/** POST /v1/mail/inbound/raw: the operator's gateway hands in a message (mail page, "Receiving"). */
import { unavailable } from "../../errors.ts";
import { JSON_HEADERS, NO_STORE } from "../../http/answer.ts";
import { readBody } from "../../http/read_body.ts";
import type { Limits } from "../../limits.ts";
import type { MailHandlers } from "../mail_routes.ts";
import { parseEnvelope } from "./envelope.ts";
import { gatewayOff, readGatewayHeaders, requireGatewaySignature } from "./gateway_signature.ts";
import { isTemporary, type Outcome } from "./received_mail.ts";
import type { Receiver } from "./receiver.ts";
import type { RememberedAnswer, RememberedAnswers } from "./remembered_answers.ts";

export interface ReceivingRouteServices {
  receiver: Receiver;
  remembered: RememberedAnswers;
  /** At least 24 bytes; null where none is set, so that nothing can be handed in. */
  inboundSecret: Uint8Array | null;
  limits: Limits;
  now: () => number;
}

const ENVELOPE_HEADER = "X-Relay-Envelope";
const RETRY_AFTER_MS = 60_000;

export function receivingHandlers(
  { receiver, remembered, inboundSecret, limits, now }: ReceivingRouteServices,
) {
  return {
    async receiveMail({ c }) {
      if (inboundSecret === null) throw gatewayOff();
      const { headers } = c.req.raw;
      const header = headers.get(ENVELOPE_HEADER);
      const envelope = parseEnvelope(header);
      const signed = readGatewayHeaders(headers, now(), limits.signatureWindowSeconds);
      const raw = await readBody(c);
      await requireGatewaySignature(signed, inboundSecret, `${header}.`, raw);
      const former = await remembered.find(signed.id);
      if (former !== null) return give(former);
      const outcomes = await receiver.receive({ ...envelope, raw });
      requireFinal(outcomes);
      return give(await remembered.keep(signed.id, answerTo(outcomes)));
    },
  } satisfies MailHandlers;
}

/** @throws RelayError `unavailable` where an address has to be tried again */
function requireFinal(outcomes: readonly Outcome[]): void {
  const open = outcomes.filter(isTemporary);
  if (open.length === 0) return;
  const waits = open.map((one) => one.code === null ? 0 : one.retryAfterMs ?? RETRY_AFTER_MS);
  throw unavailable(
    `${open.length} of ${outcomes.length} recipients have no room or rate for this message now; ` +
      "hand it in again later: those that have it are answered the same again",
    Math.max(...waits),
  );
}

function answerTo(outcomes: readonly Outcome[]): RememberedAnswer {
  const accepted = outcomes.filter(({ code }) => code === null).map(({ address }) => address);
  const rejected = outcomes.filter(({ code }) => code !== null).map(({ address, code }) => ({
    address,
    code,
  }));
  const body = accepted.length > 0 ? { accepted, rejected } : {
    error: {
      code: "not_found",
      message: "no recipient of this message has an inbox here that takes it",
    },
    rejected,
  };
  return {
    status: accepted.length > 0 ? 200 : 404,
    body: new TextEncoder().encode(JSON.stringify(body)),
  };
}

function give({ status, body }: RememberedAnswer): Response {
  return new Response(body, { status, headers: { ...JSON_HEADERS, ...NO_STORE } });
}
