/// <reference lib="dom" />
/** The mailbox as a person walks through it: sizes, lights, with and without JavaScript, by the keyboard alone. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted } from "../../support/mail_caller.ts";
import { expectNoFaults, loadAxe } from "../../support/page_faults.ts";
import { partOrSkip } from "../../support/part.ts";
import { deliver } from "../../support/sending_org.ts";
import { watchPage } from "../pages/watch_page.ts";
import { type MailboxWorld, makeMailboxWorld, signIn } from "./mailbox_world.ts";

const WIDE = { viewport: { width: 1280, height: 800 } };
const NARROW = { viewport: { width: 390, height: 780 } };
const LOOKS = isLong
  ? [WIDE, NARROW].flatMap((size) =>
    (["light", "dark"] as const).map((colorScheme) => ({ ...size, colorScheme }))
  )
  : [{ ...WIDE, colorScheme: "light" as const }, { ...NARROW, colorScheme: "dark" as const }];

const row = (page: Page, text: string) => page.locator("a.row", { hasText: text });

async function openList(page: Page, { relay, helpdesk }: MailboxWorld): Promise<void> {
  await page.goto(`${relay.url}/mail/inboxes/${helpdesk.id}`);
}

partOrSkip(
  "chromium",
  "every page of the mailbox is free of faults in every look, and asks no other host",
  async (program) => {
    await withChromium(program, async (browser) => {
      let visited = 0;
      for (const look of LOOKS) {
        await using world = await makeMailboxWorld();
        const { relay, owner, helpdesk, research } = world;
        accepted(
          await owner.ask("POST", "/v1/mail/webhooks", {
            body: { url: "http://127.0.0.1:9/hook" },
          }),
          201,
        );
        const [hook] = accepted(await owner.ask("GET", "/v1/mail/webhooks"), 200).data;
        const [draft] = accepted(
          await owner.ask("GET", `/v1/mail/inboxes/${research.id}/drafts`),
          200,
        ).data;
        const { data } = accepted(
          await owner.ask("GET", `/v1/mail/inboxes/${helpdesk.id}/messages?limit=100`),
          200,
        );
        const paths = [
          `/mail/inboxes/${helpdesk.id}`,
          ...["unread", "codes", "sent"].map((one) => `/mail/inboxes/${helpdesk.id}?view=${one}`),
          // deno-lint-ignore no-explicit-any -- JSON of a test's own mails
          ...data.map(({ thread_id, id }: any) => `/mail/threads/${thread_id}?m=${id}`),
          `/mail/threads/${data[0].thread_id}?headers=yes`,
          "/mail/search?q=printers",
          "/mail/search?q=nothing",
          `/mail/write?inbox=${helpdesk.id}`,
          `/mail/write?reply=${data[0].id}`,
          `/mail/write?forward=${data[0].id}`,
          `/mail/write?draft=${draft.id}`,
          "/mail/waiting",
          `/mail/waiting/${draft.id}`,
          ...["keys", "webhooks", "lists", "figures", "org"].map((one) => `/mail/${one}`),
          `/mail/webhooks/${hook.id}`,
        ];
        await withPage(browser, { ...look, bypassCSP: true }, async (page) => {
          const { urls, complaints } = watchPage(page);
          await page.goto(`${relay.url}/mail`);
          await loadAxe(page);
          await expectNoFaults(page);
          await signIn(page, world);
          for (const path of paths) {
            await page.goto(relay.url + path);
            await loadAxe(page);
            await expectNoFaults(page);
            assert.equal(await page.locator("h1").count(), 1, path);
            visited++;
          }
          assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
          assert.deepEqual(complaints, []);
        });
      }
      assert.ok(visited >= LOOKS.length * 25, `${visited} pages`);
    });
  },
);

partOrSkip("chromium", "by the keyboard alone: find, read, copy, mark, answer", async (program) => {
  await using world = await makeMailboxWorld();
  const { relay, owner, helpdesk } = world;
  await withChromium(program, async (browser) => {
    await withPage(
      browser,
      { ...WIDE, permissions: ["clipboard-read", "clipboard-write"] },
      async (page) => {
        const { complaints } = watchPage(page);
        await signIn(page, world);
        await openList(page, world);
        await page.keyboard.press("j");
        await page.keyboard.press("j");
        await page.keyboard.press("k");
        assert.match(await page.locator("a.row:focus").innerText(), /Your sign-in code/);
        await page.keyboard.press("Enter");
        await page.locator(".code-card").waitFor();
        await page.waitForLoadState(); // the keys are there when the script is
        await page.keyboard.press("c");
        await page.getByRole("button", { name: "Copied" }).waitFor();
        assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "482913");

        // Opened, it is read; `e` makes it unread again, and leads back to the list, where it stays so.
        await page.getByRole("button", { name: "Mark unread" }).waitFor();
        await page.keyboard.press("e");
        await page.locator("a.row.unread", { hasText: "Your sign-in code" }).waitFor();
        await page.waitForLoadState();
        assert.equal(await page.locator(".pane").count(), 0);

        await page.keyboard.press("?");
        await page.getByRole("dialog").waitFor();
        await page.keyboard.press("Escape");
        await page.keyboard.press("/");
        await page.keyboard.type("printers");
        await page.keyboard.press("Enter");
        await page.locator("mark", { hasText: "printers" }).first().waitFor();
        await page.waitForLoadState();
        await page.keyboard.press("j");
        await page.keyboard.press("Enter");
        await page.locator("a[data-key=r]").waitFor();
        await page.waitForLoadState();
        await page.keyboard.press("r");
        await page.locator("textarea:focus").waitFor();
        await page.keyboard.type("With the duplex units, then.");
        await page.keyboard.press("Tab"); // to the files
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.getByText("With the duplex units, then.").first().waitFor();
        assert.deepEqual(complaints, []);
      },
    );
  });
  const { data } = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${helpdesk.id}/messages?direction=outbound`),
    200,
  );
  assert.equal(data[0].preview, "With the duplex units, then.");
  assert.equal(data[0].to[0].address, "buyer@shop.example");
  await deliver(relay);
});

partOrSkip(
  "chromium",
  "mail that comes appears by itself, and the title counts it",
  async (program) => {
    await using world = await makeMailboxWorld();
    await withChromium(program, async (browser) => {
      await withPage(browser, WIDE, async (page) => {
        await signIn(page, world);
        const isOpen = page.waitForResponse((answer) => answer.url().includes("/mail/stream"));
        await openList(page, world);
        await isOpen;
        assert.match(await page.title(), /^\(5\) /);
        await world.come("From: c@else.test\nSubject: Just now\n\nHello.\n");
        await row(page, "Just now").waitFor();
        await page.waitForFunction(() => document.title.startsWith("(6) "));
      });
    });
  },
);

partOrSkip(
  "chromium",
  "without JavaScript: write with a file, schedule, cancel, label, mark, approve, delete",
  async (program) => {
    await using world = await makeMailboxWorld();
    const { relay, owner, helpdesk } = world;
    await withChromium(program, async (browser) => {
      await withPage(browser, { ...NARROW, javaScriptEnabled: false }, async (page) => {
        const { urls, complaints } = watchPage(page);
        const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
        await signIn(page, world);
        await openList(page, world);
        await row(page, "Your sign-in code").click();
        assert.equal(await page.locator(".code-card code").innerText(), "482 913");
        assert.equal(await page.getByRole("button", { name: /^Copy/ }).count(), 0);
        await press("Mark read");
        await page.getByRole("button", { name: "Mark unread" }).waitFor();
        await page.locator("summary", { hasText: "Labels" }).click();
        await page.getByLabel("Label", { exact: true }).fill("codes");
        await press("Add");
        await page.locator(".pane .chip", { hasText: "codes" }).first().waitFor();
        await page.getByRole("link", { name: "Back to the list" }).click();

        await page.getByRole("link", { name: "Write" }).click();
        await page.getByLabel("To", { exact: true }).fill("Ben <ben@example.net>, c@example.net");
        await page.getByLabel("Subject").fill("Later");
        await page.getByLabel("Text").fill("Not before noon.");
        await page.getByLabel("Attachments").setInputFiles({
          name: "notes.txt",
          mimeType: "text/plain",
          buffer: Buffer.from("notes"),
        });
        const at = new Date(relay.clock.now() + 3_600_000).toISOString().slice(0, 16);
        await page.getByLabel("Send later, UTC").fill(at);
        await press("Send");
        await page.getByRole("link", { name: "notes.txt" }).waitFor();
        await press("Do not send it");
        await page.locator(".pane .chip", { hasText: "cancelled" }).first().waitFor();
        await page.locator("summary", { hasText: "Delete" }).click();
        await press("Delete this mail for good");
        await page.waitForURL(/\/mail\/inboxes\//);
        assert.equal(await row(page, "Later").count(), 0);

        await page.goto(`${relay.url}/mail/waiting`);
        await row(page, "Your paper").click();
        await press("Approve and send");
        await page.getByText("It is on its way.").waitFor();

        await page.goto(`${relay.url}/mail/write?inbox=${helpdesk.id}`);
        await page.getByLabel("To", { exact: true }).fill("no address");
        await page.getByLabel("Text").fill("Kept.");
        await press("Send");
        await page.getByRole("alert").waitFor();
        assert.equal(await page.getByLabel("Text").inputValue(), "Kept.");

        await page.goto(`${relay.url}/mail/keys`);
        await page.getByLabel("Name").fill("shop");
        await press("Make the key");
        assert.match(await page.locator("code.whole").innerText(), /^rm_sk_/);
        assert.deepEqual(urls.filter((url) => !url.startsWith(`${relay.url}/`)), []);
        assert.deepEqual(complaints, []);
      });
    });
    const sent = accepted(
      await owner.ask("GET", `/v1/mail/inboxes/${world.research.id}/messages?direction=outbound`),
      200,
    ).data;
    assert.equal(sent[0].subject, "Your paper");
  },
);
