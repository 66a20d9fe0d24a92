/** An area that is not there proves that one can be built of these parts: keys with an expiry and rights. */
import assert from "node:assert/strict";
import { Hono } from "hono";
import { RelayError } from "../../errors.ts";
import { bearerCallers } from "./bearer_callers.ts";
import { makeHashedToken } from "./hashed_token.ts";
import type { HttpEnv } from "../routes/route.ts";
import type { RequestBody } from "../bodies/request_body.ts";
import { type IdentifyCaller, withCaller, withCallerAndBody } from "./with_caller.ts";

interface KeyRow {
  name: string;
  expiresAtMs: number | null;
  rights: readonly string[];
}

const NOW_MS = 1_000_000;
const random = (sizeBytes: number) => new Uint8Array(sizeBytes).fill(7);

/** A directory of parcels that keys with rights may look into. */
function parcelArea() {
  const rows = new Map<string, KeyRow>();
  const lookedUp: string[] = [];
  const { identify, identifyToken } = bearerCallers<KeyRow, KeyRow>({
    isTokenForm: (text) => text.startsWith("pk_"),
    find(tokenHash) {
      lookedUp.push(tokenHash);
      return Promise.resolve(rows.get(tokenHash) ?? null);
    },
    admit(row) {
      if (row.expiresAtMs === null || row.expiresAtMs > NOW_MS) return row;
      throw new RelayError("unknown_agent", "expired key");
    },
    missing: () => new RelayError("invalid_signature", "missing key"),
    unknown: () => new RelayError("unknown_token", "unknown key"),
  });
  const holding = (right: string): IdentifyCaller<KeyRow> => async (c) => {
    const caller = await identify(c);
    if (caller.rights.includes(right)) return caller;
    throw new RelayError("forbidden", `this key does not hold ${right}`);
  };
  const app = new Hono<HttpEnv>();
  app.get("/read", withCaller(holding("read"), (_, { name }) => new Response(name)));
  const write = withCallerAndBody(
    holding("write"),
    (_, { name }, body) => new Response(`${name} ${body.length}`),
  );
  app.post("/write", (c) => {
    c.set("body", { read: () => c.req.raw.bytes() } as RequestBody);
    return write(c);
  });
  app.onError((error) => new Response(error.message, { status: (error as RelayError).status }));
  const give = (row: Partial<KeyRow>) => {
    const { token, hash } = makeHashedToken("pk_", random);
    rows.set(hash, { name: "ann", expiresAtMs: null, rights: ["read"], ...row });
    return token;
  };
  const ask = async (authorization?: string, init: RequestInit = {}) => {
    const headers: Record<string, string> = authorization === undefined
      ? {}
      : { Authorization: authorization };
    const answer = await app.request(init.method === "POST" ? "/write" : "/read", {
      ...init,
      headers,
    });
    return `${answer.status} ${await answer.text()}`;
  };
  return { ask, give, identifyToken, lookedUp };
}

Deno.test("bearerCallers tells a missing token from an unknown and from an expired one", async () => {
  const { ask, give, lookedUp } = parcelArea();
  for (const none of [undefined, "", "Bearer", "Bearer ", "Basic pk_x", "pk_x", "Bearerpk_x"]) {
    assert.equal(await ask(none), "401 missing key", none);
  }
  assert.deepEqual(lookedUp, []);
  for (const other of ["Bearer x", "Bearer  pk_x", "Bearer rt_owner_x"]) {
    assert.equal(await ask(other), "401 unknown key", other);
  }
  assert.deepEqual(lookedUp, [], "text of another form is looked up nowhere");
  assert.equal(await ask("Bearer pk_x"), "401 unknown key");
  assert.equal(lookedUp.length, 1);

  const token = give({});
  assert.equal(await ask(`Bearer ${token}`), "200 ann");
  assert.equal(await ask(`bEARER ${token}`), "200 ann");
  assert.equal(await ask(`Bearer ${token}x`), "401 unknown key");
  assert.ok(lookedUp.every((hash) => /^[A-Za-z0-9_-]{43}$/.test(hash) && !token.includes(hash)));
  give({ expiresAtMs: NOW_MS });
  assert.equal(await ask(`Bearer ${token}`), "401 expired key");
  give({ expiresAtMs: NOW_MS + 1 });
  assert.equal(await ask(`Bearer ${token}`), "200 ann");
});

Deno.test("bearerCallers knows a token that came in another way", async () => {
  const { give, identifyToken } = parcelArea();
  await assert.rejects(identifyToken(""), { message: "unknown key" });
  await assert.rejects(identifyToken("pk_x"), { message: "unknown key" });
  const token = give({ name: "bob" });
  assert.equal((await identifyToken(token)).name, "bob");
});

Deno.test("withCallerAndBody runs the handler for callers that the area lets through, with their body", async () => {
  const { ask, give } = parcelArea();
  const post = { method: "POST", body: "four" };
  const token = give({});
  assert.equal(await ask(`Bearer ${token}`, post), "403 this key does not hold write");
  give({ rights: ["write"] });
  assert.equal(await ask(`Bearer ${token}`, post), "200 ann 4");
  assert.equal(await ask(`Bearer ${token}`), "403 this key does not hold read");
});
