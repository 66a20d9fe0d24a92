/** The erasure of an org and a process that is killed. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming } from "../../support/mail_store.ts";
import { openKvFile } from "../../support/read_through.ts";
import { makeStoreFolder } from "../../support/relay.ts";
import { spawnRelay } from "../../support/spawn_relay.ts";

const INBOXES = 150;

async function register(url: string): Promise<MailKeyHolder> {
  const { org_id, api_key } = accepted(
    await askMail(url, "POST", "/v1/mail/agents/register", { body: signRegistration(Date.now()) }),
    201,
  );
  return new MailKeyHolder(url, api_key, org_id);
}

Deno.test("a relay that is killed while it erases an org ends that after its next start", async () => {
  const { dir, kvPath } = await makeStoreFolder();
  const killed = await spawnRelay({
    env: {
      RELAY_DATA_DIR: dir,
      RELAY_MAIL_DEV: "true",
      RELAY_LIMITS: JSON.stringify({ mailInboxesPerTrial: INBOXES }),
    },
  });
  const [owner, other] = [await register(killed.url), await register(killed.url)];
  const lists = { allow_send: ["a.org"], allow_receive: ["b.org"], block_receive: ["c.org"] };
  await Promise.all(
    Array.from({ length: INBOXES }, (_, i) => owner.inbox({ client_id: `c${i}`, ...lists })),
  );
  const kept = await other.inbox(lists);
  accepted(await owner.deleteOrg(), 204);
  await killed.kill("SIGKILL");
  {
    using kv = await openKvFile(kvPath);
    const rows = await rowsNaming(kv, owner.orgId);
    // Its erasure had begun at most: most of it is still there.
    assert.ok(rows.length > 2 * INBOXES, `${rows.length} rows`);
  }
  const again = await startMailRelay({ kvPath, clockStartMs: "real", config: { dataDir: dir } });
  const at = again;
  assertMailRefused(await owner.at(at).readOrg(), "unknown_key");
  await again.relay.crons.figures!();
  assertMailRefused(await owner.at(at).readOrg(), "unknown_key");
  const path = `/v1/mail/inboxes/${kept.id}`;
  assert.deepEqual(accepted(await other.at(at).ask("GET", path), 200), kept);
  await again.stop();
  {
    using kv = await openKvFile(kvPath);
    const left = await rowsNaming(kv, owner.orgId);
    assert.equal(left.filter((row) => row.includes('"mail-address"')).length, INBOXES);
    assert.equal(left.length, INBOXES + 1);
    assert.ok(left.some((row) => row.includes('"mail-public-key"')));
  }
  await Deno.remove(dir, { recursive: true });
});
