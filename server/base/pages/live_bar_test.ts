import assert from "node:assert/strict";
import { readQuery } from "../http/fields/query.ts";
import { LIVE, liveBar, liveHeaders } from "./live_bar.ts";

const periodOf = (query: string) => readQuery(query, { live: LIVE }).live;

Deno.test("liveBar() leads to the page that loads itself anew, and from there back", async () => {
  const off = String(await liveBar("/network", periodOf("")));
  assert.match(off, /<a href="\/network\?live=10">/);
  const on = String(await liveBar("/network", periodOf("live=30")));
  assert.match(on, /every 30 s/);
  assert.match(on, /<a href="\/network">Pause<\/a>/);
});

Deno.test("liveHeaders() has a browser load the page anew only where that was asked for", () => {
  assert.deepEqual(liveHeaders(periodOf("live=10")), { Refresh: "10" });
  assert.deepEqual(liveHeaders(periodOf("x=1")), {});
  for (const live of ["1", "0", "11", "", "10%3Burl"]) {
    assert.throws(() => periodOf(`live=${live}`), /one of 5, 10, 30, 60/);
  }
});
