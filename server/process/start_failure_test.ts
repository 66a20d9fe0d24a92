import assert from "node:assert/strict";
import { ConfigError } from "../base/config/config.ts";
import { UnusableDataFolderError } from "./data_folder.ts";
import { NoAnswer, StoreFailed } from "../base/storage/rows/call_deadline.ts";
import { startFailure } from "./start_failure.ts";

Deno.test("startFailure() says what to do about what a store or a disk refuses, however deep it lies", () => {
  const cases: [unknown, RegExp][] = [
    [new TypeError("file is not a database"), /damaged.*backup \(file is not a database\)$/],
    [new TypeError("database disk image is malformed"), /damaged/],
    [new TypeError("database or disk is full"), /make room/],
    [
      new UnusableDataFolderError("data", new Error("No space left on device")),
      /make room.* \(No space left on device\)$/,
    ],
    [
      new TypeError("unable to open database file: data/relay.kv"),
      /relay\.kv .* its user the right/,
    ],
    [
      new Error("the id ceiling could not be stored", {
        cause: new TypeError("Can not write to a read-only database."),
      }),
      /relay\.kv .* its user the right to \(Can not write to a read-only database\.\)$/,
    ],
    [
      new UnusableDataFolderError("data", new Error("Read-only file system (os error 30)")),
      /^RELAY_DATA_DIR data is not usable \(Read-only file system.*\): name a folder/,
    ],
    [new Deno.errors.AddrInUse("in use"), /^HOST:PORT is taken/],
    [new ConfigError("PORT", "must be a number"), /^PORT must be a number$/],
    [
      new Deno.errors.NotCapable(
        'Requires env access to "HOST", run again with the --allow-env flag',
      ),
      /^the relay was started without a permission \(Requires env access to "HOST"\): Deno's .*task permissions/,
    ],
    [
      new Deno.errors.NotCapable('Requires write access to "/srv/a,b", run again with the flag'),
      /\(Requires write access to "\/srv\/a,b"\): no permission can name a path with a comma: /,
    ],
    [
      new Error("unanswered", { cause: new Error('Requires net access to "a.b:443", run again') }),
      /\(Requires net access to "a.b:443"\): .* in RELAY_KV_HOSTS/,
    ],
    [new StoreFailed(new TypeError("disk I/O error")), /disk .* full, or fails/],
    [
      new StoreFailed(new Error("Failed to fetch metadata: Invalid access token.")),
      /^cannot start: Failed to fetch metadata/,
    ],
    [new NoAnswer(), /^cannot start: the store did not answer within 10 s; .* a KV server may be/],
  ];
  for (const [failure, said] of cases) assert.match(startFailure(failure), said);
});

Deno.test("startFailure() is one line, and tells of an unknown failure no more than its own words", () => {
  const failure = new Error("no answer\nfrom afar", { cause: new Error("wss://user:pw@host") });
  assert.equal(startFailure(failure), "cannot start: no answer");
  assert.equal(startFailure("odd"), "cannot start: odd");
});
