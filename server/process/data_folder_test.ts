import assert from "node:assert/strict";
import { join } from "node:path";
import { DataFolderInUseError, openDataFolder, UnusableDataFolderError } from "./data_folder.ts";

const EXCLUSIVE = { shared: false, nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) };
const SHARED = { ...EXCLUSIVE, shared: true };

async function withFolder(test: (path: string) => Promise<void>): Promise<void> {
  const parent = await Deno.makeTempDir();
  try {
    await test(join(parent, "new", "data"));
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

/** Files of the folder, the random part of holders' names left out. */
const names = (path: string) =>
  [...Deno.readDirSync(path)].map(({ name }) => name.replace(/-[0-9a-f]{8}$/, "")).sort();

/** Before it had FsFile.tryLock the runtime could not tell the living from the dead. */
const canTellDead = "tryLock" in Deno.FsFile.prototype;

/** There a refused lock is still waited for, until its holder goes. */
const REFUSED = { sanitizeOps: canTellDead };

Deno.test("openDataFolder() creates the folder for its owner alone and tells who holds it", async () => {
  await withFolder(async (path) => {
    const folder = await openDataFolder(path, EXCLUSIVE);
    assert.equal(folder.kvPath, join(path, "relay.kv"));
    if (Deno.build.os !== "windows") assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
    assert.deepEqual(names(path), ["lock", `lock.holder.${Deno.pid}`]);
    const holder = [...Deno.readDirSync(path)].find(({ name }) => name.includes("holder"))!.name;
    assert.deepEqual(JSON.parse(await Deno.readTextFile(join(path, holder))), {
      pid: Deno.pid,
      started_at: "2026-01-02T03:04:05.000Z",
    });
    await folder.release();
    assert.deepEqual(names(path), ["lock"]);
  });
});

Deno.test(
  "openDataFolder() refuses a folder that is held, naming pid and start",
  REFUSED,
  async () => {
    await withFolder(async (path) => {
      const first = await openDataFolder(path, EXCLUSIVE);
      for (const options of [EXCLUSIVE, SHARED]) {
        await assert.rejects(openDataFolder(path, options), (error: Error) => {
          assert.ok(error instanceof DataFolderInUseError);
          assert.ok(error.message.includes(`pid ${Deno.pid}, started 2026-01-02T03:04:05.000Z`));
          assert.match(error.message, /RELAY_SHARED_STORE=true/);
          return true;
        });
      }
      await first.release();
      await (await openDataFolder(path, EXCLUSIVE)).release();
    });
  },
);

Deno.test(
  "openDataFolder() lets sharers in together and an exclusive one never among them",
  REFUSED,
  async () => {
    await withFolder(async (path) => {
      const first = await openDataFolder(path, SHARED);
      const second = await openDataFolder(path, SHARED);
      await assert.rejects(openDataFolder(path, EXCLUSIVE), DataFolderInUseError);
      await first.release();
      await assert.rejects(openDataFolder(path, EXCLUSIVE), DataFolderInUseError);
      await second.release();
      await (await openDataFolder(path, EXCLUSIVE)).release();
    });
  },
);

Deno.test({
  name: "openDataFolder() sweeps and never names holders that died",
  ignore: !canTellDead,
  fn: () =>
    withFolder(async (path) => {
      await Deno.mkdir(path, { recursive: true });
      const dead = join(path, "lock.holder.1");
      await Deno.writeTextFile(dead, '{"pid":1,"started_at":"2025-01-01T00:00:00.000Z"}\n');
      const folder = await openDataFolder(path, SHARED);
      await Deno.writeTextFile(dead, '{"pid":1,"started_at":"2025-01-01T00:00:00.000Z"}\n');
      await assert.rejects(openDataFolder(path, EXCLUSIVE), (error: Error) => {
        assert.ok(!error.message.includes("pid 1,"), error.message);
        return error.message.includes(`pid ${Deno.pid},`);
      });
      assert.deepEqual(names(path), ["lock", `lock.holder.${Deno.pid}`]);
      await folder.release();
    }),
});

Deno.test("openDataFolder() names a path that can be no folder", async () => {
  await withFolder(async (path) => {
    const file = join(path, "..", "..", "file");
    await Deno.writeTextFile(file, "");
    for (const dataDir of [file, join(file, "below")]) {
      await assert.rejects(openDataFolder(dataDir, EXCLUSIVE), (error) => {
        assert.ok(error instanceof UnusableDataFolderError);
        assert.ok(error.message.startsWith(`RELAY_DATA_DIR ${dataDir} is not usable (`));
        return true;
      });
    }
  });
});

Deno.test("DataFolder.isHeld() until the lock's file is deleted, replaced, or moved away with the folder", async () => {
  for (const options of [EXCLUSIVE, SHARED]) {
    for (const replaced of [true, false]) {
      await withFolder(async (path) => {
        const folder = await openDataFolder(path, options);
        assert.ok(await folder.isHeld());
        await Deno.remove(join(path, "lock"));
        const other = replaced ? await openDataFolder(path, EXCLUSIVE) : null;
        assert.ok(!await folder.isHeld());
        assert.ok(await other?.isHeld() ?? true);
        await other?.release();
        await folder.release();
      });
    }
    await withFolder(async (path) => {
      const folder = await openDataFolder(path, options);
      await Deno.rename(path, `${path}.away`);
      assert.ok(!await folder.isHeld());
      await folder.release();
    });
  }
});

/** Makes open files report other file numbers. */
async function withNumbers(numbers: Partial<Deno.FileInfo>, test: () => Promise<void>) {
  const { stat } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.stat = async function () {
    return { ...await stat.call(this), ...numbers };
  };
  try {
    await test();
  } finally {
    Object.assign(Deno.FsFile.prototype, { stat });
  }
}

Deno.test("openDataFolder() takes a lock where open files have no numbers, as on Windows", () =>
  withNumbers({ ino: null, dev: 0 }, () =>
    withFolder(async (path) => {
      const folder = await openDataFolder(path, EXCLUSIVE);
      assert.ok(await folder.isHeld());
      await Deno.remove(join(path, "lock"));
      assert.ok(!await folder.isHeld());
      await folder.release();
    })));

Deno.test("openDataFolder() does not try for ever where files have other numbers each time", () =>
  withNumbers({ ino: 1 }, () =>
    withFolder(async (path) => {
      await assert.rejects(
        openDataFolder(path, EXCLUSIVE),
        /not usable \(the file lock is another one each time.*on a local disk/,
      );
    })));

Deno.test("openDataFolder() takes no lock on a file that was deleted before it had it", async () => {
  await withFolder(async (path) => {
    const { open } = Deno;
    let opened = 0;
    Deno.open = async (file, options) => {
      const lock = await open(file, options);
      if (String(file).endsWith("/lock") && ++opened === 1) await Deno.remove(file);
      return lock;
    };
    try {
      const folder = await openDataFolder(path, EXCLUSIVE);
      assert.equal(opened, 2);
      assert.ok(await folder.isHeld());
      await folder.release();
    } finally {
      Object.assign(Deno, { open });
    }
  });
});
