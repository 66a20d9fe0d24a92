/** What the parts of the mail area rest on that know no inbox and no message yet. */
import type { Blobs } from "../../base/blobs/blobs.ts";
import type { Core } from "../../base/parts/core.ts";
import type { Mailer } from "../../base/mailer/mailer.ts";
import type { OutgoingQueue } from "../../base/outgoing/outgoing_queue.ts";
import type { MailboxWaits } from "../../base/waiting/mailbox_waits.ts";
import type { Waits } from "../../base/waiting/waits.ts";
import { KeyAuthenticator } from "../access/authenticate_key.ts";
import { LastUsed } from "../access/last_used.ts";
import { ListPages } from "../access/list_pages.ts";
import { MAIL_INBOXES } from "./mail_inboxes.ts";
import { Mailboxes } from "./mailboxes.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import type { MailboxRecord } from "../records/mailbox_record.ts";
import type { MailSecret } from "../access/mail_secret.ts";

/** Parts that the mail area stands on. */
export interface MailOptions {
  /** Delivers its mails. */
  outgoing: OutgoingQueue;
  /** Keeps what it receives and sends. */
  blobs: Blobs;
  waits: Waits;
  /** Whether anybody has registered outside of the area. */
  hasAgents(): Promise<boolean>;
  /** Told of each mail that came for the inboxes, and of who has it: in local mode alone. */
  onReceived?(mail: CameIn): void;
}

/** A mail that came, by whatever way, when its outcome is known. */
export interface CameIn {
  from: string;
  to: readonly string[];
  raw: Uint8Array<ArrayBuffer>;
  /** By address: null where an inbox has it, else why none has. */
  outcomes: readonly { address: string; code: string | null }[];
}

/** `answers` is the room of the mail area alone, and its callers are holders of mail keys. */
export interface MailBase
  extends Omit<Core, "authenticator">, Omit<MailOptions, "waits" | "hasAgents"> {
  authenticator: KeyAuthenticator;
  now: () => number;
  random: (sizeBytes: number) => Uint8Array<ArrayBuffer>;
  /** The next hop. */
  mailer: Mailer | undefined;
  /** {base_url}, without a trailing slash. */
  baseUrl: string;
  /** Of all inboxes, lowercased. */
  domain: string;
  /** The relay's own sender. */
  from: { name: string; address: string };
  waits: MailboxWaits<MailboxRecord, string>;
  secret: MailSecret;
  /** Reads mail of strangers. */
  reader: MailWorker;
  pages: ListPages;
  lastUsed: LastUsed;
  mailboxes: Mailboxes;
}

/** What a mail area that is on rests on. */
export function createMailBase(
  core: Core,
  { outgoing, blobs, waits: waiting, onReceived }: MailOptions,
  own: Pick<MailBase, "secret" | "reader" | "answers">,
): MailBase {
  const { deps, store, records, commits, limits } = core;
  const { config, now, random, mailer } = deps;
  const { mail, baseUrl } = config;
  const waits = waiting.at(MAIL_INBOXES);
  const lastUsed = new LastUsed(store);
  return {
    ...core,
    ...own,
    now,
    random,
    mailer,
    baseUrl,
    onReceived,
    domain: mail.domain!, // without it, and a sender, mail is off
    from: mail.from!,
    outgoing,
    blobs,
    waits,
    pages: new ListPages(own.secret),
    authenticator: new KeyAuthenticator({ store, records, lastUsed, limits }),
    lastUsed,
    mailboxes: new Mailboxes({ records, commits, limits, waits }),
  };
}
