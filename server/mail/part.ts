/** The mail area as a part of the relay: on with what it is made of, or off and why. */
import type { MailConfig } from "../config.ts";
import type { Core } from "../core.ts";
import { flushLast } from "../flush_last.ts";
import type { OutgoingQueue } from "../outgoing/outgoing_queue.ts";
import type { Part } from "../part.ts";
import type { KeyRing } from "../sealing/key_ring.ts";
import { startupNote } from "../startup_notes.ts";
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
}

/**
 * @param ring custody keys, under which the area's secrets are sealed
 * @param outgoing what delivers its mails
 * @throws ConfigError for a store whose mail area is another
 */
export async function openMail(
  core: Core,
  ring: KeyRing,
  outgoing: OutgoingQueue,
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
      routes: mailRoutes({ on: null, limits }),
      notes: [startupNote("mail", `off: ${off}, mail routes answer 503`)],
    };
  }
  await claimStore(kv, { domain: domain!, local });
  await openInboundSecret(config, random);
  const madeSecret = local && config.mail.inboundSecret === undefined;
  const secretNote = madeSecret ? `, inbound secret in ${inboundSecretPath(config)}` : "";

  const pages = new ListPages(secret);
  const lastUsed = new LastUsed(store);
  const authenticator = new KeyAuthenticator({ store, records, lastUsed, limits });
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
    rowsOfOrg: [
      (orgId) => [["mail-key-used", orgId]],
      (orgId) => ["mail-inbox", "mail-list", "mail-client-id"].map((name) => [name, orgId]),
    ],
  });
  const { from } = config.mail;
  if (mailer !== undefined && from !== undefined) {
    const { baseUrl } = config;
    outgoing.register(linkDelivery({ store, records, secret, limits, from, baseUrl, mailer }));
  }
  const { googleClientId: clientId, googleJwksUrl: url } = config.mail;
  const googleKeys = new GoogleKeys({ url, fetch, now });
  const signIn = clientId === undefined ? null : { clientId, keys: googleKeys };
  const shared = { ...core, secret, pages, inboxes, lastUsed, now, random };
  return {
    isOn: true,
    routes: mailRoutes({
      limits,
      on: {
        authenticator,
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
          ...inboxHandlers({ ...shared, domain: domain! }),
        },
      },
    }),
    notes: [
      startupNote("mail", `on: inboxes at ${domain}${secretNote}`),
      startupNote("google", signInNote(config.mail)),
    ],
    start: () => erasures.begin(),
    async everyMinute() {
      await Promise.all([lastUsed.flush(), erasures.run()]);
    },
    async close() {
      googleKeys.close();
      await erasures.close();
      await flushLast(lastUsed);
    },
  };
}

function signInNote({ googleClientId, googleJwksUrl }: MailConfig): string {
  return googleClientId === undefined
    ? "off: RELAY_GOOGLE_CLIENT_ID is unset, sign-in with Google answers 503"
    : `on: keys of ${new URL(googleJwksUrl).host}`;
}
