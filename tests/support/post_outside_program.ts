/** Posts to the URLs that it is given, for which names are at 127.0.0.1; prints a line of JSON for each. */
import { outsideOf } from "./outside_rig.ts";

const outside = outsideOf({ resolve: () => Promise.resolve(["127.0.0.1"]) });
for (const url of Deno.args) {
  const { signal } = new AbortController();
  const { status, error } = await outside.post({
    url,
    headers: {},
    body: new Uint8Array(2),
    signal,
  });
  console.log(JSON.stringify([status, error]));
}
