/**
 * Secrets of webhooks and what is signed with them (Standard Webhooks 1.0): an HMAC-SHA256 over id, second
 * and body. At rest they are sealed under a key of the area's one secret, so that a changed custody key
 * reseals none of them.
 */
import { createHmac } from "node:crypto";
import { KeyRing } from "../../base/sealing/key_ring.ts";
import { DAY_MS } from "../../base/time/time_units.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import type { WebhookRecord } from "../records/webhook_record.ts";

export const SECRET_PREFIX = "rmwh_";
const SECRET_BYTES = 32;
/** For so long a former secret signs beside the new one. */
const FORMER_SIGNS_MS = DAY_MS;

type Sealed = WebhookRecord["secrets"];

export interface NewSecret {
  /** Shown once. */
  secret: string;
  sealed: Sealed[number];
}

export class WebhookSecrets {
  constructor(
    private readonly services: {
      secret: Pick<MailSecret, "key">;
      random: (sizeBytes: number) => Uint8Array;
    },
  ) {}

  /** A new secret for a webhook. */
  async make(webhookId: string): Promise<NewSecret> {
    const bytes = new Uint8Array(this.services.random(SECRET_BYTES));
    const sealed = (await this.#ring()).seal(bytes, boundTo(webhookId));
    return { secret: SECRET_PREFIX + bytes.toBase64(), sealed: { ...sealed, untilMs: null } };
  }

  /** The headers that sign one attempt. @param atMs unix ms of the attempt */
  async sign(
    { id, secrets }: Pick<WebhookRecord, "id" | "secrets">,
    eventId: string,
    body: Uint8Array,
    atMs: number,
  ): Promise<Record<string, string>> {
    const second = String(Math.floor(atMs / 1000));
    const signatures = (await this.#keys({ id, secrets }, atMs)).map((key) => {
      const hmac = createHmac("sha256", key);
      return `v1,${hmac.update(`${eventId}.${second}.`).update(body).digest("base64")}`;
    });
    return {
      "webhook-id": eventId,
      "webhook-timestamp": second,
      "webhook-signature": signatures.join(" "),
    };
  }

  /** The secrets that sign at a time, as they were shown: for local mode, whose orgs are one person's. */
  async texts(webhook: Pick<WebhookRecord, "id" | "secrets">, atMs: number): Promise<string[]> {
    return (await this.#keys(webhook, atMs)).map((key) => SECRET_PREFIX + key.toBase64());
  }

  async #keys({ id, secrets }: Pick<WebhookRecord, "id" | "secrets">, atMs: number) {
    const ring = await this.#ring();
    return secrets
      .filter(({ untilMs }) => untilMs === null || atMs < untilMs)
      .map((sealed) => ring.open(sealed, boundTo(id)));
  }

  async #ring(): Promise<KeyRing> {
    const { secret, random } = this.services;
    return new KeyRing([await secret.key("mail-webhook")], random);
  }
}

/** The secrets once another is made: it comes first, and the one before signs for a day yet. Pure. */
export function rotated([former]: Sealed, next: NewSecret["sealed"], nowMs: number): Sealed {
  return [next, { ...former!, untilMs: nowMs + FORMER_SIGNS_MS }];
}

const boundTo = (webhookId: string) => new TextEncoder().encode(`relay mail webhook:${webhookId}`);
