/** Inboxes: made, found, changed, deleted. An address belongs to one inbox for ever. */
import { RelayError } from "../../../base/errors.ts";
import type { Limits } from "../../../base/config/limits.ts";
import type { GroupCommit, Transaction } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import { keysKey } from "../../records/key_record.ts";
import { putKeys } from "../../access/put_keys.ts";
import { type CallingKey, requireCaller } from "../../access/require_org.ts";
import type { MailCaller } from "../../access/authenticate_key.ts";
import { isMailId, makeMailId } from "../../records/mail_id.ts";
import { unknownObject } from "../../access/unknown_object.ts";
import { orgKey } from "../../records/org_record.ts";
import {
  ADDRESS_LISTS,
  addressKey,
  type AddressListName,
  type AddressRecord,
  clientIdKey,
  type Inbox,
  inboxKey,
  type InboxRecord,
  listKey,
} from "../../records/inbox_record.ts";
import { MESSAGES_CHANGED, type MessagesChanged } from "../../records/mailbox_record.ts";
import type { InboxChanges, InboxRequest } from "./inbox_request.ts";
import { inboxErasureKey, retentionKey } from "./inbox_rows.ts";
import { addressTaken, requireInboxQuota, takeOneMore } from "./take_address.ts";
import { makeLocalPart, refuseReservedLocalPart } from "./local_part.ts";

export interface InboxServices {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  limits: Limits;
  /** Of all inboxes, lowercased. */
  domain: string;
  /** Local parts at the domain that the relay itself uses. */
  ownLocalParts: readonly string[];
}

const MADE_UP_TRIES = 8;
const MAX_LOCAL_PART = 64;
const NO_ENTRIES = { allow_send: [], allow_receive: [], block_receive: [] };

export class Inboxes {
  constructor(private readonly services: InboxServices) {}

