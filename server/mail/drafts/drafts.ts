// Over 300 lines: what is written ahead of a commit, and given up where none comes, stands together.
/** Drafts of inboxes: made, found, changed, discarded (docs/mail.md). */
import { Buffer } from "node:buffer";
import type { BlobRef } from "../../base/blobs/blobs.ts";
import { RelayError } from "../../base/errors.ts";
import { Outdated } from "../../base/storage/commits/job.ts";
import { valueSizeBytes } from "../../base/storage/rows/stored_size.ts";
import type { ExtraHeader, MessageContent, NewAttachment } from "../records/message_content.ts";
import { maySee } from "../access/access.ts";
import type { MailCaller } from "../access/authenticate_key.ts";
import type { CallingKey } from "../access/require_org.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { readEvents, stageEventErasure } from "../core/erase_events.ts";
import { stageEvent } from "../core/stage_event.ts";
import type { WrittenBlobs } from "../core/written_blobs.ts";
import type { ObjectRow } from "../mailbox/messages/stage_message.ts";
import {
  type DraftAttachment,
  draftClientIdKey,
  draftKey,
  type DraftRow,
  type DraftTexts,
  writerOf,
} from "../records/draft_record.ts";
import { isMailId, makeMailId } from "../records/mail_id.ts";
import { inboxKey, type InboxRecord } from "../records/inbox_record.ts";
import { objectKey } from "../records/message_record.ts";
import { joinNames } from "../composing/reducing/removed_names.ts";
import type { MailWorker } from "../worker/mail_worker.ts";
import { refuseLargeBodies } from "../composing/requests/read_bodies.ts";
import type { KeyedWork } from "../mailbox/answers/keyed_answers.ts";
import { withdrawProposal } from "../mailbox/answers/withdraw_answer.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { stageAsking } from "./ask_approval.ts";
import { contentHash } from "./content_hash.ts";
import { changeDraft, type DraftChanges } from "../composing/requests/read_draft.ts";
import { type HtmlToReduce, isAsItGoesOut, type ReducedTexts, reducer } from "./reduced_texts.ts";
import {
  requireDraftQuota,
  stageDraftChange,
  stageDraftRemoval,
  stageNewDraft,
} from "./stage_draft.ts";

export interface DraftsServices extends MailCore {
  written: WrittenBlobs;
  composer: Pick<MailWorker, "reduce">;
}

/** A draft that somebody wants kept. */
export interface NewDraft extends MessageContent {
  inReplyToMessageId: string | null;
  headers: readonly ExtraHeader[];
  clientId: string | null;
  /** Whether its key wrote all of it. */
  isOfOneKey: boolean;
}

/** A draft with its texts. */
export interface WholeDraft {
  row: DraftRow;
  texts: DraftTexts;
}

/** Whose a draft is. */
export type DraftRef = Pick<DraftRow, "orgId" | "inboxId" | "id">;

/** Makes the commit of a draft answer a request under an Idempotency-Key. */
export interface DraftAnswer {
  keyed: KeyedWork;
  make(draft: WholeDraft): Uint8Array<ArrayBuffer>;
}

/** A value of the store takes 64 KiB; links that people were sent come to it. */
const ROW_BYTES = 48 * 1024;
const TEXTS = 0;

export class Drafts {
  constructor(private readonly services: DraftsServices) {}

  /**
   * Keeps a draft, or finds the one of the inbox that was made under the same client_id.
   * @returns whether it was made now
   * @throws RelayError `draft_limit_reached`, `payload_too_large`, `unavailable`, and as requireCaller()
   */
  async create(
    caller: CallingKey,
    inboxId: string,
    draft: NewDraft,
    answer?: DraftAnswer,
  ): Promise<WholeDraft & { isNew: boolean }> {
    const former = await this.#ofClientId(caller.org.id, inboxId, draft.clientId);
    if (former !== null) {
      return { ...await this.whole(await this.asItGoesOut(former)), isNew: false };
    }
    const made = await this.#make(caller, inboxId, draft, answer);
    return made;
  }

