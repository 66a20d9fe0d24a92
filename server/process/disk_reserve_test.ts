import assert from "node:assert/strict";
import { join } from "node:path";
import { DiskFullError, DiskReserve, RESERVE_BYTES, START_FLOOR_BYTES } from "./disk_reserve.ts";

const MIN_FREE_BYTES = 512 * 2 ** 20;
const AMPLE_BYTES = 2 ** 40;

/** A reserve on a disk with so many free bytes, plus what the reserve's file gives back. */
async function withReserve(
  test: (rig: {
    reserve: DiskReserve;
    disk: { othersLeaveBytes: number };
    sizeBytes: () => number | null;
    logged: string[];
  }) => Promise<void>,
): Promise<void> {
  const path = await Deno.makeTempDir();
  const disk = { othersLeaveBytes: AMPLE_BYTES };
  const logged: string[] = [];
  const sizeBytes = () => {
    try {
      return Deno.statSync(join(path, "disk.reserve")).size;
    } catch {
      return null;
    }
  };
  const reserve = new DiskReserve({
    path,
    measureFreeBytes: () => Promise.resolve(disk.othersLeaveBytes - (sizeBytes() ?? 0)),
    minFreeBytes: MIN_FREE_BYTES,
    log: (event) => void logged.push(event),
  });
  try {
    await test({ reserve, disk, sizeBytes, logged });
  } finally {
    await reserve.close();
    await Deno.remove(path, { recursive: true });
  }
}

Deno.test("DiskReserve keeps a file, gives it up on a disk that runs full, and makes it again", async () => {
  await withReserve(async ({ reserve, disk, sizeBytes, logged }) => {
    await reserve.requireRoom();
    assert.equal(sizeBytes(), null);
    await reserve.keep();
    assert.equal(sizeBytes(), RESERVE_BYTES);
    disk.othersLeaveBytes = RESERVE_BYTES + 1;
    await reserve.check();
    assert.equal(sizeBytes(), null);
    assert.deepEqual(logged, ["disk_reserve_given_up"]);
    await reserve.check();
    assert.deepEqual(logged, ["disk_reserve_given_up"]);
    disk.othersLeaveBytes = MIN_FREE_BYTES + 2 * RESERVE_BYTES;
    await reserve.check();
    assert.equal(sizeBytes(), RESERVE_BYTES);
  });
});

Deno.test("DiskReserve gives the file up to a store that has no room, and to no other failure", async () => {
  await withReserve(async ({ reserve, sizeBytes }) => {
    await reserve.keep();
    await reserve.writeFailed(new Error("database is locked"));
    assert.equal(sizeBytes(), RESERVE_BYTES);
    await reserve.writeFailed(new Error("database or disk is full"));
    assert.equal(sizeBytes(), null);
  });
});

Deno.test("DiskReserve takes no room that sends still have", async () => {
  await withReserve(async ({ reserve, disk, sizeBytes }) => {
    disk.othersLeaveBytes = MIN_FREE_BYTES + RESERVE_BYTES - 1;
    await reserve.keep();
    assert.equal(sizeBytes(), null);
  });
});

Deno.test("DiskReserve has a start go on with the reserve's room, and refuses one without", async () => {
  await withReserve(async ({ reserve, disk, sizeBytes }) => {
    await reserve.keep();
    disk.othersLeaveBytes = RESERVE_BYTES;
    await reserve.requireRoom();
    assert.equal(sizeBytes(), null);
    disk.othersLeaveBytes = START_FLOOR_BYTES;
    await reserve.requireRoom();
    disk.othersLeaveBytes = START_FLOOR_BYTES - 1;
    await assert.rejects(reserve.requireRoom(), (error: Error) => {
      assert.ok(error instanceof DiskFullError);
      assert.match(error.message, /has 8\.0 MiB free, and a start needs 8\.0 MiB: make room/);
      return true;
    });
  });
});