  /**
   * Makes an inbox, or finds the one that was made under the same client_id.
   * @returns whether it was made now
   * @throws RelayError `reserved_local_part`, `inbox_limit_reached`, `rate_limited`, `address_taken`,
   * and as requireCaller()
   */
  async create(
    caller: CallingKey,
    request: InboxRequest,
  ): Promise<{ inbox: Inbox; isNew: boolean }> {
    if (request.localPart !== null) {
      refuseReservedLocalPart(request.localPart, this.services.ownLocalParts);
    }
    for (let tries = 1;; tries++) {
      const localPart = request.localPart ?? makeLocalPart(this.services.random);
      try {
        const { record, isNew } = await this.#create(caller, localPart, request);
        return { inbox: await this.#withEntries(record), isNew };
      } catch (error) {
        const isTaken = error instanceof RelayError && error.code === "address_taken";
        if (!isTaken || request.localPart !== null || tries >= MADE_UP_TRIES) throw error;
      }
    }
  }

  async #create(
    caller: CallingKey,
    localPart: string,
    request: InboxRequest,
  ): Promise<{ record: InboxRecord; isNew: boolean }> {
    const orgId = caller.org.id;
    const { commits, random, limits, store } = this.services;
    const inboxId = makeMailId("ibx", store.now(), random);
    const key = inboxKey(orgId, inboxId);
    const { clientId } = request;
    const namedKey = clientId === null ? null : clientIdKey(orgId, "inbox", clientId);
    const entries = ADDRESS_LISTS.filter((name) => request.lists[name]?.length);
    return await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const formerId = namedKey === null ? undefined : transaction.record(namedKey)?.id;
      const former = formerId === undefined ? null : transaction.record(inboxKey(orgId, formerId));
      if (former !== null) return { record: former, isNew: false };
      requireInboxQuota(org, limits);
      const addressesTaken = takeOneMore(org, limits, transaction.nowMs);
      if (transaction.record(addressKey(localPart)) !== null) throw addressTaken(localPart);
      const made: InboxRecord = {
        v: 1,
        id: inboxId,
        orgId,
        localPart,
        displayName: request.displayName ?? null,
        sendPolicy: request.sendPolicy ?? "direct",
        retentionDays: request.retentionDays ?? null,
        lists: entries,
        clientId,
        createdAtMs: transaction.nowMs,
        updatedAtMs: transaction.nowMs,
      };
      transaction.putRecord(orgKey(orgId), { ...org, inboxes: org.inboxes + 1, addressesTaken });
      transaction.putRecord(addressKey(localPart), { v: 1, orgId, inboxId });
      transaction.putRecord(key, made);
      for (const name of entries) {
        transaction.putRecord(listKey(orgId, inboxId, name), {
          v: 1,
          entries: request.lists[name]!,
        });
      }
      if (namedKey !== null) transaction.putRecord(namedKey, { v: 1, id: inboxId });
      stageRetention(transaction, made);
      return { record: made, isNew: true };
    });
  }

  /**
   * The inbox that a path or a field names, by its id or its address, as the caller may see it.
   * @throws RelayError `not_found`
   */
  async find({ org, key }: MailCaller, named: string): Promise<Inbox> {
    const inboxId = await this.#idOf(org.id, named);
    if (inboxId === null || (key.scope === "inbox" && key.inboxId !== inboxId)) {
      throw unknownObject("inbox");
    }
    const record = await this.services.records.read<InboxRecord>(inboxKey(org.id, inboxId));
    if (record === null) throw unknownObject("inbox");
    return await this.#withEntries(record);
  }

  /**
   * The inbox that mail to an address is for, whatever follows a `+` in its local part.
   * @param address as an envelope gives it
   */
  async byAddress(address: string): Promise<Inbox | null> {
    const { domain, records } = this.services;
    const at = address.lastIndexOf("@");
    if (at < 1 || address.slice(at + 1).toLowerCase() !== domain) return null;
    const localPart = address.slice(0, at).toLowerCase().split("+", 1)[0]!;
    if (localPart === "" || localPart.length > MAX_LOCAL_PART) return null;
    const owner = await records.read<AddressRecord>(addressKey(localPart));
    if (owner === null) return null;
    return await this.byId(owner.orgId, owner.inboxId);
  }

  /** The inbox of an id, regardless of who asks; null where it has gone. */
  async byId(orgId: string, inboxId: string): Promise<Inbox | null> {
    const record = await this.services.records.read<InboxRecord>(inboxKey(orgId, inboxId));
    return record === null ? null : await this.#withEntries(record);
  }

  addressOf({ localPart }: Pick<Inbox, "localPart">): string {
    return `${localPart}@${this.services.domain}`;
  }

  async #idOf(orgId: string, named: string): Promise<string | null> {
    if (isMailId("ibx", named)) return named;
    const at = named.lastIndexOf("@");
    const { domain, records } = this.services;
    if (at < 1 || named.slice(at + 1).toLowerCase() !== domain) return null;
    const localPart = named.slice(0, at).toLowerCase();
    if (localPart.length > MAX_LOCAL_PART) return null;
    const address = await records.read<AddressRecord>(addressKey(localPart));
    return address?.orgId === orgId ? address.inboxId : null;
  }

  /**
   * A page of the org's inboxes, the oldest first.
   * @param afterId id of the last one of the page before, null for the first page
   */
  async list(
    orgId: string,
    afterId: string | null,
    limit: number,
  ): Promise<{ inboxes: Inbox[]; more: boolean }> {
    const store = this.services.store;
    const prefix = inboxKey.under(orgId);
    const selector = afterId === null
      ? { prefix }
      : { prefix, start: [...prefix, `${afterId}\u0000`] };
    const rows = await store.list<InboxRecord>(selector, { limit: limit + 1 });
    const inboxes = await Promise.all(
      rows.slice(0, limit).map(({ value }) => this.#withEntries(value)),
    );
    return { inboxes, more: rows.length > limit };
  }

  /** @throws RelayError `not_found` where it has gone meanwhile, and as requireCaller() */
  async change(caller: CallingKey, inboxId: string, changes: InboxChanges): Promise<Inbox> {
    const { commits, limits } = this.services;
    const orgId = caller.org.id;
    const key = inboxKey(orgId, inboxId);
    const changed = ADDRESS_LISTS.filter((name) => changes.lists[name] !== undefined);
    const record = await commits.submit((transaction) => {
      requireCaller(transaction, caller, limits);
      const inbox = transaction.record(key);
      if (inbox === null) throw unknownObject("inbox");
      const lists = ADDRESS_LISTS.filter((name) =>
        changes.lists[name] === undefined
          ? inbox.lists.includes(name)
          : changes.lists[name].length > 0
      );
      const { displayName, sendPolicy, retentionDays } = changes;
      const next: InboxRecord = {
        ...inbox,
        ...(displayName === undefined ? {} : { displayName }),
        ...(sendPolicy === undefined ? {} : { sendPolicy }),
        ...(retentionDays === undefined ? {} : { retentionDays }),
        lists,
        updatedAtMs: Math.max(transaction.nowMs, inbox.updatedAtMs),
      };
      transaction.putRecord(key, next);
      stageRetention(transaction, next);
      for (const name of changed) {
        const entries = changes.lists[name]!;
        const list = entries.length === 0 ? null : { v: 1 as const, entries };
        transaction.putRecord(listKey(orgId, inboxId, name), list);
      }
      return next;
    });
    return await this.#withEntries(record);
  }

  /**
   * Deletes an inbox, its lists and its keys; a sweep erases what it holds. The address stays taken.
   * @throws RelayError `not_found` where it has gone meanwhile, and as requireCaller()
   */
  async delete(caller: CallingKey, inboxId: string): Promise<void> {
    const { commits, limits } = this.services;
    const orgId = caller.org.id;
    const key = inboxKey(orgId, inboxId);
    await commits.submit((transaction) => {
      const org = requireCaller(transaction, caller, limits);
      const inbox = transaction.record(key);
      if (inbox === null) throw unknownObject("inbox");
      const keys = transaction.record(keysKey(orgId))?.keys ?? [];
      const left = keys.filter((one) => one.inboxId !== inboxId);
      transaction.putRecord(orgKey(orgId), { ...org, inboxes: org.inboxes - 1 });
      putKeys(transaction, orgId, left);
      transaction.putRecord(key, null);
      transaction.announce(MESSAGES_CHANGED, { orgId, inboxId } satisfies MessagesChanged);
      transaction.delete(retentionKey(orgId, inboxId));
      transaction.set(inboxErasureKey(orgId, inboxId), { v: 1, sinceMs: transaction.nowMs });
      const { clientId } = inbox;
      if (clientId !== null) transaction.putRecord(clientIdKey(orgId, "inbox", clientId), null);
      for (const name of ADDRESS_LISTS) transaction.putRecord(listKey(orgId, inboxId, name), null);
    });
  }

  async #withEntries(record: InboxRecord): Promise<Inbox> {
    const { records } = this.services;
    const read = async (name: AddressListName) =>
      (await records.read<{ entries: string[] }>(listKey(record.orgId, record.id, name)))?.entries;
    const lists = await Promise.all(
      record.lists.map(async (name) => [name, await read(name) ?? []] as const),
    );
    return { ...record, entries: { ...NO_ENTRIES, ...Object.fromEntries(lists) } };
  }
}

/** Makes the inbox known to the sweep of retention_days, or forgotten by it. */
function stageRetention(transaction: Transaction, { orgId, id, retentionDays }: InboxRecord): void {
  const key = retentionKey(orgId, id);
  if (retentionDays === null) transaction.delete(key);
  else transaction.set(key, { v: 1, days: retentionDays });
}
