/** An inbox full of mail, written past the relay while it is stopped. */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { joinBytes } from "../server/base/blobs/blob_bytes.ts";
import { blobFolder } from "../server/base/blobs/part.ts";
import { blobPath } from "../server/base/blobs/blob_name.ts";
import { makeUlid } from "../server/base/storage/rows/ulid.ts";
import { encodeTexts, sectionsOf } from "../server/mail/reading/parsed/encoded_texts.ts";
import { leastMailId } from "../server/mail/records/mail_id.ts";
import { EMPTY_MAILBOX, mailboxKey } from "../server/mail/records/mailbox_record.ts";
import { messageKey, type MessageRow } from "../server/mail/records/message_record.ts";
import type { MailBox } from "./mail_box.ts";

const MAILS_A_COMMIT = 100;
const APART_MS = 60_000;
const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

/**
 * @param folder of the relay's data
 * @param textOf what each of them says, from the oldest on
 */
export async function fillInbox(
  folder: string,
  { orgId, inboxId }: MailBox,
  count: number,
  textOf: (i: number) => string,
): Promise<void> {
  using kv = await Deno.openKv(join(folder, "relay.kv"));
  const beganMs = Date.now() - count * APART_MS;
  let headId: string | null = null;
  for (let from = 0; from < count; from += MAILS_A_COMMIT) {
    const operation = kv.atomic();
    for (let i = from; i < Math.min(count, from + MAILS_A_COMMIT); i++) {
      const createdAtMs = beganMs + i * APART_MS;
      headId = leastMailId("msg", createdAtMs);
      const row = storedMail(folder, { orgId, inboxId, id: headId, createdAtMs }, textOf(i));
      operation.set(messageKey(orgId, inboxId, headId), row);
    }
    await operation.commit();
  }
  const guard = { ...EMPTY_MAILBOX, headId, messages: count, changes: count };
  await kv.set(mailboxKey(orgId, inboxId), guard);
}

function storedMail(
  folder: string,
  own: Pick<MessageRow, "orgId" | "inboxId" | "id" | "createdAtMs">,
  text: string,
): MessageRow {
  const texts = { text, html: null, shown: null, extractedText: text, headers: {}, links: [] };
  const sections = sectionsOf(new Uint8Array(0), encodeTexts(texts));
  const name = [own.orgId, own.inboxId, makeUlid(own.createdAtMs, random)];
  const path = join(blobFolder(folder), ...blobPath(name));
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeFileSync(path, joinBytes(sections));
  const blob = {
    name,
    sections: sections.map((bytes) => ({
      sizeBytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("base64url"),
    })),
  };
  return {
    ...{ v: 1, threadId: own.id.replace("msg", "thr"), direction: "inbound", envelope: null },
    ...{ auth: null, bcc: [], recipients: [], sendAtMs: null, cancelledAtMs: null, labels: [] },
    ...{ read: true, blob, repeatKey: null, from: { name: "Ann", address: "ann@else.test" } },
    ...{ replyTo: [], to: [], cc: [], subject: text.slice(0, 30), preview: text.slice(0, 100) },
    ...{ signature: null, textSource: "plain", attachments: [], rfcMessageId: null, codes: [] },
    ...{ inReplyTo: null, references: [], automated: "none", hiddenTextRemoved: false },
    ...{ parseWarnings: [], ...own },
  };
}
