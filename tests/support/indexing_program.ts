/** A process that brings the search index of a store up with it, and says so batch by batch. */
import { join } from "node:path";
import { openSearchRig } from "./search_rig.ts";

const [dir] = Deno.args;
using kv = await Deno.openKv(join(dir!, "relay.kv"));
await using rig = await openSearchRig({
  ...{ kv, dir: dir! },
  index: {
    freeDisk: {
      refresh: () => Promise.resolve(console.log("a batch")),
      freeBytes: null,
    },
  },
});
await rig.index.catchUp();
console.log("done");
