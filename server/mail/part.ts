// Over 300 lines: the table of the mail area: what it is made of, in the order of opening.
/** The mail area as a part of the relay: on with what it is made of, or off and why. */
import type { MailConfig } from "../config.ts";
import type { Core } from "../core.ts";
import { flushLast } from "../flush_last.ts";
import type { OutgoingQueue } from "../outgoing/outgoing_queue.ts";
import type { Part } from "../part.ts";
import type { KeyRing } from "../sealing/key_ring.ts";
import { startupNote } from "../startup_notes.ts";
import type { Blobs } from "../blobs/blobs.ts";
import { logSparsely } from "../log_sparsely.ts";
import type { Waits } from "../waiting/waits.ts";
import { proveDkim } from "./composing/prove_dkim.ts";
import { approvalDelivery } from "./drafts/approval_delivery.ts";
import { InboxErasures } from "./inboxes/inbox_erasures.ts";
import { INBOX_TABLES } from "./inboxes/inbox_rows.ts";
import { MAIL_INBOXES } from "./mailboxes/mail_inboxes.ts";
import { Mailboxes } from "./mailboxes/mailboxes.ts";
import { AnswersInHand } from "../http/answers_in_hand.ts";
import { AnswerRoom, MAIL_ANSWERS } from "./messages/answer_room.ts";
import { MessagePages } from "./messages/message_pages.ts";
import { MessageStreams } from "./messages/message_stream.ts";
import { Messages } from "./messages/messages.ts";
import { Retention } from "./messages/retention.ts";
import { messageHandlers } from "./messages/routes.ts";
import { ThreadPages } from "./messages/thread_pages.ts";
import { MailWorker } from "./parsing/mail_worker.ts";
import { startMailWorker } from "./parsing/start_mail_worker.ts";
import type { ReceivedMail } from "./receiving/received_mail.ts";
import { figureHandlers } from "./figures/routes.ts";
import { openSending } from "./sending/open_sending.ts";
import { suppressionHandlers } from "./suppressions/routes.ts";
import { SUPPRESSION_TABLES, Suppressions } from "./suppressions/suppressions.ts";
import { Destinations } from "./receiving/destinations.ts";
import { operatorDelivery } from "./receiving/operator_delivery.ts";
import { OperatorMail } from "./receiving/operator_mail.ts";
import { MailSearch } from "./search/mail_search.ts";
import { searchHandlers } from "./search/routes.ts";
import { mailToolRoute } from "./tools/tool_routes.ts";
import { Receiver } from "./receiving/receiver.ts";
import { RememberedAnswers } from "./receiving/remembered_answers.ts";
import { receivingHandlers } from "./receiving/routes.ts";
import { draftOwnerKey } from "./records/draft_record.ts";
import { openAuth } from "./auth/part.ts";
import { settle, type Settled } from "./receiving/settle.ts";
import { DeliveryEvents } from "./delivery/delivery_events.ts";
import { openDelivery, openReports } from "./delivery/open_delivery.ts";
import { deliveryHandlers } from "./delivery/routes.ts";
import { Sendings } from "./delivery/sending_now.ts";
import { GoogleKeys } from "./google/google_keys.ts";
import { prepareOwnerChange } from "./sign_in/owner_change.ts";
import { googleHandlers } from "./google/routes.ts";
import { inboundSecretPath, openInboundSecret } from "./inbound_secret.ts";
import { Inboxes } from "./inboxes/inboxes.ts";
import { inboxHandlers } from "./inboxes/routes.ts";
import { KeyAuthenticator } from "./keys/authenticate_key.ts";
import { LastUsed } from "./keys/last_used.ts";
import { keyHandlers } from "./keys/routes.ts";
import { ListPages } from "./list_pages.ts";
import { mailRoutes } from "./mail_routes.ts";
import { whyMailIsOff } from "./mail_switch.ts";
import { ownLocalParts } from "./inboxes/own_local_parts.ts";
import { Erasures } from "./orgs/erasures.ts";
import { orgHandlers } from "./orgs/routes.ts";
import { MailSecret } from "./secret/mail_secret.ts";
import { linkDelivery } from "./sign_in/link_delivery.ts";
import { signInHandlers } from "./sign_in/routes.ts";
import { claimStore, refuseLocalStore } from "./store_mark.ts";

export interface Mail extends Part {
  isOn: boolean;
  /** The way in for local mode, as if nobody knew who hands it over; null where mail is off or the mode another. */
  handIn: ((mail: Pick<ReceivedMail, "from" | "to" | "raw">) => Promise<Settled>) | null;
}

