/** The composition root: every part of the relay, put together over what is injected. */
import type { Hono } from "hono";
import { openAdminPages } from "./web/admin/part.ts";
import { openOperator } from "./messaging/operator/part.ts";
import { createAgentCore } from "./messaging/agents/agent_core.ts";
import { openAgents } from "./messaging/agents/part.ts";
import { createApp } from "./app.ts";
import { openBlobs } from "./base/blobs/part.ts";
import {
  openVerification,
  type VerificationOptions,
} from "./messaging/agents/verification/part.ts";
import { createCore } from "./base/parts/core.ts";
import { openConsole } from "./web/console/part.ts";
import type { AskRelay } from "./web/console/mail_api.ts";
import { openCustody } from "./messaging/custody/part.ts";
import { sealedAgentKeys } from "./messaging/custody/sealed_agent_keys.ts";
import type { Deps } from "./base/parts/deps.ts";
import type { Log } from "./base/log.ts";
import { mount } from "./base/description/declaration.ts";
import { openDescription } from "./base/description/part.ts";
import { openDigests } from "./messaging/digest/part.ts";
import { openDirectory } from "./messaging/directory/part.ts";
import { type HttpOptions, openHttp } from "./base/http/part.ts";
import type { HttpEnv } from "./base/http/routes/route.ts";
import { openDocs } from "./web/docs/part.ts";
import { RepetitionSweep } from "./base/idempotency/repetition_sweep.ts";
import { openLocalMode } from "./web/dev/part.ts";
import { HEALTH_ROUTES } from "./process/health.ts";
import type { MailOperator } from "./mail/operator/mail_operator.ts";
import { openMail } from "./mail/part.ts";
import type { SmtpOptions } from "./mail/receiving/smtp/part.ts";
import { SEALED_MAIL_SECRET } from "./mail/access/mail_secret.ts";
import { readPageFile } from "./base/pages/asset_route.ts";
import { openTools } from "./messaging/tools/part.ts";
import { type MessagesOptions, openMessages } from "./messaging/messages/part.ts";
import { openNetwork } from "./messaging/network/part.ts";
import { openOutgoing, type OutgoingOptions } from "./base/outgoing/part.ts";
import { type Crons, type OpenParts, openTogether } from "./base/parts/part.ts";
import { openProfiles } from "./messaging/profiles/part.ts";
import { RecentEvents } from "./process/recent_events.ts";
import { createRelayStatus, type RelayStatusParts } from "./process/relay_status.ts";
import { ROUTES } from "./routes.ts";
import { openInboxPage } from "./web/inbox/part.ts";
import { openSite } from "./web/site/part.ts";
import { openResealing } from "./base/sealing/open_resealing.ts";
import { requirePossible } from "./base/storage/rows/clock_watch.ts";
import { openStorage, type StorageOptions } from "./base/storage/part.ts";
import { openWaiting } from "./base/waiting/part.ts";
import { MINUTE_MS } from "./base/time/time_units.ts";

export interface Relay {
  app: Hono<HttpEnv>;
  /** Whether the mail area is on. */
  mailOn: boolean;
  /** What start-up prints of the parts that run here. */
  startupNotes(): string[];
  /** Keeps all that start-up printed, for the operator's page. */
  rememberStartup(lines: readonly string[]): void;
  /** The log of the relay's parts: the operator's page shows its newest lines. */
  log: Log;
  /** They log what fails, and throw nothing. */
  crons: Crons<void>;
  /** Answers every waiting poll, and lets none wait from now on: the first step of a shutdown. */
  endWaits(): void;
  /** Resolves when every request that app.fetch() was given has been answered. */
  idle(): Promise<void>;
  /** Finishes what was accepted and writes what memory holds. */
  close(): Promise<void>;
}

export type RelayOptions =
  & StorageOptions
  & HttpOptions
  & VerificationOptions
  & OutgoingOptions
  & Pick<MessagesOptions, "recentMessages">
  & { smtp?: SmtpOptions };

/** Lines of the log that the operator's page shows. */
const RECENT_EVENTS = 50;

/**
 * Opens a relay on a store, and closes again what was opened where a part fails.
 * @throws Error when the clock is not between 2025 and 2090, the store is newer, or no writer slot is free
 */