  async #make(
    caller: CallingKey,
    inboxId: string,
    draft: NewDraft,
    answer: DraftAnswer | undefined,
  ): Promise<WholeDraft & { isNew: boolean }> {
    const { mailboxes, limits, blobs, written: writes, store, random } = this.services;
    const orgId = caller.org.id;
    await writes.look(
      orgId,
      draft.attachments.reduce((sum, { content }) => sum + content.length, 0),
    );
    requireDraftQuota(await mailboxes.read(orgId, inboxId), limits);
    await blobs.refuseWhenFull();
    const { text, headers } = draft;
    const reduce = reducer(this.services.composer, orgId);
    let written: BlobRef[] = [];
    const keep = (ref: BlobRef) => (written.push(ref), ref);
    /** The texts as the inbox has them go out, written. */
    const writeTexts = async (isApproved: boolean) => {
      const reduced = await reduce({
        html: draft.html,
        isApproved,
        attachments: draft.attachments,
      });
      if (isApproved) refuseLargeBodies([text ?? "", reduced.html ?? ""], limits);
      const texts: DraftTexts = { text, html: reduced.html, headers };
      const ref = keep(await this.#writeTexts(orgId, inboxId, texts));
      return { texts, ref, reduced: reduced.removed };
    };
    try {
      let kept = await writeTexts(await this.#isApproved(orgId, inboxId));
      const contents = draft.attachments.map(({ content }) => content);
      const files = contents.length === 0
        ? null
        : keep(await writes.write([orgId, inboxId], contents));
      const attachments = draft.attachments.map((one, i) => storedAttachment(one, files!, i, i));
      const made = await mailboxes.change<WholeDraft & { isNew: boolean }>(
        caller,
        inboxId,
        async () => {
          const other = await this.#ofClientId(orgId, inboxId, draft.clientId);
          if (other !== null) {
            const found = { ...await this.whole(other), isNew: false };
            return { plan: ({ mailbox }) => ({ mailbox, result: found }) };
          }
          if (kept.reduced === null && await this.#isApproved(orgId, inboxId)) {
            const { ref } = kept;
            kept = await writeTexts(true);
            written = written.filter((one) => one !== ref);
            await this.#discard([ref]);
          }
          const { texts, ref: textsRef, reduced } = kept;
          const nowMs = store.now();
          const row: DraftRow = {
            v: 1,
            id: makeMailId("dft", nowMs, random),
            orgId,
            inboxId,
            inReplyToMessageId: draft.inReplyToMessageId,
            ...wordsOf(draft),
            attachments,
            nextAttachment: attachments.length,
            reduced,
            texts: textsRef,
            files,
            revision: 1,
            contentHash: contentHash({ ...draft, html: texts.html, attachments }),
            createdByKey: caller.key.id,
            isOfOneKey: draft.isOfOneKey,
            clientId: draft.clientId,
            createdAtMs: nowMs,
            updatedAtMs: nowMs,
            asked: null,
          };
          refuseLargeRow(row);
          const whole = { row, texts };
          const keptAnswer = await answer?.keyed.prepare([orgId, inboxId], answer.make(whole));
          if (keptAnswer !== undefined && keptAnswer.blob !== null) keep(keptAnswer.blob);
          return {
            sizeBytes: heldBytes(row),
            plan: (given) => {
              if (!isAsItGoesOut(whole, given.inbox)) throw new Outdated();
              answer?.keyed.decide(given.transaction);
              const made: DraftRow = { ...row, asked: stageAsking(given, random, row) };
              if (keptAnswer !== undefined) {
                const { id, createdByKey, createdAtMs } = row;
                made.answer = {
                  ...keptAnswer.keep(given.transaction),
                  draft: { id, createdByKey, createdAtMs },
                };
              }
              const mailbox = stageNewDraft(given, this.services, made, keptAnswer?.sizeBytes ?? 0);
              stageEvent(given.transaction, given.org, "draft.created", { draft: made }, random);
              return { mailbox, result: { ...whole, isNew: true } };
            },
          };
        },
      );
      if (!made.isNew) await this.#discard(written);
      return made;
    } catch (error) {
      await this.#discard(written);
      throw error;
    }
  }

  /**
   * The draft that a path names, as the caller may see it.
   * @throws RelayError `not_found`
   */
  async find({ org, key }: MailCaller, draftId: string): Promise<DraftRow> {
    const { store } = this.services;
    const owner = isMailId("dft", draftId)
      ? (await store.get<ObjectRow>(objectKey(org.id, draftId))).value
      : null;
    const isForeign = owner === null || (key.scope === "inbox" && key.inboxId !== owner.inboxId);
    const row = isForeign
      ? null
      : await this.read({ orgId: org.id, inboxId: owner.inboxId, id: draftId });
    if (row === null) throw unknownObject("draft");
    return row;
  }

  /** A draft as it stands now; null where it has gone. */
  async read({ orgId, inboxId, id }: DraftRef): Promise<DraftRow | null> {
    const { store } = this.services;
    return (await store.get<DraftRow>(draftKey(orgId, inboxId, id))).value;
  }

  /**
   * A draft as it goes out: where a person has to approve it and its HTML is not reduced yet, as in an inbox
   * that has become draft_only, that is made up for here, as its next revision.
   * @param isApproved true for what a person is about to read, whatever the inbox says
   * @throws RelayError `not_found`, and as change()
   */
  async asItGoesOut(row: DraftRow, isApproved = false): Promise<DraftRow> {
    const { orgId, inboxId } = row;
    if ((row.reduced ?? null) !== null) return row;
    if (!isApproved && !(await this.#isApproved(orgId, inboxId))) return row;
    if ((await this.whole(row)).texts.html === null) return row;
    const { row: current } = await this.#change(null, row, {});
    return current;
  }

  /** @returns besides, the texts as they are stored @throws BlobDamaged */
  async whole(row: DraftRow): Promise<WholeDraft & { section: Uint8Array }> {
    const section = await this.services.blobs.read(row.texts, TEXTS);
    return { row, texts: JSON.parse(new TextDecoder().decode(section)), section };
  }

  /** The attachments with their bytes, in their order. @throws BlobDamaged */
  async files({ attachments, files }: DraftRow): Promise<NewAttachment[]> {
    const found: NewAttachment[] = [];
    for (const { filename, contentType, contentId, section } of attachments) {
      const content = await this.services.blobs.read(files!, section);
      found.push({ filename, contentType, contentId, content });
    }
    return found;
  }

  /**
   * Makes the next revision of a draft.
   * @throws RelayError `not_found`, `payload_too_large`, `unavailable`, `insufficient_permission`, and as
   * changeDraft() and requireCaller()
   */
  async change(caller: MailCaller, ref: DraftRef, changes: DraftChanges): Promise<WholeDraft> {
    const changed = await this.#change(caller, ref, changes);
    return changed;
  }

  /** @param caller null: has the HTML reduced, and leaves a draft whose HTML is */
  async #change(
    caller: MailCaller | null,
    ref: DraftRef,
    changes: DraftChanges,
  ): Promise<WholeDraft> {
    const { mailboxes, blobs, store, random } = this.services;
    const { orgId, inboxId } = ref;
    await blobs.refuseWhenFull();
    const reduce = reducer(this.services.composer, orgId);
    let written: BlobRef[] = [];
    try {
      await this.#changed(caller, ref, changes, reduce); // what takes long, ahead of the lock
      return await mailboxes.change<WholeDraft>(caller ?? orgId, inboxId, async () => {
        await this.#discard(written);
        written = [];
        const keep = (ref: BlobRef) => (written.push(ref), ref);
        const { before, whole, texts, reduced } = await this.#changed(
          caller,
          ref,
          changes,
          reduce,
        );
        if (caller === null && (before.reduced ?? null) !== null) {
          const result = { row: before, texts };
          return { plan: ({ mailbox }) => ({ mailbox, result }) };
        }
        const isNewText = changes.text !== undefined || changes.html !== undefined ||
          texts.html !== whole.html;
        const files = await this.#changedFiles(before, whole.attachments, keep);
        const next: DraftRow = {
          ...before,
          ...wordsOf(whole),
          ...files,
          reduced,
          texts: isNewText ? keep(await this.#writeTexts(orgId, inboxId, texts)) : before.texts,
          ...(caller === null ? {} : { isOfOneKey: writerOf(before) === caller.key.id }),
          revision: before.revision + 1,
          contentHash: contentHash({ ...whole, html: texts.html, attachments: files.attachments }),
          updatedAtMs: Math.max(store.now(), before.updatedAtMs),
        };
        if (caller !== null) refuseLargeRow(next);
        return {
          sizeBytes: heldBytes(next),
          plan: (given) => {
            if (!isAsItGoesOut({ row: next, texts }, given.inbox)) throw new Outdated();
            const row = { ...next, asked: stageAsking(given, random, next) };
            stageDraftChange(given, this.services, before, row);
            return { mailbox: given.mailbox, result: { row, texts } };
          },
        };
      });
    } catch (error) {
      await this.#discard(written);
      throw error;
    }
  }

  /**
   * Removes a draft.
   * @param caller null where no key asks for it, but a person
   * @param require is given the draft as it is removed, and may refuse; null for one that has gone
   * @throws RelayError `not_found`, and what `require` and requireCaller() throw
   */
  async discard(
    caller: CallingKey | null,
    ref: DraftRef,
    require: (row: DraftRow | null) => void = () => {},
  ): Promise<void> {
    const { mailboxes, blobs, store } = this.services;
    const { orgId, inboxId, id } = ref;
    await mailboxes.change<void>(caller ?? orgId, inboxId, async () => {
      const row = await this.read(ref);
      require(row);
      if (row === null) throw unknownObject("draft");
      const events = await readEvents(store, orgId, inboxId, [id]);
      return {
        plan: (given) => {
          withdrawProposal(given.transaction, { blobs }, row);
          stageEventErasure(given.transaction, { blobs }, events);
          return { mailbox: stageDraftRemoval(given, { blobs }, row), result: undefined };
        },
      };
    });
  }

  /** A draft with its changes, and its HTML as the inbox has it go out. */
  async #changed(
    caller: MailCaller | null,
    ref: DraftRef,
    changes: DraftChanges,
    reduce: (asked: HtmlToReduce) => Promise<ReducedTexts>,
  ) {
    const { limits } = this.services;
    const before = await this.read(ref);
    if (before === null) throw unknownObject("draft");
    if (caller !== null) refuseRedirection(caller, before, changes);
    const { texts: { text, html, headers } } = await this.whole(before);
    const former = { ...editable(before), text, html };
    // What is only made ready was taken under the limits of its time.
    const whole = caller !== null ? changeDraft(former, changes, limits) : former;
    const isApproved = caller === null ||
      await this.#isApproved(ref.orgId, ref.inboxId);
    const removed = before.reduced ?? null;
    const isOther = changes.html !== undefined || changes.attachments !== undefined;
    let reduced: ReducedTexts = { html: whole.html, removed };
    if (isOther || (isApproved && removed === null)) {
      reduced = await reduce({ html: whole.html, isApproved, attachments: whole.attachments });
      if (changes.html === undefined && removed !== null && reduced.removed !== null) {
        reduced = { ...reduced, removed: joinNames(removed, reduced.removed) };
      }
      // One that was as large before is not held back by what it grows by.
      if (caller !== null) refuseLargeBodies([whole.text ?? "", reduced.html ?? ""], limits);
    }
    const texts: DraftTexts = { text: whole.text, html: reduced.html, headers };
    return { before, whole, texts, reduced: reduced.removed };
  }

  /** Whether a person approves what goes out of an inbox. */
  async #isApproved(orgId: string, inboxId: string): Promise<boolean> {
    const inbox = await this.services.records.read<InboxRecord>(inboxKey(orgId, inboxId));
    return inbox?.sendPolicy === "draft_only";
  }

  async #ofClientId(
    orgId: string,
    inboxId: string,
    clientId: string | null,
  ): Promise<DraftRow | null> {
    if (clientId === null) return null;
    const { store } = this.services;
    const key = draftClientIdKey(orgId, inboxId, clientId);
    const { value } = await store.get<{ draftId: string }>(key);
    return value === null ? null : await this.read({ orgId, inboxId, id: value.draftId });
  }

  async #writeTexts(orgId: string, inboxId: string, texts: DraftTexts): Promise<BlobRef> {
    const bytes = new TextEncoder().encode(JSON.stringify(texts));
    return await this.services.written.write([orgId, inboxId], [bytes]);
  }

  /** The attachments as changed; their bytes are rewritten only where others are among them. */
  async #changedFiles(
    { orgId, inboxId, attachments, files, nextAttachment }: DraftRow,
    wanted: readonly (DraftAttachment | NewAttachment)[],
    keep: (ref: BlobRef) => BlobRef,
  ): Promise<Pick<DraftRow, "attachments" | "files" | "nextAttachment">> {
    const { blobs, written } = this.services;
    const kept = wanted.filter((one) => "section" in one);
    if (kept.length === wanted.length && kept.length === attachments.length) {
      return { attachments: kept, files, nextAttachment };
    }
    if (wanted.length === 0) return { attachments: [], files: null, nextAttachment };
    const contents: Uint8Array[] = [];
    for (const one of wanted) {
      contents.push("content" in one ? one.content : await blobs.read(files!, one.section));
    }
    const ref = keep(await written.write([orgId, inboxId], contents));
    let next = nextAttachment;
    return {
      attachments: wanted.map((one, section) =>
        "content" in one ? storedAttachment(one, ref, section, next++) : { ...one, section }
      ),
      files: ref,
      nextAttachment: next,
    };
  }

  async #discard(refs: readonly BlobRef[]): Promise<void> {
    for (const ref of refs) await this.services.blobs.discard(ref);
  }
}

