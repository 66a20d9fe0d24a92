import assert from "node:assert/strict";
import { createPathTable } from "./path_table.ts";
import type { Route } from "./route.ts";

const route = (method: Route["method"], path: string): Route => ({
  method,
  path,
  handle: () => new Response(),
});

Deno.test("createPathTable() lists the methods of a path with HEAD beside GET, then OPTIONS", () => {
  const table = createPathTable([route("GET", "/a"), route("POST", "/a"), route("POST", "/b")]);
  assert.equal(table.find("/a")?.allow, "GET, POST, HEAD, OPTIONS");
  assert.equal(table.find("/b")?.allow, "POST, OPTIONS");
});

Deno.test("createPathTable() adds the methods of a parameter route behind the literal's", () => {
  const me = route("PATCH", "/v1/agents/me");
  const table = createPathTable([route("GET", "/v1/agents/{identifier}"), me]);
  assert.equal(table.find("/v1/agents/me")?.allow, "PATCH, GET, HEAD, OPTIONS");
  assert.equal(table.find("/v1/agents/me")?.route, me);
  assert.equal(table.find("/v1/agents/alice")?.allow, "GET, HEAD, OPTIONS");
  assert.deepEqual(table.routes.map(({ path }) => path), [
    "/v1/agents/me",
    "/v1/agents/{identifier}",
  ]);
});

Deno.test("createPathTable() finds a path by its literal spelling only", () => {
  const table = createPathTable([
    route("GET", "/"),
    route("GET", "/v1/inbox"),
    route("GET", "/v1/messages/{id}/signed-request"),
    route("GET", "/.well-known/x_y~z"),
  ]);
  for (
    const path of [
      "/",
      "/v1/inbox",
      "/v1/messages/7/signed-request",
      "/v1/messages/%37/signed-request",
    ]
  ) assert.ok(table.find(path), path);
  for (
    const path of [
      "",
      "*",
      "//",
      "/v1/inbox/",
      "/v1//inbox",
      "/V1/inbox",
      "/v1/%69nbox",
      "v1/inbox",
      "/v1/messages//signed-request",
      "/v1/messages/%zz/signed-request",
      "/v1/messages/a%2fb/signed-request",
      "/v1/messages/7",
    ]
  ) assert.equal(table.find(path), undefined, path);
});

Deno.test("createPathTable() refuses malformed paths and a method declared twice", () => {
  for (const path of ["", "a", "/a/", "//a", "/a b", "/:id", "/{Id}", "/*", "/a{b}"]) {
    assert.throws(() => createPathTable([route("GET", path)]), /malformed/, path);
  }
  assert.throws(
    () => createPathTable([route("GET", "/a/{id}"), route("GET", "/a/{name}")]),
    /GET \/a\/\{name\} is declared twice/,
  );
});

Deno.test("createPathTable() puts literal paths first among paths of many lengths, whatever their order", () => {
  const paths = [
    "/a",
    "/a/{x}",
    "/a/b/{x}",
    "/c",
    "/a/try",
    "/a/try/{x}",
    "/{x}",
    "/a/{x}/z",
    "/d/e/f",
  ];
  assert.equal(paths.length, 9);
  let order = paths;
  for (let turn = 0; turn < paths.length; turn++) {
    const { routes } = createPathTable(order.map((path) => ({
      method: "GET",
      path,
      handle: () => new Response(),
    })));
    const at = (path: string) => routes.findIndex((route) => route.path === path);
    for (
      const [literal, open] of [["/a/try", "/a/{x}"], ["/a", "/{x}"], ["/a/b/{x}", "/a/{x}/z"]]
    ) {
      assert.ok(at(literal!) < at(open!), `${literal} before ${open}: ${order}`);
    }
    order = [...order.slice(1), order[0]!];
  }
});
