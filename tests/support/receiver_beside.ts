/** A receiver of another process on the store of a running relay: what a way in for mail is given. */
import { createCore } from "../../server/base/parts/core.ts";
import { openBlobs } from "../../server/base/blobs/part.ts";
import { openHttp } from "../../server/base/http/part.ts";
import { OutgoingQueue } from "../../server/base/outgoing/outgoing_queue.ts";
import { KeyRing } from "../../server/base/sealing/key_ring.ts";
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { openStorage, type StorageOptions } from "../../server/base/storage/part.ts";
import { openWaiting } from "../../server/base/waiting/part.ts";
import { MailSecret } from "../../server/mail/access/mail_secret.ts";
import { createMailCore } from "../../server/mail/mailbox/mail_core.ts";
import { openReceiving } from "../../server/mail/receiving/part.ts";
import type { Receiver } from "../../server/mail/receiving/receiver.ts";
import { openReports } from "../../server/mail/receiving/reports/part.ts";
import { type Auth, openAuth } from "../../server/mail/receiving/sender_checks/part.ts";
import { MailWorker } from "../../server/mail/worker/mail_worker.ts";
import { openCustodyKeys } from "../../server/messaging/custody/open_custody_keys.ts";
import { countReads } from "./count_reads.ts";
import type { TestRelay } from "./relay.ts";

export interface ReceiverBeside extends AsyncDisposable {
  receiver: Receiver;
  /** Rows that it has read since the last call, by the first part of their keys. */
  takeCounts(): Record<string, number>;
}

export interface ReceiverBesideOptions extends Pick<StorageOptions, "measureFreeBytes"> {
  /** What the checks of a message's sender wait for. */
  beforeChecks?: () => Promise<void>;
}

/** @param relay on a shared store */
export async function openReceiverBeside(
  { deps: given }: Pick<TestRelay, "deps">,
  { measureFreeBytes, beforeChecks }: ReceiverBesideOptions = {},
): Promise<ReceiverBeside> {
  const { kv, takeCounts } = countReads(given.kv);
  const deps = { ...given, backend: new KvBackend(kv) };
  const storage = await openStorage(deps, {});
  const http = openHttp();
  const { waits, ...waiting } = openWaiting(deps, storage);
  const core = createCore(deps, storage, http);
  const { store, records, commits } = core;
  const { config, random, log } = deps;
  const ring = new KeyRing(await openCustodyKeys(config, random, false), random);
  const blobs = await openBlobs(core, { measureFreeBytes });
  const reader = new MailWorker({ start: null, workers: 1, onLoss: () => {} });
  const mail = createMailCore(core, {
    outgoing: new OutgoingQueue({ store, records, commits, log }),
    blobs: blobs.blobs,
    hasAgents: () => Promise.resolve(false),
    waits,
  }, {
    secret: new MailSecret({ records, commits, ring, random }),
    reader,
    answers: http.answers,
  });
  const auth = await openAuth(deps);
  const { reports } = openReports(mail, null);
  const composer = { compose: () => Promise.reject(new Error("nothing is sent here")) };
  const check: Auth["check"] = async (...asked) => {
    await beforeChecks?.();
    return await auth.check(...asked);
  };
  const { receiver } = openReceiving(mail, {
    auth: { check },
    reports,
    inboundSecret: null,
    composer,
  });
  return {
    receiver,
    takeCounts,
    async [Symbol.asyncDispose]() {
      await auth.close?.();
      reader.close();
      await blobs.close?.();
      waiting.endWaits?.();
      http.close();
      await storage.close();
    },
  };
}
