/** The blob store over a store of a test, in either form, with a clock that can be moved. */
import { openMemoryKv, rawOf } from "./read_through.ts";
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { join } from "node:path";
import { openBlobs } from "../../server/base/blobs/part.ts";
import type { BlobRef } from "../../server/base/blobs/blobs.ts";
import { storageKey, type StorageRecord } from "../../server/base/blobs/stored_bytes.ts";
import { parseConfig } from "../../server/base/config/config.ts";
import type { Limits } from "../../server/base/config/limits.ts";
import { Leases } from "../../server/base/storage/leases/leases.ts";
import { KV_CONNECT_CAPACITY } from "../../server/base/storage/rows/store.ts";
import { createTestClock, type TestClock } from "./clock.ts";
import { mailboxKey, openTestStorage } from "./storage.ts";

/** The two forms of blobs, each on both kinds of store. */
export const BLOB_KINDS = [
  { form: "files", exclusive: true },
  { form: "files", exclusive: false },
  { form: "parts", exclusive: true },
  { form: "parts", exclusive: false },
] as const;

export type BlobKind = (typeof BLOB_KINDS)[number];

export const kindName = ({ form, exclusive }: BlobKind): string =>
  `${form}, ${exclusive ? "exclusive" : "shared"} store`;

export interface BlobRigOptions {
  kind: BlobKind;
  kv: Deno.Kv;
  dataDir: string;
  clock?: TestClock;
  limits?: Partial<Limits>;
  measureFreeBytes?: () => Promise<number>;
}

export type BlobRig = Awaited<ReturnType<typeof openBlobRig>>;

/** One process on a store; several may share kv, dataDir and clock. */
export async function openBlobRig(options: BlobRigOptions) {
  const { kind, kv, dataDir, clock = createTestClock(), limits, measureFreeBytes } = options;
  const storage = await openTestStorage(kv, {
    exclusive: kind.exclusive,
    clock,
    ...(kind.exclusive ? {} : { capacity: KV_CONNECT_CAPACITY }),
  });
  const logged: { event: string; fields: Record<string, unknown> }[] = [];
  const defaults = parseConfig({ RELAY_DATA_DIR: dataDir });
  const config = {
    ...defaults,
    hosted: kind.form === "parts",
    limits: { ...defaults.limits, ...limits },
  };
  const deps = {
    config,
    backend: new KvBackend(rawOf(kv)),
    now: clock.now,
    elapsed: clock.elapsed,
    random: storage.store.random,
    fetch,
    log: (event: string, fields: Record<string, unknown> = {}) =>
      void logged.push({ event, fields }),
  };
  const part = await openBlobs(
    { ...storage, deps, leases: new Leases(storage.store), limits: config.limits },
    { measureFreeBytes },
  );
  const { blobs } = part;
  let closing: Promise<void> | undefined;
  const rig = {
    part,
    blobs,
    storage,
    clock,
    logged,
    dataDir,
    kv,
    /** A commit that writes a record, and keeps or drops blobs. */
    async commit(
      change: "keep" | "drop" | "dropUncounted",
      ...refs: BlobRef[]
    ): Promise<void> {
      const key = mailboxKey("blobs");
      await storage.commits.submit((transaction) => {
        transaction.putRecord(key, { head: (transaction.record(key)?.head ?? 0) + 1 });
        for (const ref of refs) {
          if (change === "keep") blobs.keep(transaction, ref);
          else blobs.drop(transaction, ref, change === "drop");
        }
      });
    },
    /** A commit that takes away what an owner counts. */
    async forget(owner: string): Promise<void> {
      await storage.commits.submit((transaction) => transaction.putRecord(storageKey(owner), null));
    },
    /** Writes and keeps one blob. */
    async kept(folder: readonly string[], ...sections: Uint8Array[]): Promise<BlobRef> {
      const ref = await blobs.write(folder, sections);
      await rig.commit("keep", ref);
      return ref;
    },
    /** Minutes of the relay's own work, without moving the clock. */
    async minutes(count: number): Promise<void> {
      for (let i = 0; i < count; i++) await part.everyMinute();
    },
    /** Hours, with the relay's upkeep run every minute. */
    async hours(count: number): Promise<void> {
      for (let i = 0; i < 60 * count; i++) {
        clock.advance(60_000);
        storage.store.clock.observe();
        await part.everyMinute();
      }
    },
    /** Bytes that an owner counts. */
    counted: async (owner: string) =>
      (await kv.get<StorageRecord>(storageKey(owner))).value?.bytes ?? 0,
    files: () => blobFilesIn(dataDir),
    /** Rows whose keys begin so. */
    rows: async (prefix: string) =>
      await Array.fromAsync(kv.list({ prefix: [prefix] }), ({ key }) => key),
    /** How much is stored of blobs: files, or rows of parts and of those not kept. */
    stored: async () =>
      kind.form === "files"
        ? blobFilesIn(dataDir)
        : [...await rig.rows("blob-part"), ...await rig.rows("blob-pending")].map((key) =>
          key.join("/")
        ),
    close: () =>
      closing ??= (async () => {
        await part.close?.();
        await storage.close();
      })(),
    [Symbol.asyncDispose]: () => rig.close(),
  };
  return rig;
}

/** Registers a test on each kind of store, with a rig of its own and nothing left of it. */
export function blobTest(
  name: string,
  test: (
    rig: BlobRig,
    open: (more?: Partial<BlobRigOptions>) => Promise<BlobRig>,
    kind: BlobKind,
  ) => Promise<void>,
  kinds: readonly BlobKind[] = BLOB_KINDS,
): void {
  for (const kind of kinds) {
    Deno.test(`${name} (${kindName(kind)})`, async () => {
      const dataDir = await Deno.makeTempDir({ prefix: "relay-blobs-" });
      const kv = await openMemoryKv();
      const clock = createTestClock();
      const opened: BlobRig[] = [];
      const open = async (more: Partial<BlobRigOptions> = {}) => {
        const rig = await openBlobRig({ kind, kv, dataDir, clock, ...more });
        opened.push(rig);
        return rig;
      };
      try {
        await test(await open(), open, kind);
      } finally {
        for (const rig of opened) await rig.close();
        kv.close();
        await Deno.remove(dataDir, { recursive: true });
      }
    });
  }
}

/** Paths of the files of a data folder that hold blobs, whole or not. */
export async function blobFilesIn(dataDir: string): Promise<string[]> {
  const mark = join(dataDir, "mail", "store");
  const isMark = (path: string) => path === mark || path.startsWith(`${mark}.`);
  return (await filesIn(join(dataDir, "mail"))).filter((path) => !isMark(path));
}

/** Paths of all files below a folder, sorted. */
export async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = join(folder, name);
      if (isDirectory) files.push(...await filesIn(path));
      else files.push(path);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files.sort();
}

/** Bytes that say where they stand. */
export function patterned(sizeBytes: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(sizeBytes);
  for (let i = 0, state = seed; i < sizeBytes; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}
