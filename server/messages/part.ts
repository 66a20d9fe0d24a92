/** Messages as a part of the relay: what it is made of, its routes, and how it ends. */
import type { Core } from "../core.ts";
import { flushLast } from "../flush_last.ts";
import type { Part } from "../part.ts";
import { Arrivals } from "./inbox/arrivals.ts";
import { Inbox } from "./inbox/inbox.ts";
import { PagesInHand } from "./inbox/pages_in_hand.ts";
import { Wake } from "./inbox/wake.ts";
import { markWakes } from "./inbox/wake_marks.ts";
import { messageRoutes } from "./routes.ts";
import { RecentMessages, type RecentMessagesBounds } from "./rows/recent_messages.ts";
import { StoredMessages } from "./rows/stored_messages.ts";
import { Sender } from "./send/send.ts";
import { TokenSender, type TokenSenderOptions } from "./send/token_send.ts";

export interface MessagesOptions {
  /** Signs for agents whose keys the relay holds. */
  signatory: TokenSenderOptions["signatory"];
  recentMessages?: RecentMessagesBounds;
}

export interface Messages extends Part {
  inbox: Inbox;
  messages: StoredMessages;
  recent: RecentMessages;
  tokenSender: TokenSender;
}

export function openMessages(core: Core, options: MessagesOptions): Messages {
  const { store, records, commits, identities, freeDisk, limits, answers } = core;
  const { hosted } = core.deps.config;
  const arrivals = new Arrivals();
  const wake = new Wake({ store, arrivals, records, watchable: hosted });
  if (!store.exclusive) commits.annotateGroups(markWakes);
  const recent = new RecentMessages(options.recentMessages);
  const messages = new StoredMessages(store, limits.retentionDays, recent);
  const sender = new Sender({
    store,
    records,
    commits,
    limits,
    arrivals,
    recent,
    formerClockMs: core.ids.openedAtMs,
  });
  const pages = new PagesInHand({ answers, perAgent: limits.pagesInHandPerAgent });
  const inbox = new Inbox({ store, records, commits, limits, arrivals, messages, pages });
  const tokenSender = new TokenSender({
    store,
    records,
    identities,
    limits,
    sender,
    signatory: options.signatory,
    freeDisk,
  });
  return {
    inbox,
    messages,
    recent,
    tokenSender,
    routes: messageRoutes({ ...core, sender, tokenSender, inbox, messages, pages }),
    async everyMinute() {
      sender.sweep();
      await inbox.flush();
    },
    endWaits: () => arrivals.close(),
    async close() {
      arrivals.close();
      wake.close();
      await commits.drained();
      await flushLast(inbox);
    },
  };
}
