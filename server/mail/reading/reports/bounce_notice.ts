/**
 * Notices of failure in words alone, as mail servers wrote them before RFC 3464 and many still do:
 * qmail, exim, old Postfix, sendmail, Exchange and the large providers. Pure; linear in the text.
 *
 * A notice counts only where nobody could read it otherwise: it begins as such a program's does, says a
 * permanent failure, and nowhere that the mail is still being tried. All else is left to a person.
 */
import type { DsnRecipient } from "./dsn.ts";

/** Lines with words before the first of a notice; it stands at the top of the mail. */
const MAX_LEAD = 30;
/** Lines with words of a notice: what a server said, and not the mail that it returns. */
const MAX_NOTICE = 100;
const MAX_LINE = 500;

/** How programs begin a notice, or say in it that they could not deliver. */
const INTRODUCTIONS: readonly RegExp[] = [
  // qmail (https://cr.yp.to/proto/qsbmf.txt) and those that follow it
  /^Hi\. (?:This is the|The MTA program at) /,
  /^This is the (?:mail delivery agent|deliver program|email server) at /i,
  /^I(?:'m afraid I)? was(?:n't| not) able to deliver your message to the following/i,
  /^Unfortunately, your mail was not delivered to the following/i,
  /^We're sorry\. There's a problem with the e-mail address/i,
  /^Check your send e-mail address\./i,
  // exim
  /^This message was created automatically by mail delivery\b/i,
  /^A message that you sent (?:could not be delivered|was rejected)/i,
  // Postfix, in all its names
  /^This is the .{1,60} (?:program|system) at host /i,
  // sendmail
  /^-+ The following addresses had (?:permanent fatal|delivery) /i,
  /^-+ ?Transcript of session follows/i,
  // Exchange, IIS, Outlook.com
  /^did not reach the following recipient/i,
  /^Your message did not reach some or all of the intended recipients/i,
  /^(?:Delivery|Delevery) (?:to the following recipients?|has) (?:failed|was aborted)/i,
  /^Delivery has failed to these recipients/i,
  /^Your message (?:to .{1,320} )?(?:wasn't delivered|couldn't be delivered|was automatically rejected)/i,
  // Yahoo, Google, AOL, and smaller ones
  /^Unable to deliver message to (?:the following|")/i,
  /^Sorry, we were unable to deliver your message to the following/i,
  /^Sorry, unable to deliver your message to /i,
  /^\*\* Address not found \*\*/i,
  /^Your mail (?:(?:message )?to the following (?:recipients|address\(es\)) could not|cannot) be delivered/i,
  /^(?:MailEnable: )?(?:Message|The following message|Your message|A message) could not be delivered/i,
  /^Could not deliver (?:the )?message to the following recipient/i,
  /^-* ?(?:The following address(?:es)? (?:failed|did NOT receive)|Message not delivered to the following)/i,
  /^-* ?Failed Recipients/i,
  /^(?:Unfortunately, we were not|.{0,40}wasn't) able to deliver (?:your|the following) message/i,
  /^This is a delivery failure notification message/i,
  /^(?:undeliverable +to|Undeliverable Address:|Unknown user:|Invalid final delivery userid:) ?\S+@\S+/i,
];

/** Where the mail that is returned begins: what it says is not the server's. */
const RETURNED =
  /^(?:[-=*_ ]*(?:(?:this|here) is (?:a|the) copy|below (?:this|the next) line|original message|forwarded message|returned (?:mail|message)|start of returned|unsent message|message header|the header|header of|message text|copy of)|(?:original|the original|your original|old|included|failing|first \d+ lines of the|message headers?)\b.{0,60}\b(?:message|follow|header)|(?:Return-Path|Received|Message-ID|DKIM-Signature): ?\S|old message:|-{4,}=_|--[-=_A-Za-z0-9.]{20,}$)/i;

/** Words of a server that still tries, or cannot know. */
const PASSING =
  /\bnot yet been|\bstill (?:un|being|trying)|\bwill (?:be (?:re)?tried|continue|keep|try|retry)|\bwarning\b|\bdelayed\b|\bpostponed\b|\bno action is required|\btemporar|\btry again(?: later| in |\.?$)|\bdeferred\b|\bgreylist/im;
/** Not a promise to try again. */
const GIVEN_UP = /\bnot going to try again|\bgiv(?:en|ing) up\b/gi;

/** RFC 3463, beside what says that it is such a code: versions and addresses look like it. */
const ENHANCED =
  /(?:#|\bstatus(?: code)?[:=]? ?|\b(5[0-9]{2})[ :-]{1,3})(5\.[0-9]{1,3}\.[0-9]{1,3})(?![0-9.])/i;
/** A final refusal in SMTP, as a reply or as quoted words of one. */
const REFUSED =
  /(?:^|<<< |\.\.\. |[:)\]] |\b(?:said|replied|returned|response|error|code)\W{1,4})(55[0-4])(?=[ -]?[^0-9.]|$)/i;
const PERMANENT: readonly RegExp[] = [
  /\b(?:permanent (?:fatal )?error|failed permanently|permanent failure)/i,
  /\b(?:user|recipient|addressee|address|account|mailbox|userid|recipient name|user name)(?: is| was)? (?:unknown|not (?:known|found|recognized|listed|exist)|does(?:n't| not) exist|invalid)/i,
  /\b(?:unknown|invalid) (?:local )?(?:user|recipient|mailbox|address|addressee|final delivery userid)\b/i,
  /\bno (?:such )?(?:user|person|recipient|mailbox|account)s?(?: here| by that name)\b|\bno such (?:user|recipient|mailbox|address|person)\b/i,
  /\bdoesn't have an? \S{1,255} account\b/i,
  /\baccount (?:has been|is) (?:disabled|discontinued|closed|suspended)/i,
  /\baddress not found\b|\bnot a valid user\b/i,
  /\bover (?:disk )?quota|\boverquota|\bquota exceeded|\bexceed(?:s|ed|ing) (?:\w+ ){0,3}quota|\bmail(?:box|folder) is full/i,
];

/**
 * What a text says that a mail server gave back with a mail.
 * @param text of the first text part; 0 or more characters
 * @returns null where it is no notice of failure, or leaves any doubt
 */
export function readBounceNotice(text: string): DsnRecipient | null {
  const notice = noticeIn(text);
  if (notice === null) return null;
  const whole = notice.join("\n").replaceAll(GIVEN_UP, "");
  if (PASSING.test(whole)) return null;
  const found = (status: string | null, diagnostic: DsnRecipient["diagnostic"]): DsnRecipient => ({
    action: "failed",
    status,
    diagnostic,
    addresses: [],
  });
  for (const [index, line] of notice.entries()) {
    const enhanced = ENHANCED.exec(line);
    if (enhanced === null) continue;
    const [, code, status] = enhanced;
    const text = code === undefined ? line : joined(notice, index, enhanced.index);
    return found(status!, { type: code === undefined ? "text" : "smtp", text });
  }
  for (const [index, line] of notice.entries()) {
    const refused = REFUSED.exec(line);
    if (refused === null) continue;
    const at = refused.index + refused[0].length - refused[1]!.length;
    return found(null, { type: "smtp", text: joined(notice, index, at) });
  }
  const said = notice.find((line) => PERMANENT.some((words) => words.test(line)));
  if (said !== undefined) return found(null, { type: "text", text: said });
  // Words are broken at any blank.
  const flowing = notice.join(" ");
  const broken = PERMANENT.map((words) => words.exec(flowing)).find((match) => match !== null);
  return broken === undefined || broken === null
    ? null
    : found(null, { type: "text", text: broken[0] });
}

/** A reply from here on, with the line that goes on with it. */
function joined(notice: readonly string[], index: number, at: number): string {
  return [notice[index]!.slice(at), ...notice.slice(index + 1, index + 2)].join(" ");
}

/** The lines of a notice, trimmed, without empty ones; null where none begins. */
function noticeIn(text: string): string[] | null {
  const lines: string[] = [];
  let hasBegun = false;
  let lead = 0;
  for (let at = 0; at < text.length;) {
    const lf = text.indexOf("\n", at);
    const end = lf < 0 ? text.length : lf;
    const line = text.slice(at, Math.min(end, at + MAX_LINE)).trim();
    at = end + 1;
    // A quote is no notice.
    if (line === "" || line.startsWith(">")) continue;
    const begins: boolean = !hasBegun && INTRODUCTIONS.some((words) => words.test(line));
    hasBegun ||= begins;
    if (!hasBegun && ++lead > MAX_LEAD) return null;
    if (hasBegun && !begins && RETURNED.test(line)) break;
    if (hasBegun && lines.push(line) === MAX_NOTICE) break;
  }
  return hasBegun ? lines : null;
}
