/** Routes of orgs: registration, the org itself, and what its operator decides. */
import { requireAdmin } from "../../base/http/callers/require_admin.ts";
import type { Deps } from "../../base/parts/deps.ts";
import { invalidJson } from "../../base/errors.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import type { ClientAddresses } from "../../base/http/callers/client_address.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import type { FreeDisk } from "../../base/storage/free_disk.ts";
import type { GroupCommit } from "../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../base/storage/commits/record_cache.ts";
import type { PossibleTimes } from "../../base/storage/rows/timely.ts";
import type { MailRequest } from "../access/mail_route.ts";
import type { MailHandlers } from "../access/paths.ts";
import type { MailSecret } from "../access/mail_secret.ts";
import { deleteOrg, requireStanding, setSuspended } from "./change_org.ts";
import type { Erasures } from "./erasures.ts";
import { registerOrg } from "./register_org.ts";
import { readRegistration } from "./registration_request.ts";
import { shownOrg } from "../mailbox/shown/shown_org.ts";

export interface OrgRouteServices {
  deps: Deps;
  store: { clock: PossibleTimes };
  records: RecordCache;
  commits: GroupCommit;
  freeDisk: FreeDisk;
  secret: MailSecret;
  erasures: Erasures;
  clients: ClientAddresses;
}

export function orgHandlers(services: OrgRouteServices) {
  const { deps, store, records, commits, freeDisk, secret, erasures } = services;
  const { config, now, random, log } = deps;
  const { limits } = config;

  async function register({ c, body }: MailRequest): Promise<Response> {
    const request = readRegistration(await body(), store.clock, limits.signatureWindowSeconds);
    await freeDisk.refuseWhenFull();
    await secret.key("mail-link"); // made with the first org
    const addressHash = services.clients.hashOf(c);
    const registering = { commits, random, now, limits };
    const { org, apiKey, keyPrefix } = await registerOrg(registering, request, addressHash);
    return answerJson(
      {
        org_id: org.id,
        agent_id: org.agentId,
        api_key: apiKey,
        key_prefix: keyPrefix,
        trial: true,
        expires_in_hours: limits.mailTrialHours,
        note: `A trial: its inbox receives for ${limits.mailTrialHours} hours and cannot send. ` +
          "Keep the API key, it is shown this once. To go on and to send, have a person claim " +
          "the org: POST /v1/mail/org/claim with their e-mail address.",
      },
      201,
      NO_STORE,
    );
  }

  async function suspend({ c, params, body }: MailRequest, suspended: boolean): Promise<Response> {
    requireAdmin(c.req.raw.headers, config.adminToken);
    const orgId = params["id"]!;
    await requireStanding({ records, limits, now }, orgId);
    await body({});
    await setSuspended({ commits, limits }, orgId, suspended);
    log(suspended ? "mail_org_suspended" : "mail_org_unsuspended", { org_id: orgId });
    return answerJson({ org_id: orgId, suspended });
  }

  return {
    registerMail: register,
    registerMailTrial: register,
    readMailOrg({ org }) {
      return Promise.resolve(answerJson(shownOrg(org, limits, now()), 200, NO_STORE));
    },
    async deleteMailOrg(request) {
      const { org } = request;
      const { org_id } = await request.body();
      if (org_id !== org.id) {
        throw invalidJson(
          `org_id must be the id of this key's org, ${org.id}: deleting erases everything of it`,
        );
      }
      const deleted = await deleteOrg({ commits, limits }, request);
      if (deleted !== null) log("mail_org_deleted", { org_id: org.id });
      erasures.begin();
      return noContent();
    },
    suspendMailOrg: (request) => suspend(request, true),
    unsuspendMailOrg: (request) => suspend(request, false),
  } satisfies MailHandlers;
}
