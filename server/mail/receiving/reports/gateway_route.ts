/**
 * How a route of the operator's gateway is declared: Standard Webhooks, with what else is signed before
 * the body. Its checks in their order: is a secret set, the header that is signed beside the body, the
 * headers of the signature, the body, and whether the signature is over all that.
 */
import { z } from "@hono/zod-openapi";
import { base64 } from "@scure/base";
import { createHmac, timingSafeEqual } from "node:crypto";
import { type MountServices, wordsFor } from "../../../base/description/declaration.ts";
import { RelayError } from "../../../base/errors.ts";
import { hashInSlices } from "../../../base/slices/hash_in_slices.ts";
import { isTimely, type PossibleTimes } from "../../../base/storage/rows/timely.ts";
import { type MailDeclaration, type OpenRoute, openRoute } from "../../access/mail_route.ts";

/** A request that the gateway has signed. */
export interface GatewayRequest<Head> {
  /** webhook-id */
  id: string;
  /** What the header says that is signed beside the body. */
  head: Head;
  raw: Uint8Array<ArrayBuffer>;
}

export interface GatewayServices extends MountServices {
  /** At least 24 bytes; null where none is set, so that nothing can be handed in. */
  inboundSecret: Uint8Array | null;
  store: { clock: PossibleTimes };
}

export interface GatewayRoute<Services, Head>
  extends Omit<OpenRoute<Services>, "may" | "addition" | "note" | "handle"> {
  /** A header that is signed with the body; its words stand with the route's. */
  signedHeader?: {
    name: string;
    /** @param header as it came; null where it is missing. @throws RelayError where it is malformed */
    parse(header: string | null): Head;
  };
  handle: (services: Services) => (request: GatewayRequest<Head>) => Promise<Response>;
}

/** @param route its headers and refusals, without the signature's */
export function gatewayRoute<Services, Head>(
  { handle, signedHeader, words, ...facts }: GatewayRoute<Services, Head>,
): MailDeclaration<Services & GatewayServices> {
  return openRoute<Services & GatewayServices>({
    ...facts,
    may: "gateway",
    addition: true,
    note: "Signed by the operator's gateway.",
    words(setting) {
      const own = wordsFor(words, setting);
      return {
        ...own,
        headers: signatureHeaders(signedHeader?.name).extend(own.headers?.shape ?? {}),
        errors: {
          invalid_signature: null,
          timestamp_out_of_range: null,
          payload_too_large: null,
          ...own.errors,
        },
      };
    },
    handle(services) {
      const { inboundSecret, limits: { signatureWindowSeconds }, store } = services;
      const answer = handle(services);
      return async ({ c, bytes }) => {
        if (inboundSecret === null) throw gatewayOff();
        const { headers } = c.req.raw;
        const header = signedHeader === undefined ? null : headers.get(signedHeader.name);
        const head = signedHeader?.parse(header) as Head;
        const signed = readGatewayHeaders(headers, store.clock, signatureWindowSeconds);
        const raw = await bytes();
        const between = signedHeader === undefined ? "" : `${header}.`;
        await requireGatewaySignature(signed, inboundSecret, between, raw);
        return await answer({ id: signed.id, head, raw });
      };
    },
  });
}

function signatureHeaders(signedHeader: string | undefined): z.ZodObject {
  const between = signedHeader === undefined ? "" : `{${signedHeader}}.`;
  return z.object({
    "webhook-id": z.string(),
    "webhook-timestamp": z.string().openapi({ description: "Unix seconds." }),
    "webhook-signature": z.string().openapi({
      description: "`v1,` and base64 of the HMAC-SHA256 under RELAY_MAIL_INBOUND_SECRET over " +
        `\`{webhook-id}.{webhook-timestamp}.${between}\` followed by the body.`,
    }),
  });
}

function gatewayOff(): RelayError {
  return new RelayError(
    "not_found",
    "nothing can be handed in here: the operator has set no RELAY_MAIL_INBOUND_SECRET",
  );
}

/** What a request says about its signature, checked except for the body. */
interface GatewayHeaders {
  /** webhook-id */
  id: string;
  timestamp: string;
  /** HMACs; one has to match, 32 bytes each. */
  macs: readonly Uint8Array<ArrayBuffer>[];
}

const MAX_ID = 255;
const MAX_SIGNATURES = 16;
const MAC_BYTES = 32;
const encoder = new TextEncoder();

/**
 * @throws RelayError `invalid_signature` for headers that are missing or of another form,
 * `timestamp_out_of_range`
 */
function readGatewayHeaders(
  headers: Headers,
  clock: PossibleTimes,
  windowSeconds: number,
): GatewayHeaders {
  const id = headers.get("webhook-id") ?? "";
  const timestamp = headers.get("webhook-timestamp") ?? "";
  const macs = readMacs(headers.get("webhook-signature") ?? "");
  if (!/^[\x21-\x7e]+$/.test(id) || id.length > MAX_ID || macs.length === 0) {
    throw wrongSignature();
  }
  if (!/^[0-9]{1,15}$/.test(timestamp)) throw wrongSignature();
  if (!isTimely(Number(timestamp), clock, windowSeconds)) {
    throw new RelayError(
      "timestamp_out_of_range",
      `webhook-timestamp must be within ${windowSeconds} seconds of the relay's time, which the Date header gives; sign the request again`,
    );
  }
  return { id, timestamp, macs };
}

function readMacs(header: string): Uint8Array<ArrayBuffer>[] {
  return header.split(" ", MAX_SIGNATURES).flatMap((part) => {
    if (!part.startsWith("v1,")) return [];
    try {
      const mac = base64.decode(part.slice("v1,".length)) as Uint8Array<ArrayBuffer>;
      return mac.length === MAC_BYTES ? [mac] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Requires that one of the signatures is over `{id}.{timestamp}.{signed}` and the bytes. The digest
 * of a large body is made in slices.
 * @param secret at least 24 bytes
 * @param signed what stands between timestamp and body, its dot included
 * @throws RelayError `invalid_signature`
 */
async function requireGatewaySignature(
  { id, timestamp, macs }: GatewayHeaders,
  secret: Uint8Array,
  signed: string,
  body: Uint8Array,
): Promise<void> {
  const expected = await macOf(secret, encoder.encode(`${id}.${timestamp}.${signed}`), body);
  if (macs.some((mac) => timingSafeEqual(mac, expected))) return;
  throw wrongSignature();
}

async function macOf(secret: Uint8Array, head: Uint8Array, body: Uint8Array): Promise<Uint8Array> {
  const hmac = createHmac("sha256", secret).update(head);
  return (await hashInSlices(hmac, body)).digest();
}

function wrongSignature(): RelayError {
  return new RelayError(
    "invalid_signature",
    "webhook-id, webhook-timestamp and webhook-signature must be there, and webhook-signature must be v1, and base64 of the HMAC-SHA256 of {webhook-id}.{webhook-timestamp}.{X-Relay-Envelope}.{body}, for events without the envelope, under RELAY_MAIL_INBOUND_SECRET",
  );
}
