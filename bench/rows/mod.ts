/** All measured claims, in the order of the table. */
import type { Row } from "../row.ts";
import { besideAttacks } from "./beside_attacks.ts";
import { directory } from "./directory.ts";
import { expiredStart } from "./expired_start.ts";
import { figures } from "./figures.ts";
import { inboxPages } from "./inbox_page.ts";
import { loneSends } from "./lone_sends.ts";
import { feedPage, leaderboard } from "./network.ts";
import { emptyPolls, tokenPolls } from "./polls.ts";
import { mailRows } from "./mail.ts";
import { mailInRows } from "./mail_in.ts";
import { mailOutRows } from "./mail_out.ts";
import { mailSearch } from "./mail_search.ts";
import { outgoingDeliveries } from "./outgoing.ts";
import {
  sends,
  sendsBesideNostr,
  sendsBesidePostgres,
  sendsOfManyAgents,
  sendsToFullStore,
} from "./sends.ts";
import { steadySends } from "./steady_sends.ts";

import { streamMemory } from "./stream_memory.ts";
import {
  toolSend,
  toolSendStateless,
  toolsList,
  toolWhoami,
  toolWhoamiStateless,
} from "./tools.ts";
import { viewers } from "./viewers.ts";
import { waitingMailPolls } from "./waiting_mail_polls.ts";
import { webhookRows } from "./webhooks.ts";
import { nativeVerifications, pureVerifications } from "./verifications.ts";

export const rows: readonly Row[] = [
  sends,
  sendsBesidePostgres,
  sendsBesideNostr,
  sendsOfManyAgents,
  sendsToFullStore,
  steadySends,
  loneSends,
  emptyPolls,
  tokenPolls,
  ...inboxPages,
  ...besideAttacks,
  toolWhoami,
  toolWhoamiStateless,
  toolSend,
  toolSendStateless,
  toolsList,
  figures,
  outgoingDeliveries,
  ...mailRows,
  ...mailInRows,
  waitingMailPolls,
  ...mailOutRows,
  mailSearch,
  ...webhookRows,
  directory,
  feedPage,
  leaderboard,
  viewers,
  nativeVerifications,
  pureVerifications,
  streamMemory,
  expiredStart,
];
