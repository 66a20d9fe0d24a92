/** The pages behind the links of mails: what a button does is said before it is pressed. */
import { html } from "hono/html";
import { answerPage } from "../../pages/answer_page.ts";
import { codeBlock } from "../../pages/code_block.ts";
import { frame } from "../../pages/frame.ts";
import type { Html } from "../../pages/html.ts";
import { notice } from "../../pages/notice.ts";
import { postButton } from "../../pages/post_button.ts";
import type { ClaimLink, LinkRecord, RestoreLink } from "../records/link_record.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { minuteOf } from "../notice_mail.ts";
import { CONFIRM_PATHS, NOT_ME } from "./link_mail.ts";
import type { SignedIn } from "./magic_link.ts";

async function answer(title: string, body: Html, status = 200): Promise<Response> {
  return answerPage(await frame(title, body), { status });
}

const MAGIC = CONFIRM_PATHS.magic;
const CLAIM = CONFIRM_PATHS.claim;

/** What a link would do, with the button that does it. */
export function askToFollow(link: LinkRecord, token: string): Promise<Response> {
  if (link.kind === "claim") return askToConfirm(link, token);
  if (link.kind === "restore") return askToRestore(link, token);
  return answer(
    "Sign in",
    html`<p>Sign in as <b>${link.email}</b>. It was asked for from <code>${link.askedFrom}</code>.</p>
<p>The next page shows an API key, once.</p>
${postButton({ action: MAGIC, label: "Sign in", fields: { token } })}
<p>You did not ask for it? Then close this page.</p>`,
  );
}

function askToConfirm(link: ClaimLink, token: string): Promise<Response> {
  return answer(
    "Confirm a mail org",
    html`<p>The mail org <code>${link.orgId}</code> names <b>${link.email}</b> as its owner's address.
It was asked by the API key that begins with <code>${link.keyPrefix}</code>,
used from <code>${link.askedFrom}</code>.</p>
<p>Confirm only an org that you know: its agents then send mail in your name.</p>
${postButton({ action: CLAIM, label: "The org is mine", fields: { token } })}
<h2 id="${NOT_ME}">Not you?</h2>
<p>Then end the claim: its link works no more.</p>
${
      postButton({
        action: CLAIM,
        label: "This was not me",
        fields: { token, action: "cancel" },
        kind: "secondary",
      })
    }`,
  );
}

function askToRestore(link: RestoreLink, token: string): Promise<Response> {
  return answer(
    "Take a mail org back",
    html`<p>The owner of the mail org <code>${link.orgId}</code> was changed on ${
      minuteOf(link.sinceMs)
    }. Until then it was that of <b>${link.email}</b>. It was asked by the API key that begins with <code>${link.keyPrefix}</code>, used from <code>${link.askedFrom}</code>.</p>
<p>Taking it back puts your address and your identity back, and deletes the API keys made since. Then
sign in, and delete the keys that you do not know.</p>
${postButton({ action: CLAIM, label: "Take it back", fields: { token } })}`,
  );
}

/** A link that does nothing, for whatever reason. */
export function answerExpired(): Promise<Response> {
  return answer(
    "This link does not work",
    notice(
      "warning",
      "A link works once, for a limited time, and until another one is asked for. Ask for a new one.",
    ),
    410,
  );
}

/** @param liveKeys how many other keys of the org open anything */
export function answerSignedIn(
  { org, apiKey, key, otherOrgs }: SignedIn,
  liveKeys: number,
): Promise<Response> {
  const others = otherOrgs.length === 0 ? "" : html`
    <p>Other orgs of this address, to sign in to by
    <code>org_id</code>:</p>
    <ul>${otherOrgs.map((id) => html`<li><code>${id}</code></li>`)}</ul>
  `;
  const shutOut = liveKeys === 0 ? "" : html`<h2>Other keys</h2>
<p>${liveKeys} other ${
    liveKeys === 1 ? "key opens" : "keys open"
  } this org. Agents may be using them.
You know none of them? Then delete them: at once nobody else gets in.</p>
${
    postButton({
      action: MAGIC,
      label: "Delete all other keys",
      fields: { action: "delete_other_keys", api_key: apiKey },
      kind: "danger",
    })
  }`;
  return answer(
    "Signed in",
    html`<p>You are <b>${org.verifiedEmail}</b>, owner of the mail org <code>${org.id}</code>.</p>
<p>Your API key, shown this once:</p>
${codeBlock(apiKey)}
<p>Lists show it as <code>${key.prefix}</code>, named ${key.name}.</p>
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

/** @param deleted how many */
export function answerKeysDeleted(deleted: number): Promise<Response> {
  return answer(
    "Other keys are deleted",
    html`<p>${deleted} ${
      deleted === 1 ? "key is" : "keys are"
    } deleted. The one that you were shown is the
only one.</p>`,
  );
}