export async function openRelay(given: Deps, options: RelayOptions = {}): Promise<Relay> {
  requirePossible(given.now());
  const recentEvents = new RecentEvents(RECENT_EVENTS, given.now);
  const deps: Deps = { ...given, log: recentEvents.through(given.log) };
  let startup: readonly string[] | undefined;
  return await openTogether(deps.log, async (parts) => {
    const operator = { recentEvents, startupLines: () => startup ?? parts.notes };
    const ask: AskRelay = async (request, env) => await app.fetch(request, env);
    const { bodies, answers, requests, refusals, mailOn, clock } = await openParts(
      parts,
      deps,
      options,
      operator,
      ask,
    );
    const app = createApp({
      ...{ deps, bodies, answers, requests, refusals },
      routes: parts.routes,
    });
    await parts.start();
    // What is due by a clock that may be wrong is not done: the next minute does it.
    const whenSure = (work: () => Promise<void>) => async () => {
      if (clock.isSure) await work();
    };
    const minute = whenSure(() => parts.everyMinute());
    const everyMinute = setInterval(() => void minute(), MINUTE_MS);
    Deno.unrefTimer(everyMinute);
    const crons = Object.entries(parts.crons).map(([name, body]) => [name, whenSure(body)]);
    return {
      app,
      mailOn,
      startupNotes: () => parts.notes,
      rememberStartup: (lines) => void (startup = lines),
      log: deps.log,
      // Where nothing runs between requests, a cron does what is due each minute.
      crons: { ...Object.fromEntries(crons), figures: minute },
      endWaits: () => parts.endWaits(),
      idle: () => requests.idle(),
      async close() {
        clearInterval(everyMinute);
        parts.endWaits();
        await parts.close();
      },
    };
  });
}

/** The parts in the order of their opening: each is given the core, and what it uses of those before it. */
async function openParts(
  parts: OpenParts,
  given: Deps,
  options: RelayOptions,
  operator: Pick<RelayStatusParts, "recentEvents" | "startupLines">,
  ask: AskRelay,
) {
  const storage = parts.add("storage", await openStorage(given, options));
  const { store } = storage;
  const injected: Deps = { ...given, now: store.now };
  const localMode = openLocalMode(injected);
  const deps: Deps = { ...injected, mailer: given.mailer ?? localMode?.mailer };
  const { waits } = parts.add("waiting", openWaiting(deps, storage));
  const http = parts.add("http", openHttp(options));
  const verifier = parts.add("verification", openVerification(deps, http, waits, options));
  const core = createCore(deps, storage, http);
  const agents = createAgentCore(core, verifier);
  const { sweep, figures } = parts.add("network", openNetwork(agents));
  const { hasAgents } = parts.add("agents", openAgents(agents));
  const opened = parts.add("custody", await openCustody(agents));
  const { custody, ring } = opened;
  const { inbox, looks, messages, recent, tokenSender, repetitions } = parts.add(
    "messages",
    openMessages(agents, { ...options, waits, signatory: custody }),
  );
  const { agentSearch } = parts.add("directory", openDirectory(agents));
  const { outgoing } = parts.add("outgoing", await openOutgoing(core, options));
  parts.add("digest", openDigests(agents, { inbox, messages, outgoing }));
  parts.add("profiles", openProfiles(agents));
  const { actions } = parts.add("operator", openOperator(agents, { messages, recent, sweep }));
  let mailIn = (): readonly string[] | null => null;
  const status = createRelayStatus({ core, http, waits, custody: opened, ...operator });
  parts.add("health", {
    routes: mount(HEALTH_ROUTES, { ...core, ...status, mailIn: () => mailIn() }),
  });
  let operatorOfMail: MailOperator | null = null;
  parts.add("admin", openAdminPages(core, { actions, status, mail: () => operatorOfMail }));
  parts.add("tools", openTools(agents, { custody, tokenSender, inbox, agentSearch }));
  const { blobs } = parts.add("blobs", await openBlobs(core, options));
  const { isOn: mailOn, handIn, webhooks, waysIn, console, ...mail } = parts.add(
    "mail",
    await openMail(core, ring, {
      ...{ outgoing, blobs, waits, hasAgents },
      onReceived: localMode?.onReceived,
    }, {
      ...options.smtp,
      requests: http.requests,
    }),
  );
  operatorOfMail = mail.operator;
  mailIn = () => mailOn ? waysIn().map(({ way }) => way) : null;
  parts.add("repetitions", new RepetitionSweep(core, [...repetitions, ...mail.repetitions]));
  if (localMode !== null) parts.add("local mode", localMode.open(handIn, webhooks ?? undefined));
  parts.add("console", openConsole(core, console, ask));
  parts.add("pages", { routes: mount([readPageFile], core) });
  parts.add("inbox page", openInboxPage({ ...agents, looks }));
  parts.add("site", openSite(agents, { figures, agentSearch, holdsKeys: custody.on }));
  const { describe } = parts.add(
    "description",
    openDescription(core, mailOn, ROUTES),
  );
  parts.add("docs", openDocs(core, describe));
  parts.add(
    "resealing",
    openResealing(core, ring, [sealedAgentKeys(agents.identities), SEALED_MAIL_SECRET]),
  );
  return { ...http, mailOn, clock: store.clock };
}