/** Parts that the mail area stands on. */
export interface MailBeside {
  /** Delivers its mails. */
  outgoing: OutgoingQueue;
  /** Keeps what it receives and sends. */
  blobs: Blobs;
  waits: Waits;
}

/**
 * @param ring custody keys, under which the area's secrets are sealed
 * @throws ConfigError for a store whose mail area is another, and for a DKIM key that cannot sign
 */
export async function openMail(
  core: Core,
  ring: KeyRing,
  { outgoing, blobs, waits: waiting }: MailBeside,
): Promise<Mail> {
  const { deps, store, records, commits, leases, limits } = core;
  const { config, kv, now, random, log, mailer, fetch } = deps;
  const secret = new MailSecret({ records, commits, ring, random });
  const off = whyMailIsOff(config, ring, await secret.missingCustodyKey());
  const { domain, local } = config.mail;
  if (off !== null) {
    // Local mode captures digests with mail off too: a store of another mode would lose its own.
    if (local) await claimStore(kv, { domain: domain!, local });
    else await refuseLocalStore(kv);
    return {
      isOn: false,
      handIn: null,
      routes: mailRoutes({ on: null, limits }),
      notes: [startupNote("mail", `off: ${off}, mail routes answer 503`)],
    };
  }
  const { dkim } = config.mail;
  if (dkim !== undefined) await proveDkim({ domain: domain!, ...dkim });
  await claimStore(kv, { domain: domain!, local });
  const inboundSecret = await openInboundSecret(config, random);
  const madeSecret = local && config.mail.inboundSecret === undefined;
  const secretNote = madeSecret ? `, inbound secret in ${inboundSecretPath(config)}` : "";

  const pages = new ListPages(secret);
  const lastUsed = new LastUsed(store);
  const authenticator = new KeyAuthenticator({ store, records, lastUsed, limits });
  const worker = new MailWorker({
    start: config.onDeploy ? null : startMailWorker,
    onLoss: logSparsely(log, "mail_worker_lost"),
  });
  const waits = waiting.at(MAIL_INBOXES);
  const mailboxes = new Mailboxes({ records, commits, limits, waits });
  const messages = new Messages({ store, mailboxes, blobs });
  const inboxErasures = new InboxErasures({ store, commits, leases, blobs, log });
  const sendings = new Sendings({
    outgoing,
    now,
    readAll: (orgId, inboxId, ids) => messages.readAll(orgId, inboxId, ids),
  });
  const retention = new Retention({ store, leases, messages, now, log });
  const inboxes = new Inboxes({
    store,
    records,
    commits,
    random,
    limits,
    domain: domain!,
    ownLocalParts: ownLocalParts(config.mail),
  });
  const erasures = new Erasures({
    store,
    commits,
    leases,
    limits,
    log,
    alsoErased: (key) => key[0] === "mail-draft" ? [draftOwnerKey(key[3] as string)] : [],
    eraseFirst: (orgId) => blobs.dropSome([orgId]),
    rowsOfOrg: [
      (orgId) => [["mail-key-used", orgId]],
      (orgId) => ["mail-inbox", "mail-list", "mail-client-id"].map((name) => [name, orgId]),
      (orgId) =>
        [
          ...INBOX_TABLES,
          ...SUPPRESSION_TABLES,
          "mail-figures",
          "mail-idempotency",
          "mail-approval",
          "mail-inbox-erasure",
          "mail-object",
          "mail-retention",
          "mail-storage",
        ].map((name) => [name, orgId]),
    ],
  });
  const { from } = config.mail;
  const { baseUrl } = config;
  if (mailer !== undefined && from !== undefined) {
    outgoing.register(linkDelivery({ store, records, secret, limits, from, baseUrl, mailer }));
  }
  const { googleClientId: clientId, googleJwksUrl: url } = config.mail;
  const googleKeys = new GoogleKeys({ url, fetch, now });
  const signIn = clientId === undefined ? null : { clientId, keys: googleKeys };
  const answers = new AnswersInHand({ bounds: MAIL_ANSWERS });
  const shared = {
    ...core,
    answers,
    secret,
    pages,
    inboxes,
    mailboxes,
    messages,
    sendings,
    blobs,
    lastUsed,
    now,
    random,
  };
  const pageBytes = limits.pageBytes;
  const suppressions = new Suppressions({ store, records, commits, limits });
  const sending = openSending({
    ...shared,
    outgoing,
    suppressions,
    reader: worker,
    baseUrl,
    dkim,
    domain: domain!,
  });
  const { changes, reports } = openReports(shared);
  const auth = await openAuth(deps);
  const receiver = new Receiver({
    ...shared,
    destinations: new Destinations({
      domain: domain!,
      reports,
      operatorMail: new OperatorMail({ ...shared, outgoing, from: from!.address }),
      bounceKey: () => secret.key("mail-bounce"),
    }),
    readMail: (raw, context) => worker.read(raw, context),
    checkAuth: ({ raw, from, clientIp, clientHelo }) =>
      auth.check(raw, { clientIp, helo: clientHelo, envelopeFrom: from }),
  });
  if (mailer !== undefined && from !== undefined) {
    const mail = { ...config.mail, domain: domain!, from };
    openDelivery({ ...shared, changes, receiver, outgoing, mailer, config: mail });
    const operator = config.mail.postmaster ?? from.address;
    const compose = sending.compose;
    outgoing.register(operatorDelivery({ ...shared, mailer, compose, from, operator }));
  }
  if (mailer !== undefined && from !== undefined) {
    const { drafts } = sending;
    outgoing.register(
      approvalDelivery({ ...shared, drafts, from, baseUrl, domain: domain!, mailer }),
    );
  }
  const handIn: Mail["handIn"] = async (mail) =>
    settle(await receiver.receive({ ...mail, clientIp: null, clientHelo: null }));
  const search = new MailSearch({ store, blobs });
  return {
    isOn: true,
    handIn: local ? handIn : null,
    routes: mailRoutes({
      limits,
      on: {
        authenticator,
        tools: mailToolRoute({
          ...shared,
          ...sending,
          authenticator,
          search,
          waits,
          messagePages: new MessagePages({
            store,
            messages,
            sendings,
            pageBytes: limits.toolPageBytes,
          }),
          config,
          log,
          domain: domain!,
        }),
        handlers: {
          ...orgHandlers({ ...shared, erasures }),
          ...signInHandlers({ ...shared, outgoing, config, domain: domain! }),
          ...googleHandlers({
            ...shared,
            domain: domain!,
            signIn,
            prepareOwnerChange: (asked) => prepareOwnerChange({ ...shared, outgoing }, asked),
          }),
          ...keyHandlers(shared),
          ...inboxHandlers({ ...shared, erasures: inboxErasures, domain: domain! }),
          ...receivingHandlers({
            receiver,
            remembered: new RememberedAnswers({ records, commits, store }),
            inboundSecret,
            limits,
            now,
          }),
          ...deliveryHandlers({
            events: new DeliveryEvents({ store, changes }),
            inboundSecret,
            limits,
            now,
          }),
          ...sending.handlers,
          ...searchHandlers({ ...shared, search }),
          ...suppressionHandlers({ ...shared, suppressions }),
          ...figureHandlers({ ...shared, store }),
          ...messageHandlers({
            ...shared,
            waits,
            worker,
            messagePages: new MessagePages({ store, messages, sendings, pageBytes }),
            streamPages: new MessagePages({
              store,
              messages,
              sendings,
              pageBytes: STREAM_PAGE_BYTES,
            }),
            threadPages: new ThreadPages({ store, messages, pageBytes }),
            streams: new MessageStreams(),
            room: new AnswerRoom(answers),
          }),
        },
      },
    }),
    notes: [
      startupNote("mail", `on: inboxes at ${domain}${secretNote}`),
      ...auth.notes,
      startupNote("google", signInNote(config.mail)),
    ],
    start() {
      erasures.begin();
      inboxErasures.begin();
      retention.begin();
    },
    async everyMinute() {
      await Promise.all([
        lastUsed.flush(),
        erasures.run(),
        inboxErasures.run(),
        retention.run(),
        sending.everyMinute(),
      ]);
    },
    async close() {
      googleKeys.close();
      answers.close();
      worker.close();
      auth.close();
      sending.close();
      await Promise.all([erasures.close(), inboxErasures.close(), retention.close()]);
      await flushLast(lastUsed);
    },
  };
}

/** A page of a stream, of which ten of an org may stand untaken. */
const STREAM_PAGE_BYTES = 64 * 1024;

function signInNote({ googleClientId, googleJwksUrl }: MailConfig): string {
  return googleClientId === undefined
    ? "off: RELAY_GOOGLE_CLIENT_ID is unset, sign-in with Google answers 503"
    : `on: keys of ${new URL(googleJwksUrl).host}`;
}
