/** The mail area as a part of the relay: on with the parts that it is made of, or off and why. */
import type { Core } from "../base/parts/core.ts";
import { mount } from "../base/description/declaration.ts";
import { AnswerBudget } from "../base/http/answers/answer_budget.ts";
import type { RepetitionKind } from "../base/idempotency/repetition_sweep.ts";
import { logSparsely } from "../base/log_sparsely.ts";
import { type OpenParts, openTogether, type Part } from "../base/parts/part.ts";
import type { KeyRing } from "../base/sealing/key_ring.ts";
import { openOutside } from "../base/outside/open_outside.ts";
import { startupNote } from "../base/config/startup_notes.ts";
import { openAuth } from "./receiving/sender_checks/part.ts";
import { proveDkim } from "./composing/prove_dkim.ts";
import { openDelivery } from "./sending/delivery/part.ts";
import { openReports } from "./receiving/reports/part.ts";
import { openDrafts } from "./drafts/part.ts";
import { FIGURE_ROUTES } from "./figures/routes.ts";
import { openGoogle } from "./sign_in/google/part.ts";
import { inboundSecretPath, openInboundSecret } from "./access/inbound_secret.ts";
import { openErasures } from "./erasures/part.ts";
import { openInboxes } from "./mailbox/inboxes/part.ts";
import { openKeys } from "./keys/part.ts";
import type { MailOptions } from "./core/mail_base.ts";
import { createMailCore, type MailCore } from "./mailbox/mail_core.ts";
import { offRoutes } from "./access/mail_route.ts";
import { whyMailIsOff } from "./mail_switch.ts";
import { MAIL_ANSWERS } from "./mailbox/messages/org_answer_budget.ts";
import { openMessages } from "./mailbox/messages/part.ts";
import { openOrgs } from "./orgs/part.ts";
import { MailWorker, startMailWorker } from "./worker/mail_worker.ts";
import { openReceiving, type Receiving } from "./receiving/part.ts";
import { openSmtp, type SmtpOptions, type WayIn } from "./receiving/smtp/part.ts";
import { MAIL_ROUTES } from "./routes.ts";
import { openSearch } from "./search/part.ts";
import { MailOperator } from "./operator/mail_operator.ts";
import { RecentFailures } from "./operator/recent_failures.ts";
import { MailSecret } from "./access/mail_secret.ts";
import { openSender, openSending } from "./sending/part.ts";
import { MailSessions } from "./sessions/mail_sessions.ts";
import { openSignIn } from "./sign_in/part.ts";
import { claimStore, refuseLocalStore } from "./store_mark.ts";
import { openSuppressions } from "./mailbox/suppressions/part.ts";
import { TOOL_ROUTES } from "./tools/routes.ts";
import { openWebhooks, type WebhooksPart } from "./webhooks/part.ts";

/** From here on two workers read mail, so that a slow job does not hold up all others. */
const CORES_FOR_TWO_READERS = 4;

const NO_WAY_IN =
  "not at all: set RELAY_MAIL_LISTEN for SMTP, or RELAY_MAIL_INBOUND_SECRET for a gateway";

/** What pages of the relay take of the area, besides its routes. */
export interface MailConsole extends MailCore {
  sessions: MailSessions;
  /** Google's client id of this relay; null while sign-in with Google is off. */
  googleClientId: string | null;
}

export interface Mail extends Part {
  isOn: boolean;
  /** The way in for local mode, without a known client; null where mail is off or not local. */
  handIn: Receiving["handIn"] | null;
  /** What local mode shows of webhooks; null as handIn. */
  webhooks: WebhooksPart["shown"] | null;
  /** What the pages for people are made of; null where mail is off. */
  console: MailConsole | null;
  /** How mail from outside can come in, once the relay has started. */
  waysIn(): WayIn[];
  /** What the operator's pages show of it; null where mail is off. */
  operator: MailOperator | null;
  /** What the area tells repetitions apart by. */
  repetitions: readonly RepetitionKind[];
}

/**
 * @param ring custody keys, under which the area's secrets are sealed
 * @throws ConfigError for a store whose mail area is another, and for a DKIM key that cannot sign
 */
