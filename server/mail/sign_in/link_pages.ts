/** The pages that answer the buttons behind the links of mails. */
import { html } from "hono/html";
import { answerPage } from "../../base/pages/answer_page.ts";
import { COPY_SCRIPT } from "../../base/pages/asset_files.ts";
import { codeBlock, type Html, notice, postButton } from "../../base/pages/elements.ts";
import { frame } from "../../base/pages/frame.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { livingRestores, restoresOfOwner } from "../records/former_owners.ts";
import { CONFIRM_PATHS } from "./link_mail.ts";
import type { SignedIn } from "./magic_link.ts";

export async function answer(title: string, body: Html, status = 200): Promise<Response> {
  return answerPage(await frame(title, body, { scripts: [COPY_SCRIPT] }), { status });
}

const MAGIC = CONFIRM_PATHS.magic;

/** A link that does nothing, for whatever reason. */
export function answerExpired(): Promise<Response> {
  return answer(
    "This link does not work",
    html`${
      notice(
        "warning",
        "A link works once, for a limited time, and until another one is asked for. Ask for a new one.",
      )
    }
<p class="actions"><a class="button" href="/mail">Ask for a new link</a></p>`,
    410,
  );
}

/** @param liveKeys how many other keys of the org open anything */
export function answerSignedIn(
  { org, apiKey, key, otherOrgs }: SignedIn,
  liveKeys: number,
  nowMs: number,
): Promise<Response> {
  const others = otherOrgs.length === 0 ? "" : html`
    <p>Other orgs of this address, to sign in to by
    <code>org_id</code>:</p>
    <ul>${otherOrgs.map((id) => html`<li><code>${id}</code></li>`)}</ul>
  `;
  const ended = livingRestores(org, nowMs).length - restoresOfOwner(org, nowMs).length;
  const keys = liveKeys === 0
    ? html`<p>No other key opens this org.</p>`
    : html`<p>${liveKeys} other ${
      liveKeys === 1 ? "key opens" : "keys open"
    } this org. Agents may be using them.
You know none of them? Then delete them: at once nobody else gets in by a key.</p>`;
  const links = ended === 0
    ? ""
    : html`<p>Deleting them also ends ${
      ended === 1 ? "the link" : `${ended} links`
    } by which owners in between could take the org back; that of the oldest owner of the last 7 days stays.</p>`;
  const shutOut = liveKeys === 0 && ended === 0 && org.google === null
    ? ""
    : html`<h2>Who else gets in</h2>
${keys}${links}
${liveKeys === 0 && ended === 0 ? "" : deleteButton(apiKey)}
${identityOf(org.google, apiKey)}`;
  return answer(
    "Signed in",
    html`<p>You are <b>${org.verifiedEmail}</b>, owner of the mail org <code>${org.id}</code>.</p>
<p>Your API key, shown this once:</p>
${codeBlock(apiKey)}
<p>Lists show it as <code>${key.prefix}</code>, named ${key.name}.</p>
${
      postButton({
        action: "/mail/sign-in/key",
        label: "Open the mailbox",
        fields: { api_key: apiKey },
        kind: "secondary",
      })
    }
${others}${shutOut}`,
  );
}

export function answerConfirmed({ id, verifiedEmail }: OrgRecord): Promise<Response> {
  return answer(
    "The org is yours",
    html`<p>The mail org <code>${id}</code> is that of <b>${verifiedEmail}</b>. Its agents may send.</p>`,
  );
}

export function answerRestored({ id, verifiedEmail }: OrgRecord): Promise<Response> {
  return answer(
    "The org is yours again",
    html`<p>The mail org <code>${id}</code> is that of <b>${verifiedEmail}</b> again, and the API keys made
since are deleted. The key that took it may be older: sign in, and delete the keys that you do not
know.</p>`,
  );
}

export function answerCancelled(): Promise<Response> {
  return answer(
    "The claim is ended",
    notice("success", "Its link works no more, and nothing was changed."),
  );
}

/** @param deleted how many @param google the identity that still signs in; null for none */
export function answerKeysDeleted(
  deleted: number,
  google: OrgRecord["google"],
  apiKey: string,
): Promise<Response> {
  return answer(
    "Other keys are deleted",
    html`<p>${deleted} ${
      deleted === 1 ? "key is" : "keys are"
    } deleted. The one that you were shown is the
only one.</p>
${identityOf(google, apiKey)}`,
  );
}

/** A Google account opens an org whatever becomes of its keys. */
function identityOf(google: OrgRecord["google"], apiKey: string): Html | "" {
  if (google === null) return "";
  return html`<h2>A Google account</h2>
<p>The Google account <b>${google.email}</b> is linked to this org, and signs in to it without any key.
You do not know it? Then unlink it.</p>
${
    postButton({
      action: MAGIC,
      label: "Unlink the Google account",
      fields: { action: "unlink_google", api_key: apiKey },
      kind: "danger",
    })
  }`;
}

/** Keys that the account was given are as good as before: the button stands here too. */
export function answerUnlinked(apiKey: string): Promise<Response> {
  return answer(
    "The Google account is unlinked",
    html`<p>It signs in to this org no more. API keys that it was given stay until they are deleted.</p>
${deleteButton(apiKey)}`,
  );
}

function deleteButton(apiKey: string): Html {
  return postButton({
    action: MAGIC,
    label: "Delete all other keys",
    fields: { action: "delete_other_keys", api_key: apiKey },
    kind: "danger",
  });
}

/** For somebody who follows a link to a suspended org. */
export function answerSuspended(): Promise<Response> {
  return answer(
    "This org is suspended",
    notice(
      "warning",
      "The operator of this relay has suspended the org: nobody signs in to it. Ask the operator.",
    ),
    403,
  );
}
