import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { AccessGuard } from "./access_rules.ts";

const asked = (host: string | null, origin?: string) =>
  new Headers({ ...(host === null ? {} : { host }), ...(origin === undefined ? {} : { origin }) });
const forbidden = (error: unknown) => error instanceof RelayError && error.code === "forbidden";

Deno.test("AccessGuard lets its own names through at any port, again and again, and no other", () => {
  const names = ["localhost", "127.0.0.1", "[::1]"];
  const guard = new AccessGuard({ hosts: names, origins: names });
  // More ports than are remembered, and what was refused before is refused after.
  for (let round = 0; round < 2; round++) {
    for (let port = 8000; port < 8150; port++) {
      for (const name of names) guard.refuseStrange(asked(`${name}:${port}`));
    }
    guard.refuseStrange(asked("LOCALHOST"));
    for (const strange of [null, "", "evil.test", "evil.test:8000", "localhost.evil.test", "a b"]) {
      assert.throws(() => guard.refuseStrange(asked(strange)), forbidden, String(strange));
    }
    // A known Host says nothing about the Origin.
    guard.refuseStrange(asked("localhost:8000", "http://localhost:1"));
    assert.throws(
      () => guard.refuseStrange(asked("localhost:8000", "http://evil.test")),
      forbidden,
    );
  }
});

Deno.test("AccessGuard takes any Host and Origin where the rules name none", () => {
  const guard = new AccessGuard({ hosts: null, origins: null });
  for (const host of [null, "evil.test"]) guard.refuseStrange(asked(host, "http://evil.test"));
});
