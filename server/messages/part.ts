/** Messages as a part of the relay: what it is made of, its routes, and how it ends. */
import type { Authenticator } from "../agents/authenticate.ts";
import type { Identities } from "../agents/identities.ts";
import type { Deps } from "../deps.ts";
import type { AnswersInHand } from "../http/answers_in_hand.ts";
import type { Route } from "../http/route.ts";
import type { FreeDisk } from "../storage/free_disk.ts";
import type { Storage } from "../storage/open_storage.ts";
import type { Waits } from "../waiting/waits.ts";
import { flushAll } from "../flush_all.ts";
import { AGENT_INBOXES } from "./inbox/agent_inboxes.ts";
import { Inbox } from "./inbox/inbox.ts";
import { PagesInHand } from "./inbox/pages_in_hand.ts";
import { messageRoutes } from "./routes.ts";
import { RecentMessages, type RecentMessagesBounds } from "./rows/recent_messages.ts";
import { StoredMessages } from "./rows/stored_messages.ts";
import { Sender } from "./send/send.ts";
import { SignedSender } from "./send/signed_send.ts";
import { TokenSender, type TokenSenderOptions } from "./send/token_send.ts";

export interface MessagesOptions {
  deps: Deps;
  storage: Storage;
  identities: Identities;
  authenticator: Authenticator;
  freeDisk: FreeDisk;
  waits: Waits;
  answers: AnswersInHand;
  /** Signs for agents whose keys the relay holds. */
  signatory: TokenSenderOptions["signatory"];
  recentMessages?: RecentMessagesBounds;
}

export interface Messages {
  inbox: Inbox;
  messages: StoredMessages;
  recent: RecentMessages;
  tokenSender: TokenSender;
  routes: readonly Route[];
  everyMinute(): Promise<void>;
  close(): Promise<void>;
}

/** At shutdown no next minute makes up for a flush that the store failed. */
const LAST_FLUSH_TRIES = 3;

export function openMessages(options: MessagesOptions): Messages {
  const { deps, storage, identities, freeDisk } = options;
  const { limits } = deps.config;
  const { store, records, commits, addressKey } = storage;
  const waits = options.waits.at(AGENT_INBOXES);
  const recent = new RecentMessages(options.recentMessages);
  const messages = new StoredMessages(store, limits.retentionDays, recent);
  const sender = new Sender({
    store,
    records,
    commits,
    limits,
    waits,
    recent,
    formerClockMs: storage.ids.openedAtMs,
  });
  const pages = new PagesInHand({ answers: options.answers, perAgent: limits.pagesInHandPerAgent });
  const inbox = new Inbox({ store, records, commits, limits, waits, messages, pages });
  const sending = { store, records, identities, limits, sender, freeDisk };
  const signedSender = new SignedSender(sending);
  const tokenSender = new TokenSender({ ...sending, signatory: options.signatory });
  return {
    inbox,
    messages,
    recent,
    tokenSender,
    routes: messageRoutes({
      ...options,
      store,
      records,
      signedSender,
      tokenSender,
      inbox,
      messages,
      pages,
      addressKey,
    }),
    async everyMinute() {
      sender.forgetExpired();
      await inbox.flush();
    },
    async close() {
      await commits.drained();
      await flushAll([inbox], LAST_FLUSH_TRIES);
    },
  };
}