/** What a row has of a message. */
function wordsOf(
  { to, cc, bcc, subject, replyTo, labels, sendAtMs }: Omit<MessageContent, "attachments">,
) {
  return { to, cc, bcc, subject, replyTo, labels, sendAtMs };
}

/** What of a row may be changed. */
function editable(row: DraftRow) {
  const { to, cc, bcc, replyTo, labels, subject, sendAtMs, attachments } = row;
  return {
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    replyTo: [...replyTo],
    labels: [...labels],
    subject,
    sendAtMs,
    attachments,
  };
}

function storedAttachment(
  { filename, contentType, contentId, content }: NewAttachment,
  files: BlobRef,
  section: number,
  number: number,
): DraftAttachment {
  return {
    id: `att_${number}`,
    filename,
    contentType,
    contentId,
    sizeBytes: content.length,
    sha256: Buffer.from(files.sections[section]!.sha256, "base64url").toString("hex"),
    section,
  };
}

/**
 * Who may not read a draft does not have it sent to somebody else, who could, nor its answers, which
 * quote it.
 * @throws RelayError `insufficient_permission`
 */
function refuseRedirection(
  { key }: MailCaller,
  row: DraftRow,
  { to, cc, bcc, replyTo }: DraftChanges,
): void {
  if ((to ?? cc ?? bcc ?? replyTo) === undefined || maySee(key, writerOf(row))) return;
  throw new RelayError(
    "insufficient_permission",
    "this draft holds what other keys wrote: whom it goes to, and its answers, is changed by a key with inbox:read; this one changes the rest, or sends it as it is",
  );
}

/** What waits for a commit with a draft: its row and its texts. */
function heldBytes(row: DraftRow): number {
  return valueSizeBytes(row) + row.texts.sections[TEXTS]!.sizeBytes;
}

/** @throws RelayError `payload_too_large` */
function refuseLargeRow(row: DraftRow): void {
  const sizeBytes = valueSizeBytes({ ...row, asked: null });
  if (sizeBytes <= ROW_BYTES) return;
  throw new RelayError(
    "payload_too_large",
    `the addresses, names and file names of a draft take ${sizeBytes} bytes in the store, at most ${ROW_BYTES} are allowed; leave out display names, or shorten file names`,
  );
}
