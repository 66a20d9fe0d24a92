/** Messages as a part of the relay: what it is made of, its routes, and how it ends. */
import type { AgentCore } from "../agents/agent_core.ts";
import { mount } from "../../base/description/declaration.ts";
import { flushLast } from "../../base/parts/flush_last.ts";
import type { RepetitionKind } from "../../base/idempotency/repetition_sweep.ts";
import type { Part } from "../../base/parts/part.ts";
import type { Waits } from "../../base/waiting/waits.ts";
import { AGENT_INBOXES } from "./inbox/agent_inboxes.ts";
import { Inbox } from "./inbox/inbox.ts";
import { InboxLooks } from "./inbox/inbox_looks.ts";
import { PageBudget } from "./inbox/page_budget.ts";
import { MESSAGE_ROUTES } from "./routes.ts";
import { RecentMessages, type RecentMessagesBounds } from "./rows/recent_messages.ts";
import { StoredMessages } from "./rows/stored_messages.ts";
import { KEYED_SENDS } from "./send/keyed_sends.ts";
import { Sender } from "./send/sender.ts";
import { SignatureSweep } from "./send/signature_sweep.ts";
import { SignedSender } from "./send/signed_sender.ts";
import { TokenSender, type TokenSenderOptions } from "./send/token_sender.ts";

export interface MessagesOptions {
  waits: Waits;
  /** Signs for agents whose keys the relay holds. */
  signatory: TokenSenderOptions["signatory"];
  recentMessages?: RecentMessagesBounds;
}

export interface Messages extends Part {
  inbox: Inbox;
  looks: InboxLooks;
  messages: StoredMessages;
  recent: RecentMessages;
  tokenSender: TokenSender;
  repetitions: readonly RepetitionKind[];
}

export function openMessages(core: AgentCore, options: MessagesOptions): Messages {
  const { store, records, commits, identities, freeDisk, limits, answers } = core;
  const waits = options.waits.at(AGENT_INBOXES);
  const recent = new RecentMessages(options.recentMessages);
  const messages = new StoredMessages(store, limits.retentionDays, recent);
  const sender = new Sender({ store, records, commits, limits, waits, recent });
  const { leases, isFloorKnown } = core;
  const { signatureWindowSeconds } = limits;
  const { log } = core.deps;
  const sweep = new SignatureSweep({ store, leases, isFloorKnown, signatureWindowSeconds, log });
  const pages = new PageBudget({ answers, perAgent: limits.pagesInHandPerAgent });
  const inbox = new Inbox({ store, records, commits, limits, waits, messages, pages });
  const sending = { store, records, identities, limits, sender, freeDisk };
  const signedSender = new SignedSender(sending);
  const tokenSender = new TokenSender({ ...sending, signatory: options.signatory });
  return {
    inbox,
    looks: new InboxLooks({ store, records, messages, pages }),
    messages,
    recent,
    tokenSender,
    repetitions: [KEYED_SENDS],
    routes: mount(MESSAGE_ROUTES, {
      ...core,
      signedSender,
      tokenSender,
      inbox,
      messages,
      pages,
    }),
    async everyMinute() {
      sender.forgetExpired();
      await Promise.all([inbox.flush(), sweep.run()]);
    },
    async close() {
      await sweep.close();
      await commits.drained();
      await flushLast(inbox);
    },
  };
}
