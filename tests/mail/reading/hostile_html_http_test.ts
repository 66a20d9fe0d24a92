/**
 * HTML that is costly to read, over HTTP: sent, kept as a draft and shown, and received. Whoever else
 * asks the relay is answered meanwhile.
 */
import assert from "node:assert/strict";
import { makeDraftWorld, newDraft, newestApproval, openPage } from "../../support/draft_world.ts";
import { HOSTILE_HTML } from "../../support/hostile_html.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { accepted } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { leastMainLoopGap } from "../../support/main_loop_gap.ts";
import { readMessage, send } from "../../support/sending_org.ts";

const SIZES = [10_500, 25_000, 58_600];
/** Documents whose cost grew with the square of their length, or worse. */
const SHAPES = [
  "lingering formatting with many classes",
  "lingering formatting with a long style",
  "one selector again and again",
  "a selector of escapes",
];
const MAX_GAP_MS = 50;
/** Code compiled at its first run is no part of what a mail costs. */
const WARM_UP = "<style>p{color:red}</style><p class=a>warm";

const HTMLS = SHAPES.flatMap((shape) =>
  SIZES.map((size) => ({ name: `${shape}, ${size} bytes`, html: HOSTILE_HTML[shape]!(size) }))
);

/** The longest that the main loop was held, and that another client waited for its answer. */
async function beside(url: string, during: (run: number) => Promise<void>) {
  let isOver = false;
  let answers = 0;
  const other = (async () => {
    while (!isOver) {
      const answer = await fetch(`${url}/health`);
      await answer.body?.cancel();
      assert.equal(answer.status, 200);
      answers++;
    }
  })();
  const gapMs = await leastMainLoopGap(MAX_GAP_MS, during).finally(() => isOver = true);
  await other;
  return { gapMs, answers };
}

Deno.test("hostile HTML that is sent holds nobody up", async (t) => {
  await using relay = await startMailRelay({ clockStartMs: "real" });
  const { owner, inbox } = await makeDraftWorld(relay, { inbox: { send_policy: "direct" } });
  accepted(await send(owner, inbox, { text: undefined, html: WARM_UP }), 202);
  for (const { name, html } of HTMLS) {
    await t.step(name, async () => {
      const { gapMs, answers } = await beside(relay.url, async () => {
        const sent = accepted(
          await send(owner, inbox, { text: undefined, html }),
          202,
        );
        assert.equal((await readMessage(owner, sent.id)).html, html);
      });
      assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
      assert.ok(answers > 0);
    });
  }
});

Deno.test("hostile HTML of a draft holds nobody up, nor does the page that shows it", async (t) => {
  await using relay = await startMailRelay({ clockStartMs: "real" });
  const { agent, inbox } = await makeDraftWorld(relay);
  const draftOf = (html: string) => newDraft(agent, inbox.id, { to: "ann@example.org", html });
  await draftOf(WARM_UP);
  accepted(await openPage(relay, await newestApproval(relay)), 200);
  for (const { name, html } of HTMLS) {
    await t.step(name, async () => {
      const { gapMs, answers } = await beside(relay.url, async () => {
        await draftOf(html);
        accepted(await openPage(relay, await newestApproval(relay)), 200);
      });
      assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
      assert.ok(answers > 0);
    });
  }
});

Deno.test("hostile HTML that comes in holds nobody up, and is read within its time", async (t) => {
  await using rig = await startInboundRig();
  const deliver = async (html: string) => {
    const id = await rig.store({ headers: { "Content-Type": "text/html" }, text: html });
    return await rig.get(`/v1/mail/messages/${id}`);
  };
  await deliver(WARM_UP);
  for (const { name, html } of HTMLS) {
    await t.step(name, async () => {
      const { gapMs, answers } = await beside(rig.relay.url, async (run) => {
        const message = await deliver(`${html} ${run}`); // the same bytes again are a repetition
        assert.deepEqual([message.parse_warnings, message.text.slice(0, 1)], [[], "x"]);
      });
      assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
      assert.ok(answers > 0);
    });
  }
});
