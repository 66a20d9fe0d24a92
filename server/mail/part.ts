/** The mail area as a part of the relay: on with the parts that it is made of, or off and why. */
import type { Core } from "../core.ts";
import { AnswersInHand } from "../http/answers_in_hand.ts";
import type { RepetitionKind } from "../idempotency/repetition_sweep.ts";
import { logSparsely } from "../log_sparsely.ts";
import { type OpenParts, openTogether, type Part } from "../part.ts";
import type { KeyRing } from "../sealing/key_ring.ts";
import { startupNote } from "../startup_notes.ts";
import { openAuth } from "./auth/part.ts";
import { proveDkim } from "./composing/prove_dkim.ts";
import { openDelivery, openReports } from "./delivery/part.ts";
import { openDrafts } from "./drafts/part.ts";
import { figureHandlers } from "./figures/routes.ts";
import { openGoogle } from "./google/part.ts";
import { inboundSecretPath, openInboundSecret } from "./inbound_secret.ts";
import { openInboxes } from "./inboxes/part.ts";
import { openKeys } from "./keys/part.ts";
import { createMailCore, type MailBeside, type MailPart } from "./mail_core.ts";
import { type MailHandlers, mailRoutes } from "./mail_routes.ts";
import { whyMailIsOff } from "./mail_switch.ts";
import { MAIL_ANSWERS } from "./messages/answer_room.ts";
import { openMessages } from "./messages/part.ts";
import { openOrgs } from "./orgs/part.ts";
import { MailWorker, startMailWorker } from "./parsing/mail_worker.ts";
import { openReceiving, type Receiving } from "./receiving/part.ts";
import { openSearch } from "./search/part.ts";
import { MailSecret } from "./secret/mail_secret.ts";
import { openOutbound, openSending } from "./sending/part.ts";
import { openSignIn } from "./sign_in/part.ts";
import { claimStore, refuseLocalStore } from "./store_mark.ts";
import { openSuppressions } from "./suppressions/part.ts";
import { openMailTools } from "./tools/part.ts";

/** From here on two workers read mail: whoever waits for a slow one waits for the faster of two. */
const CORES_FOR_TWO_READERS = 4;

export interface Mail extends Part {
  isOn: boolean;
  /** The way in for local mode, as if nobody knew who hands it over; null where mail is off or the mode another. */
  handIn: Receiving["handIn"] | null;
  /** What the area tells repetitions apart by. */
  repetitions: readonly RepetitionKind[];
}

/**
 * @param ring custody keys, under which the area's secrets are sealed
 * @throws ConfigError for a store whose mail area is another, and for a DKIM key that cannot sign
 */
export async function openMail(core: Core, ring: KeyRing, beside: MailBeside): Promise<Mail> {
  const { deps, store, records, commits, limits } = core;
  const { config, random, log } = deps;
  const secret = new MailSecret({ records, commits, ring, random });
  const off = whyMailIsOff(config, ring, await secret.missingCustodyKey());
  const { domain, local, dkim } = config.mail;
  if (off !== null) {
    // Local mode captures digests with mail off too: a store of another mode would lose its own.
    if (local) await claimStore(store, { domain: domain!, local });
    else await refuseLocalStore(store);
    return {
      isOn: false,
      handIn: null,
      repetitions: [],
      routes: mailRoutes({ on: null, limits }),
      notes: [startupNote("mail", `off: ${off}, mail routes answer 503`)],
    };
  }
  if (dkim !== undefined) await proveDkim({ domain: domain!, ...dkim });
  await claimStore(store, { domain: domain!, local });
  return await openTogether(log, async (parts) => {
    const { handIn, repetitions } = await openMailParts(parts, core, beside, secret);
    return Object.assign(parts, { isOn: true, handIn: local ? handIn : null, repetitions });
  });
}

/** The parts in the order of their opening: each is given the core, and what it uses of those before it. */
async function openMailParts(
  parts: OpenParts,
  core: Core,
  beside: MailBeside,
  secret: MailSecret,
): Promise<Pick<Mail, "repetitions"> & Pick<Receiving, "handIn">> {
  const { deps, limits } = core;
  const { config, random, log } = deps;
  let handlers: MailHandlers = {};
  const add = <P extends MailPart>(name: string, part: P): P => {
    handlers = { ...handlers, ...part.handlers };
    return parts.add(name, part);
  };
  const inboundSecret = await openInboundSecret(config, random);
  const madeSecret = config.mail.local && config.mail.inboundSecret === undefined;
  const secretNote = madeSecret ? `, inbound secret in ${inboundSecretPath(config)}` : "";
  add("mail", {
    notes: [startupNote("mail", `on: inboxes at ${config.mail.domain}${secretNote}`)],
  });

  const answers = add("answers", new AnswersInHand({ bounds: MAIL_ANSWERS }));
  const reader = add(
    "reader",
    new MailWorker({
      start: config.onDeploy ? null : startMailWorker,
      workers: navigator.hardwareConcurrency >= CORES_FOR_TWO_READERS ? 2 : 1,
      onLoss: logSparsely(log, "mail_worker_lost"),
    }),
  );
  const mail = createMailCore(core, beside, { secret, reader, answers });
  const auth = add("senders", await openAuth(deps));
  add("orgs", openOrgs(mail));
  const { authenticator } = add("keys", openKeys(mail));
  add("sign-in", openSignIn(mail));
  add("google", openGoogle(mail));
  add("inboxes", openInboxes(mail));
  add("figures", { handlers: figureHandlers(mail) });
  const { suppressions } = add("suppressions", openSuppressions(mail));
  add("messages", openMessages(mail));
  const outbound = add("outbound", openOutbound(mail, suppressions));
  const { proposals } = add("drafts", openDrafts(mail, outbound));
  const sending = add("sending", openSending(mail, outbound, proposals));
  const { changes, reports } = openReports(mail);
  const receiving = add(
    "receiving",
    openReceiving(mail, { auth, reports, inboundSecret, compose: outbound.compose }),
  );
  const { receiver, handIn } = receiving;
  add("delivery", openDelivery(mail, { changes, receiver, inboundSecret }));
  const { search } = add("search", openSearch(mail));
  const { tools } = openMailTools(mail, { authenticator, outbound, sending, search });
  parts.add("routes", { routes: mailRoutes({ limits, on: { authenticator, handlers, tools } }) });
  return { handIn, repetitions: [outbound.largeAnswers, ...receiving.repetitions] };
}
