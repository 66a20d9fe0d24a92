/** Events of mail as the commits that raise them write them, and the webhooks that hear them. */
import { outgoingKey, type OutgoingRow } from "../../server/base/outgoing/outgoing_row.ts";
import {
  EVENT_KIND,
  eventKey,
  type EventPayload,
  type EventRow,
  type EventType,
  type WebhookFilter,
} from "../../server/mail/records/event_record.ts";
import type { MessageRow } from "../../server/mail/records/message_record.ts";
import { orgKey } from "../../server/mail/records/org_record.ts";
import { webhookKey, type WebhookRecord } from "../../server/mail/records/webhook_record.ts";
import { rawOf, setBy } from "./read_through.ts";

export interface RaisedEvent {
  id: string;
  row: EventRow;
  payload: EventPayload;
}

export interface RaisedEvents {
  /** Over the one that was given. */
  kv: Deno.Kv;
  /** Those that were raised since the last call, in the order of their commits. */
  take(): RaisedEvent[];
}

/** A store that remembers the events that are raised in it, whatever becomes of their rows. */
export function watchEvents(given: Deno.Kv): RaisedEvents {
  const kv = rawOf(given);
  const raised = new Map<string, RaisedEvent>();
  const known = new Set<string>();
  const atomic = () => {
    const operation = kv.atomic();
    const rows = new Map<string, EventRow>();
    const payloads = new Map<string, EventPayload>();
    const watched: Deno.AtomicOperation = new Proxy(operation, {
      get(target, name) {
        const member = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return (...args: unknown[]) => {
          if (name === "set") {
            for (const [key, value] of setBy(...args as [Deno.KvKey, unknown])) {
              const id = String(key.at(-1));
              if (key[0] === eventKey.under()[0]) rows.set(id, value as EventRow);
              const isQueued = key[0] === outgoingKey.under()[0] &&
                (value as OutgoingRow).kind === EVENT_KIND;
              if (isQueued) payloads.set(id, (value as OutgoingRow<EventPayload>).payload);
            }
          }
          const result = member.apply(target, args);
          if (name !== "commit") return result === target ? watched : result;
          return result.then((outcome: { ok: boolean }) => {
            for (const [id, row] of outcome.ok ? rows : []) {
              if (known.has(id)) continue;
              known.add(id);
              raised.set(id, { id, row, payload: payloads.get(id)! });
            }
            return outcome;
          });
        };
      },
    });
    return watched;
  };
  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (name === "atomic") return atomic;
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    take() {
      const taken = [...raised.values()];
      raised.clear();
      return taken;
    },
  };
}

let made = 0;

/** A webhook that hears all, unless said otherwise. */
export function webhookFilter(fields: Partial<WebhookFilter> = {}): WebhookFilter {
  const id = `wh_01JD${String(++made).padStart(22, "0")}`;
  return { id, events: null, inboxIds: [], isActive: true, ...fields };
}

/** Has webhooks hear of an org, from its next commit on; nobody listens where they are. @returns their ids */
export async function putWebhooks(
  kv: Deno.Kv,
  orgId: string,
  ...webhooks: WebhookFilter[]
): Promise<string[]> {
  const key = orgKey(orgId);
  const { value } = await kv.get<object>(key);
  if (value === null) throw new Error(`the store has no org ${orgId}`);
  await kv.set(key, { ...value, webhooks });
  for (const { isActive, ...filter } of webhooks) {
    const record: WebhookRecord = {
      ...filter,
      v: 1,
      orgId,
      url: "http://127.0.0.1:9/",
      disabledReason: isActive ? null : "gone",
      secrets: [],
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAtMs: null,
      lastFailure: null,
      pending: 0,
      single: 0,
      epoch: 1,
      sequence: 0,
      clientId: null,
      createdAtMs: 0,
    };
    await kv.set(webhookKey(orgId, filter.id), record);
  }
  return webhooks.map(({ id }) => id);
}

/** What an event is and of whom, in short: "message.bounced 1 bounced" of the recipient at 1. */
export function shown({ row: { type, subject }, payload: { beside } }: RaisedEvent): string {
  const index = beside !== null && "recipient" in beside ? beside.recipient : undefined;
  if (index === undefined) return type;
  return `${type} ${index} ${(subject as MessageRow).recipients[index]!.status}`;
}

/** Events that the store has, by type, in the order of their ids. */
export async function storedEvents(
  kv: Deno.Kv,
  ...name: string[]
): Promise<{ key: Deno.KvKey; type: EventType; row: EventRow }[]> {
  const rows = await Array.fromAsync(kv.list<EventRow>({ prefix: eventKey.under(...name) }));
  return rows.map(({ key, value }) => ({ key, type: value.type, row: value }))
    .sort((a, b) => String(a.key.at(-1)) < String(b.key.at(-1)) ? -1 : 1);
}
