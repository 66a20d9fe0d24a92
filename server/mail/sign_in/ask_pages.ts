/** The pages behind the links of mails: what a button does is said before it is pressed. */
import { html } from "hono/html";
import { type Html, postButton } from "../../base/pages/elements.ts";
import { minuteOf } from "../../base/notices/notice_mail.ts";
import type { RestoreLink } from "../records/link_record.ts";
import type { OrgRecord } from "../records/org_record.ts";
import { CONFIRM_PATHS, NOT_ME } from "./link_mail.ts";
import { answer } from "./link_pages.ts";
import type { WaitingSignIn } from "./magic_link.ts";
import type { WaitingChange } from "./owner_link.ts";
import { NEW_ORG } from "./sign_in_choice.ts";

/** Where the button leads that begins a session in this browser (web/console/). */
const OPEN_MAILBOX = "/mail/sign-in/link";

/** Both ways in: the mailbox, and a key for a program. @param kind of the first button, "primary" unless given */
function signInButton(
  token: string,
  label: string,
  orgId?: string,
  kind: "primary" | "secondary" = "primary",
): Html {
  const fields = { token, ...(orgId === undefined ? {} : { org_id: orgId }) };
  const mailbox = postButton({ action: OPEN_MAILBOX, label, fields, kind });
  const key = postButton({
    action: CONFIRM_PATHS.magic,
    label: `${label}, and show an API key`,
    fields,
    kind: "secondary",
  });
  return html`<div class="actions">${mailbox}${key}</div>`;
}

/** What a sign-in link opens; before the first sign-in by the address, which of the orgs that claimed it. */
export function askToSignIn(
  { link, choice: { org, undone, claimed, carrying } }: WaitingSignIn,
  token: string,
): Promise<Response> {
  const who =
    html`<p>Sign in as <b>${link.email}</b>. It was asked for from <code>${link.askedFrom}</code>.</p>`;
  const close = html`<p>You did not ask for it? Then close this page.</p>`;
  if (org !== null && undone !== null) {
    return answer(
      "Take a mail org back",
      html`${who}
<p>The link names the mail org <code>${org.id}</code>, which was yours until ${
        minuteOf(undone.sinceMs)
      }. Signing in to it takes it back: your address and your identity as they were then. It deletes the
API keys made since, and tells the present owner.</p>
${signInButton(token, "Take it back and sign in", org.id)}
<h2>Not that org?</h2>
<p>Then sign in without it: everything stays as it is there.</p>
${signInButton(token, "Sign in without it", NEW_ORG, "secondary")}
${close}`,
    );
  }
  const isUnasked = org === null ? claimed.length > 0 : claimed.includes(org);
  if (isUnasked) {
    const hasOwn = carrying.length > claimed.length;
    return askWhichOrg({ who, close, token, hasOwn, orgs: org === null ? claimed : [org] });
  }
  return answer(
    "Sign in",
    html`${who}
<p>It opens your mailbox here. A program wants an API key instead: the next page shows one, once.</p>
${signInButton(token, "Sign in", org?.id)}
${close}`,
  );
}

/** About orgs that somebody made and claimed for the address: any agent's, or a stranger's. */
function askWhichOrg({ who, close, token, hasOwn, orgs }: {
  who: Html;
  close: Html;
  token: string;
  /** Whether the reader of the address has signed in to another org by it. */
  hasOwn: boolean;
  orgs: readonly OrgRecord[];
}): Promise<Response> {
  const choices = orgs.map(({ id, emailProof }) =>
    html`<p>The mail org <code>${id}</code>${
      emailProof ? html`, claimed on ${minuteOf(emailProof.atMs)}` : ""
    }:</p>
${signInButton(token, "Open this org", id)}`
  );
  return answer(
    "Which mail org?",
    html`${who}
<p>${
      orgs.length === 1
        ? "This org names"
        : "These orgs name"
    } your address as the owner's, and nobody has signed in by it yet. Open only one that you know: who
made it has its API keys, and reads and sends its mail too.</p>
${choices}
<h2>None of them?</h2>
<p>Then ${hasOwn ? "open the org that you signed in to before" : "take an org of your own"}.</p>
${signInButton(token, hasOwn ? "Open my own org" : "Make a new org", NEW_ORG, "secondary")}
${close}`,
  );
}

/** What a claim does, or the link of a former owner: that it takes an org back. */
export function askToChange({ link, undone }: WaitingChange, token: string): Promise<Response> {
  if (link.kind === "restore") return askToRestore(link, token);
  const does = undone === null
    ? html`<p>Confirm only an org that you know: its agents then send mail in your name.</p>`
    : html`<p>The org was yours until ${
      minuteOf(undone.sinceMs)
    }. Confirming takes it back: your address and your identity as they were then. It deletes the API keys
made since, and tells the present owner. Then sign in, and delete the keys that you do not know.</p>`;
  return answer(
    "Confirm a mail org",
    html`<p>The mail org <code>${link.orgId}</code> names <b>${link.email}</b> as its owner's address.
It was asked by the API key that begins with <code>${link.keyPrefix}</code>,
used from <code>${link.askedFrom}</code>.</p>
${does}
${postButton({ action: CONFIRM_PATHS.claim, label: "The org is mine", fields: { token } })}
<h2 id="${NOT_ME}">Not you?</h2>
<p>Then end the claim: its link works no more.</p>
${
      postButton({
        action: CONFIRM_PATHS.claim,
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
<p>Taking it back puts your address and your identity back, deletes the API keys made since, and tells
the present owner. Then sign in, and delete the keys that you do not know.</p>
${postButton({ action: CONFIRM_PATHS.restore, label: "Take it back", fields: { token } })}`,
  );
}
