/** What an org takes of the disk: counted until it is swept, whatever was replaced, dropped or refused. */
import assert from "node:assert/strict";
import { blobFilesIn } from "../../support/blob_rig.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted, type MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { newDraft } from "../../support/draft_world.ts";

const MIB = 1024 * 1024;
const HOUR_MS = 3_600_000;
/** The eighth is refused, and those after it. */
const PATCHES = isLong ? 40 : 10;

/** Bytes of all blobs in the relay's data folder. */
async function diskBytes({ deps }: TestRelay): Promise<number> {
  let bytes = 0;
  for (const path of await blobFilesIn(deps.config.dataDir)) bytes += (await Deno.stat(path)).size;
  return bytes;
}

async function usedBytes(by: MailKeyHolder): Promise<number> {
  return accepted(await by.ask("GET", "/v1/mail/usage"), 200).storage_bytes.used;
}

function fileOf(sizeBytes: number) {
  const content = btoa("x".repeat(sizeBytes));
  return { filename: "a.bin", content_type: "application/octet-stream", content };
}

/** Two hours, with the relay's upkeep run every half hour. */
async function sweepDeletions({ clock, relay }: TestRelay): Promise<void> {
  for (let i = 0; i < 4; i++) {
    clock.advance(HOUR_MS / 2);
    await relay.crons["figures"]!();
  }
}

Deno.test(`${PATCHES} PATCHes of a draft with 7 MB by a trial: disk and storage_bytes stay within its quota`, async () => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  const inbox = await holder.inbox();
  const { id } = await newDraft(holder, inbox.id, { text: "Hello" });
  const file = fileOf(7 * MIB);
  const statuses = new Map<number, number>();
  for (let i = 0; i < PATCHES; i++) {
    const answer = await holder.ask("PATCH", `/v1/mail/drafts/${id}`, {
      body: { attachments: [file] },
    });
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    if (answer.status !== 200) assert.ok(Number(answer.headers.get("retry-after")) >= 1);
    const [disk, used] = [await diskBytes(relay), await usedBytes(holder)];
    assert.ok(disk <= used, `${disk} bytes on the disk, ${used} counted`);
    assert.ok(used <= 50 * MIB);
  }
  assert.equal(statuses.get(200), 7);
  assert.deepEqual([...statuses.keys()].sort(), [200, 503]);
  await sweepDeletions(relay);
  assert.equal(await diskBytes(relay), await usedBytes(holder));
  assert.ok(await usedBytes(holder) < 8 * MIB);
  accepted(
    await holder.ask("PATCH", `/v1/mail/drafts/${id}`, { body: { attachments: [file] } }),
    200,
  );
});
