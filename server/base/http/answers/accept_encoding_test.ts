import assert from "node:assert/strict";
import { acceptsGzip } from "./accept_encoding.ts";

Deno.test("acceptsGzip() finds gzip by its name and weight", () => {
  for (
    const header of [
      "gzip",
      "GZIP",
      "br, gzip",
      "gzip;q=1",
      "gzip;q=1.000",
      "gzip ; q=0.001",
      "gzip;Q=0.5",
      "deflate;q=0, gzip;q=0.5, *;q=0",
      "*",
      "x-gzip",
      "*;q=0.1",
      "gzip;q=0.5, identity;q=0.5",
      "identity;q=0, *;q=0.1",
    ]
  ) assert.equal(acceptsGzip(header), true, header);
});

Deno.test("acceptsGzip() takes no refusal, no other coding and nothing malformed for gzip", () => {
  for (
    const header of [
      null,
      "",
      "identity",
      "br",
      "gzip;q=0",
      "gzip;q=0.000",
      "gzip;q=0, *",
      "*;q=0",
      "gzip;q=0.5, identity",
      "gzip;q=0.5, identity;q=0.6",
      "gzipped",
      "gzip;q=2",
      "gzip;q=0.0001",
      "gzip;q=",
      "gzip;q=-1",
      "gzip;level=1",
      "gzip;q=1;q=0",
    ]
  ) assert.equal(acceptsGzip(header), false, String(header));
});
