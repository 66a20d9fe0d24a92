/** POST /v1/mail/events: the operator's gateway hands in what became of mails (docs/mail.md). */
import { invalidJson } from "../../../base/errors.ts";
import { answerJson, NO_STORE } from "../../../base/http/answers/answer.ts";
import { readObject } from "../../../base/http/fields/json_body.ts";
import { readBody } from "../../../base/http/routes/read_body.ts";
import type { Limits } from "../../../base/config/limits.ts";
import type { PossibleTimes } from "../../../base/storage/rows/timely.ts";
import type { MailHandlers } from "../../access/paths.ts";
import { gatewayOff, readGatewayHeaders, requireGatewaySignature } from "./gateway_signature.ts";
import type { DeliveryEvents } from "./delivery_events.ts";

export interface DeliveryRouteServices {
  events: DeliveryEvents;
  /** At least 24 bytes; null where none is set, so that nothing can be handed in. */
  inboundSecret: Uint8Array | null;
  limits: Pick<Limits, "signatureWindowSeconds">;
  store: { clock: PossibleTimes };
}

export const MAX_EVENTS = 1_000;

export function deliveryHandlers(
  { events, inboundSecret, limits, store }: DeliveryRouteServices,
) {
  return {
    async receiveMailEvents({ c }) {
      if (inboundSecret === null) throw gatewayOff();
      const { headers } = c.req.raw;
      const signed = readGatewayHeaders(headers, store.clock, limits.signatureWindowSeconds);
      const raw = await readBody(c);
      await requireGatewaySignature(signed, inboundSecret, "", raw);
      const { events: given } = readObject(raw);
      if (!Array.isArray(given) || given.length > MAX_EVENTS) {
        throw invalidJson(`events must be an array of at most ${MAX_EVENTS} delivery events`);
      }
      return answerJson(await events.apply(given), 200, NO_STORE);
    },
  } satisfies MailHandlers;
}
