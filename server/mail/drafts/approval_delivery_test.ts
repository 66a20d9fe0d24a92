import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { DEFAULT_LIMITS } from "../../base/config/limits.ts";
import type { OutgoingItem } from "../../base/outgoing/outgoing_handler.ts";
import type { DraftRow } from "../records/draft_record.ts";
import { newOrg } from "../records/org_record.ts";
import { approvalDelivery } from "./approval_delivery.ts";
import type { ApprovalMailPayload } from "./ask_approval.ts";

const ORG_ID = "org_01KT1GW6G0WEGMHY6P9JBQ54A0";
const MAIL_ID = "mail-draft/1";
const EMAIL = "owner@example.org";

Deno.test("approvalDelivery() hands no mail over of a draft that changes while the next hop waits for the content", async () => {
  using kv = await openMemoryKv();
  const { store, clock, close } = await openTestStorage(kv);
  const untilMs = clock.now() + 60_000;
  const draft = {
    id: "dft_01KT1GW6G0WEGMHY6P9JBQ54A1",
    orgId: ORG_ID,
    inboxId: "ibx_1",
    revision: 1,
    to: ["ann@example.org"],
    cc: [],
    bcc: [],
    createdByKey: "key_1",
    asked: { email: EMAIL, mailId: MAIL_ID, links: [{ revision: 1, untilMs }] },
  };
  const sent: string[] = [];
  let meanwhile = () => {};
  const handler = approvalDelivery({
    store,
    records: {
      // deno-lint-ignore no-explicit-any -- of whatever record is asked for
      read: (key: Deno.KvKey): Promise<any> =>
        Promise.resolve(
          key[0] === "mail-org" ? newOrg(ORG_ID, 1, { verifiedEmail: EMAIL }) : null,
        ),
    },
    secret: { key: () => Promise.resolve(new Uint8Array(32)) },
    limits: DEFAULT_LIMITS,
    drafts: { read: () => Promise.resolve({ ...draft } as unknown as DraftRow) },
    inboxes: { byId: () => Promise.resolve({ localPart: "bot" } as never) },
    from: { name: "Relay", address: "relay@relay.test" },
    baseUrl: "https://relay.test",
    domain: "agents.test",
    connections: 10,
    mailer: {
      async send({ content }, { beforeContent }) {
        meanwhile();
        await beforeContent();
        sent.push(new TextDecoder().decode(content));
        return { result: "sent", reason: "250", reply: null };
      },
      close: () => Promise.resolve(),
    },
  });
  const attempt = () =>
    handler.attempt({
      id: MAIL_ID,
      payload: {
        v: 1,
        orgId: ORG_ID,
        draft: { inboxId: draft.inboxId, id: draft.id },
        messageId: "m",
        refusals: 0,
      },
      queuedAtMs: clock.now(),
      attempts: 1,
      signal: new AbortController().signal,
      commitData: () => Promise.resolve(),
    } as unknown as OutgoingItem<ApprovalMailPayload>);
  meanwhile = () => void (draft.revision = 2);
  const withdrawn = await attempt();
  assert.ok(withdrawn.result === "retry" && withdrawn.untried && withdrawn.afterMs === 0);
  assert.deepEqual(sent, []);
  // Read again, it shows the draft as it is now, and none that was sent meanwhile.
  assert.equal((await attempt()).result, "done");
  assert.equal(sent.length, 1);
  draft.asked.mailId = "mail-draft/2";
  assert.equal((await attempt()).result, "dropped");
  await close();
});
