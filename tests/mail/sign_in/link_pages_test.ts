/** The pages behind links in a browser: a person signs in, claims, refuses and takes back. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { withChromium, withPage } from "../../support/chromium.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { claimLink, follow, magicLink, newestLink } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { partOrSkip } from "../../support/part.ts";

const EMAIL = "owner@example.org";

/** What the browser says against a page, such as its policy refusing a form or a style. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("console", (message) => {
    // A 410 of the page's own.
    if (message.type() === "error" && !/status of 410/.test(message.text())) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => void complaints.push(String(error)));
  return complaints;
}

const heading = (page: Page) => page.locator("h1").innerText();

partOrSkip("chromium", "a person follows each kind of link, button by button", async (program) => {
  await using relay = await startMailRelay();
  const holder = await newOrg(relay);
  await withChromium(program, async (browser) => {
    await withPage(browser, { viewport: { width: 390, height: 800 } }, async (page) => {
      const complaints = complaintsOf(page);
      const open = (path: string) => page.goto(relay.url + path);
      const press = async (label: string, then: string) => {
        await page.getByRole("button", { name: label }).click();
        await page.locator("h1", { hasText: then }).waitFor();
      };

      const refused = await claimLink(relay, holder.key, EMAIL);
      await open(`${refused.path}#not-me`);
      await press("This was not me", "The claim is ended");
      assertMailRefused(await follow(relay, refused), "link_expired");

      await open((await claimLink(relay, holder.key, EMAIL)).path);
      assert.equal(await heading(page), "Confirm a mail org");
      assert.ok((await page.locator("main").innerText()).includes(holder.key.slice(0, 12)));
      await press("The org is mine", "The org is yours");
      assert.equal(accepted(await holder.readOrg(), 200).verified_email, EMAIL);

      const link = await magicLink(relay, EMAIL);
      await open(link.path);
      assert.equal(await heading(page), "Which mail org?");
      await press("Open this org, and show an API key", "Signed in");
      const key = await page.locator("pre.copy").innerText();
      assert.equal(accepted(await holder.with(key).readOrg(), 200).org_id, holder.orgId);
      await press("Delete all other keys", "Other keys are deleted");
      assertMailRefused(await holder.readOrg(), "unknown_key");
      assert.equal((await open(link.path))!.status(), 410);
      assert.equal(await heading(page), "This link does not work");

      relay.clock.advance(1_000);
      accepted(await follow(relay, await claimLink(relay, key, "thief@example.org")), 200);
      await open((await newestLink(relay, EMAIL)).path);
      await press("Take it back", "The org is yours again");
      assert.equal(accepted(await holder.with(key).readOrg(), 200).verified_email, EMAIL);
      assert.deepEqual(complaints, []);
    });
  });
});
