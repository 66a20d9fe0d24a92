import assert from "node:assert/strict";
import { join } from "node:path";
import { withFileLock } from "./file_lock.ts";

async function inFolder(work: (lock: string, folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-lock-" });
  try {
    await work(join(folder, "state.lock"), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

Deno.test("withFileLock() lets one work at a time and leaves nothing behind", async () => {
  await inFolder(async (lock, folder) => {
    let inside = 0;
    let count = 0;
    await Promise.all(Array.from({ length: 12 }, () =>
      withFileLock(lock, async () => {
        inside++;
        const before = count;
        await Deno.stat(folder);
        assert.equal(inside, 1);
        count = before + 1;
        inside--;
      })));
    assert.equal(count, 12);
    assert.deepEqual(namesIn(folder), []);
  });
});

Deno.test("withFileLock() gives the lock back when the work fails", async () => {
  await inFolder(async (lock, folder) => {
    await assert.rejects(withFileLock(lock, () => Promise.reject(new Error("no"))), /no/);
    assert.deepEqual(namesIn(folder), []);
    assert.equal(await withFileLock(lock, () => Promise.resolve(5)), 5);
  });
});

Deno.test("withFileLock() takes over what a process that died left behind", async () => {
  await inFolder(async (lock, folder) => {
    Deno.writeTextFileSync(lock, "");
    Deno.utimeSync(lock, new Date(), new Date(Date.now() - 11_000));
    let inside = 0;
    await Promise.all(Array.from({ length: 6 }, () =>
      withFileLock(lock, async () => {
        assert.equal(++inside, 1);
        await Deno.stat(folder);
        inside--;
      })));
    assert.deepEqual(namesIn(folder), []);
  });
});

Deno.test("withFileLock() waits for a lock that is not old", async () => {
  await inFolder(async (lock) => {
    Deno.writeTextFileSync(lock, "");
    let isDone = false;
    const waiting = withFileLock(lock, () => Promise.resolve(isDone = true));
    await Deno.stat(lock);
    assert.equal(isDone, false);
    Deno.removeSync(lock);
    await waiting;
    assert.equal(isDone, true);
  });
});

Deno.test("withFileLock() fails where its folder is missing", async () => {
  await inFolder(async (_lock, folder) => {
    const lock = join(folder, "none/state.lock");
    await assert.rejects(withFileLock(lock, () => Promise.resolve()), { code: "ENOENT" });
  });
});
