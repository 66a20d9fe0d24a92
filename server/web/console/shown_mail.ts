/** A message of the mail area as the pane shows it. Pure. */
import { heightOf } from "../mailbox/reading_pane.ts";
import type { z } from "@hono/zod-openapi";
import type { Html } from "../../base/pages/elements.ts";
import type { Message, ThreadDetail } from "../../mail/mailbox/shown/schemas.ts";
import type {
  MailShown,
  SenderVerdict,
  ShownRecipient,
  StatusStep,
} from "../mailbox/view_model.ts";
import { chipsOf, type MessageJson, statusChip } from "./mail_lines.ts";

export type WholeJson = z.infer<typeof Message>;
export type ThreadMessageJson = z.infer<typeof ThreadDetail>["messages"][number];

/** Header fields that are shown: more of them are in the source. */
const SHOWN_FIELDS = 200;
/** So much a closed message says: a thread is as long as strangers make it. */
const CLOSED_CHARACTERS = 4_000;

export interface ShownMailOptions {
  isOpen: boolean;
  /** What is only in the whole message; null where it was not read. */
  whole: Pick<WholeJson, "html" | "links" | "headers"> | null;
  wantsHeaders: boolean;
  actions?: Html;
}

export function shownMail(
  message: ThreadMessageJson,
  { isOpen, whole, wantsHeaders, actions }: ShownMailOptions,
): MailShown {
  const { id, thread_id, direction, text, extracted_text, truncated } = message;
  const path = `/mail/messages/${id}`;
  const here = `/mail/threads/${thread_id}?m=${id}`;
  const allWords = text ?? extracted_text;
  const words = isOpen ? allWords : allWords?.slice(0, CLOSED_CHARACTERS) ?? null;
  const isCut = truncated || words?.length !== allWords?.length;
  const html = whole?.html ?? null;
  return {
    id,
    from: message.from,
    // A mail that names nobody came to somebody all the same.
    to: message.to.length === 0 && message.envelope !== null
      ? message.envelope.to.map((address) => ({ name: null, address }))
      : message.to,
    cc: message.cc,
    bcc: message.bcc,
    atMs: Date.parse(message.created_at),
    verdict: direction === "inbound" ? verdictOf(message) : null,
    chips: chipsOf(message, true),
    warnings: warningsOf(message),
    codes: direction === "inbound" ? message.codes.map(({ value }) => value) : [],
    text: words,
    wholeHref: isCut ? `${path}/text` : null,
    html: html === null || html.trim() === ""
      ? null
      : { src: `${path}/html`, heightPx: heightOf(words ?? "", html) },
    links: whole === null ? [] : whole.links.map(({ url }) => url),
    files: message.attachments.map(({ id: file, filename, content_type, size }) => ({
      name: filename,
      type: content_type,
      sizeBytes: size,
      href: `${path}/attachments/${file}`,
    })),
    recipients: message.recipients.map(recipientOf),
    headers: wantsHeaders && whole !== null
      ? Object.entries(whole.headers).flatMap(([name, values]) =>
        values.map((value) => [name, value] as const)
      ).slice(0, SHOWN_FIELDS)
      : null,
    headersHref: `${here}&headers=yes#${id}`,
    rawHref: `${path}/source`,
    isOpen,
    actions,
  };
}

const VERDICTS: Readonly<Record<string, [word: string, tone: SenderVerdict["tone"]]>> = {
  pass: ["sender proven", "ok"],
  fail: ["sender not proven", "bad"],
  error: ["sender not checked", "warn"],
  none: ["sender not proven", "warn"],
};

/** What is said of the sender, and by which checks. */
export function verdictOf({ auth, hidden_text_removed }: MessageJson): SenderVerdict | null {
  if (auth === null) return null;
  const { spf, dkim, dmarc, verdict, from_domain } = auth;
  const [word, tone] = VERDICTS[verdict] ?? VERDICTS["none"]!;
  const domain = from_domain === null
    ? "It names no sender's domain"
    : verdict === "pass"
    ? `${from_domain} stands behind it`
    : verdict === "fail"
    ? `${from_domain} does not stand behind it: anybody may have written it`
    : `Nothing shows whether ${from_domain} stands behind it`;
  const hidden = hidden_text_removed ? "hidden text was left out" : "nothing hidden";
  return {
    word,
    tone,
    details: `${domain} · SPF ${spf} · DKIM ${dkim} · DMARC ${dmarc} · ${hidden}`,
  };
}

const WARNINGS: Readonly<Record<string, string>> = {
  alternatives_differ:
    "Its plain text and its HTML say different things. Shown is what mail programs show.",
  styles_not_judged: "Its styles could not all be judged: it may hold text that does not show.",
  too_complex: "It is too complex to be judged whole: it may hold text that does not show.",
  reply_to_unsigned: "No signature covers its Reply-To: a reply goes to From.",
  damaged: "Its texts are damaged in the store. Its source may still be there.",
  timed_out: "Reading it took too long: what is shown may lack something. The source has all.",
  parser_failed: "It could not be read whole. The source has all.",
};

/** What a reader has to know first. */
function warningsOf({ hidden_text_removed, parse_warnings }: MessageJson): string[] {
  const known = parse_warnings.filter((one) => Object.hasOwn(WARNINGS, one));
  const others = parse_warnings.filter((one) => !Object.hasOwn(WARNINGS, one));
  return [
    ...(hidden_text_removed ? ["Text that a reader would not see was left out."] : []),
    ...known.map((one) => WARNINGS[one]!),
    ...(others.length === 0 ? [] : [`Not all of it could be read or kept: ${others.join(", ")}.`]),
  ];
}

/** How the mail to somebody came to stand as it does: what is known of its way. */
function recipientOf(recipient: MessageJson["recipients"][number]): ShownRecipient {
  const { address, status, smtp_code, enhanced_code, reason, detail, attempts, next_attempt_at } =
    recipient;
  const steps: StatusStep[] = [];
  const atMs = Date.parse(recipient.at);
  if (status !== "queued") steps.push({ word: "queued", tone: "plain", atMs: null });
  if (["delivered", "complained"].includes(status)) {
    steps.push({ word: "sent", tone: "plain", atMs: null });
  }
  const code = [smtp_code, enhanced_code].filter((one) => one !== null).join(" ");
  const { tone } = statusChip(status);
  steps.push({ word: code === "" ? status : `${status} ${code}`, tone, atMs });
  const tries = attempts > 1 ? `${attempts} attempts` : null;
  const next = next_attempt_at === null
    ? null
    : `tried again ${next_attempt_at.slice(0, 16).replace("T", " ")} UTC`;
  const words = [reason?.replaceAll("_", " "), tries, next, detail].filter((one) => one);
  return { address, steps, detail: words.length === 0 ? null : words.join(" · ") };
}