export async function openMail(
  core: Core,
  ring: KeyRing,
  options: MailOptions,
  smtp: SmtpOptions,
): Promise<Mail> {
  const { deps, store, records, commits, limits } = core;
  const { config, random, log } = deps;
  const secret = new MailSecret({ records, commits, ring, random });
  const off = whyMailIsOff(config, ring, await secret.missingCustodyKey());
  const { domain, local, dkim } = config.mail;
  if (off !== null) {
    // Local mode captures digests with mail off too: a store of another mode would lose its own.
    if (local) await claimStore(store, { domain: domain!, local }, options.hasAgents);
    else await refuseLocalStore(store);
    return {
      isOn: false,
      handIn: null,
      webhooks: null,
      console: null,
      waysIn: () => [],
      operator: null,
      repetitions: [],
      routes: offRoutes(MAIL_ROUTES, limits),
      notes: [startupNote("mail", `off: ${off}, mail routes answer 503`)],
    };
  }
  if (dkim !== undefined) await proveDkim({ domain: domain!, ...dkim });
  await claimStore(store, { domain: domain!, local }, options.hasAgents);
  return await openTogether(log, async (parts) => {
    const { repetitions, waysIn, operator, console, ...opened } = await openMailParts(
      parts,
      core,
      { ...options, smtp },
      secret,
    );
    const shown = local ? opened : { handIn: null, webhooks: null };
    return Object.assign(parts, {
      ...{ isOn: true, ...shown, console, waysIn, operator, repetitions },
    });
  });
}

interface LocalServices extends Pick<Receiving, "handIn"> {
  webhooks: WebhooksPart["shown"];
}

/** The parts in the order of their opening: each is given the core, and what it uses of those before it. */
async function openMailParts(
  parts: OpenParts,
  core: Core,
  { smtp: smtpOptions, ...options }: MailOptions & { smtp: SmtpOptions },
  secret: MailSecret,
): Promise<Pick<Mail, "repetitions" | "waysIn" | "operator" | "console"> & LocalServices> {
  const { deps } = core;
  const { config, random, log } = deps;
  const inboundSecret = await openInboundSecret(config, random);
  const madeSecret = config.mail.local && config.mail.inboundSecret === undefined;
  const secretNote = madeSecret ? `, inbound secret in ${inboundSecretPath(config)}` : "";
  parts.add("mail", {
    notes: [startupNote("mail", `on: inboxes at ${config.mail.domain}${secretNote}`)],
  });

  const answers = parts.add("answers", new AnswerBudget({ bounds: MAIL_ANSWERS }));
  const reader = parts.add(
    "reader",
    new MailWorker({
      start: config.onDeploy ? null : startMailWorker,
      workers: navigator.hardwareConcurrency >= CORES_FOR_TWO_READERS ? 2 : 1,
      onLoss: logSparsely(log, "mail_worker_lost"),
    }),
  );
  const mail = createMailCore(core, options, { secret, reader, answers });
  const failures = new RecentFailures();
  const sessions = new MailSessions(mail);
  const auth = parts.add("senders", await openAuth(deps));
  parts.add("orgs", openOrgs(mail));
  parts.add("keys", openKeys(mail));
  parts.add("sign-in", openSignIn(mail));
  parts.add("google", openGoogle(mail));
  const { erasures } = parts.add("inbox erasures", openErasures({ ...mail, log }));
  parts.add("inboxes", openInboxes({ ...mail, erasures }));
  parts.add("figures", { routes: mount(FIGURE_ROUTES, mail) });
  const { suppressions } = parts.add("suppressions", openSuppressions(mail));
  parts.add("messages", openMessages(mail));
  const senderPart = parts.add("outbound", openSender(mail, suppressions));
  const { propose } = parts.add("drafts", openDrafts(mail, senderPart, sessions));
  const sending = parts.add("sending", openSending(mail, senderPart, propose));
  const { changes, reports } = parts.add(
    "reports",
    openReports(
      mail,
      inboundSecret,
      (changed) => failures.note(changed),
    ),
  );
  const receiving = parts.add(
    "receiving",
    openReceiving(mail, { auth, reports, inboundSecret, composer: senderPart.composer }),
  );
  const { receiver, handIn } = receiving;
  const smtp = parts.add("smtp", await openSmtp(mail, receiver, smtpOptions));
  const waysIn = () => [
    ...smtp.ways(),
    ...inboundSecret === null ? [] : [{ way: "gateway" }],
    ...config.mail.local ? [{ way: "local" }] : [],
  ];
  parts.add("ways in", {
    get notes() {
      const ways = waysIn().map(({ way, at }: WayIn) => at === undefined ? way : `SMTP at ${at}`);
      return [startupNote("mail in", ways.join(", ") || NO_WAY_IN)];
    },
  });
  parts.add("delivery", openDelivery(mail, { changes, receiver }));
  const { search } = parts.add("search", openSearch(mail));
  parts.add("tools", {
    routes: mount(TOOL_ROUTES, { ...mail, ...senderPart, ...sending, search }),
  });
  const { shown: webhooks } = parts.add("webhooks", openWebhooks(mail, openOutside(deps)));
  const { googleClientId = null } = config.mail;
  return {
    handIn,
    webhooks,
    console: { ...mail, sessions, googleClientId },
    waysIn,
    operator: new MailOperator(mail, failures),
    repetitions: [senderPart.keyedAnswers, ...receiving.repetitions],
  };
}
