/** What a search finds in messages of which not everything lies at hand. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { blobPath } from "../../../server/base/blobs/blob_name.ts";
import { newId, openSearchRig } from "../../support/search_rig.ts";

Deno.test("a search finds all words of long texts, none that is cut, and goes on without damaged ones", async () => {
  using kv = await Deno.openKv(":memory:");
  const dir = await Deno.makeTempDir();
  try {
    await using rig = await openSearchRig({ kv, dir });
    const orgId = newId("org");
    const inboxId = await rig.addInbox(orgId);
    const ids: string[] = [];
    // HEAD ends within a word of each.
    const long = `${"a ".repeat(32_766)}needlework and behind it more`;
    for (const text of [long, `${long} ${"b ".repeat(600_000)}farther`, "short and whole"]) {
      rig.clock.advance(1_000);
      ids.unshift((await rig.deliver(orgId, inboxId, { subject: "text", text })).id);
    }
    rig.clock.advance(1_000);
    const damaged = await rig.deliver(orgId, inboxId, { subject: "text", text: "to be lost" });
    const file = join(rig.root, ...blobPath(damaged.blob.name));
    const bytes = await Deno.readFile(file);
    await Deno.truncate(file, 12);
    await rig.index.catchUp();
    const [short, longer, longest] = [ids[0]!, ids[2]!, ids[1]!];
    const cases: [q: string, found: string[]][] = [
      ["need", []],
      ["needlework", [longest, longer]],
      ['"behind it more"', [longest, longer]],
      ["farther", [longest]],
      ["short", [short]],
      ["lost", []],
      ["text", [damaged.id, ...ids]],
    ];
    const lists = rig.lists();
    for (const engine of ["indexed", "scanned"] as const) {
      for (const [q, expected] of cases) {
        const { found } = await rig.findAll(engine, orgId, [inboxId], q);
        assert.deepEqual(found.map(({ id }) => id), expected, `${engine}: ${q}`);
      }
    }
    assert.equal(rig.lists(), lists, "the index answers alone");
    await Deno.writeFile(file, bytes);
    const mended = await rig.findAll("indexed", orgId, [inboxId], "lost");
    assert.deepEqual(mended.found.map(({ id }) => id), [damaged.id], "once its bytes are back");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
