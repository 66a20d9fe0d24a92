/** POST /v1/mail/inbound/raw: the operator's gateway hands in a message (docs/mail.md). */
import { JSON_HEADERS, NO_STORE } from "../../base/http/answers/answer.ts";
import { readBody } from "../../base/http/routes/read_body.ts";
import type { Limits } from "../../base/config/limits.ts";
import type { PossibleTimes } from "../../base/storage/rows/timely.ts";
import type { MailHandlers } from "../access/paths.ts";
import { parseEnvelope } from "./envelope.ts";
import {
  gatewayOff,
  readGatewayHeaders,
  requireGatewaySignature,
} from "./reports/gateway_signature.ts";
import type { RefusedCode } from "./received_mail.ts";
import type { Receiver } from "./receiver.ts";
import type { RememberedAnswer, RememberedAnswers, StagedAnswer } from "./remembered_answers.ts";
import { type ReceivingResult, resultOf } from "./receiving_result.ts";

export interface ReceivingRouteServices {
  receiver: Receiver;
  remembered: RememberedAnswers;
  /** At least 24 bytes; null where none is set, so that nothing can be handed in. */
  inboundSecret: Uint8Array | null;
  limits: Limits;
  store: { clock: PossibleTimes };
}

const ENVELOPE_HEADER = "X-Relay-Envelope";

export function receivingHandlers(
  { receiver, remembered, inboundSecret, limits, store }: ReceivingRouteServices,
) {
  return {
    async receiveMail({ c }) {
      if (inboundSecret === null) throw gatewayOff();
      const { headers } = c.req.raw;
      const header = headers.get(ENVELOPE_HEADER);
      const envelope = parseEnvelope(header);
      const signed = readGatewayHeaders(headers, store.clock, limits.signatureWindowSeconds);
      const raw = await readBody(c);
      await requireGatewaySignature(signed, inboundSecret, `${header}.`, raw);
      const entry = await remembered.at(signed.id);
      const former = await entry.find();
      if (former !== null) return give(former);
      let kept: StagedAnswer | null = null;
      const outcomes = await receiver.receive({ ...envelope, raw }, {
        stage: (transaction, outcomes) => entry.stage(transaction, answerTo(resultOf(outcomes))),
        committed: (staged) => void (kept = staged as StagedAnswer),
      });
      const result = resultOf(outcomes);
      const staged = kept as StagedAnswer | null; // set by the callback
      return give(staged === null ? await entry.keep(answerTo(result)) : await staged());
    },
  } satisfies MailHandlers;
}

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
