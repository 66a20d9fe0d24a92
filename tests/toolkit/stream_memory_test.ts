import assert from "node:assert/strict";
import messages from "../vectors/messages.json" with { type: "json" };
import { verifyStream } from "../../bench/verify_stream.ts";

Deno.test({
  name: "relay verify keeps nothing of a stream: 40 MB pass through a heap of 32 (needs /proc)",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const { id: _, ...message } = messages.cases[0]!.message as Record<string, unknown>;
    // A signature of wrong form costs no arithmetic, and leaves the reading to be measured.
    const tail = JSON.stringify({ ...message, signature: "none" }).slice(1);
    const count = Math.ceil(40e6 / tail.length);
    const { peakMiB } = await verifyStream([tail], count, []);
    assert.ok(peakMiB > 0 && peakMiB < 200, `${peakMiB} MiB`);
  },
});
