import assert from "node:assert/strict";
import fc from "fast-check";
import { propertyRuns } from "../../../../tests/support/property_runs.ts";
import { SortedNames } from "./sorted_names.ts";

const name = fc.integer({ min: 0, max: 3_000 }).map((n) => n.toString(36));
/** Many at once, so that runs are cut in two and come to an end. */
const steps = fc.array(
  fc.record({
    from: fc.integer({ min: 0, max: 3_000 }),
    count: fc.constantFrom(1, 3, 700),
    stride: fc.constantFrom(1, 2, 7),
    deletes: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

Deno.test("SortedNames holds what a sorted list does, in both directions", () => {
  fc.assert(
    fc.property(steps, fc.array(fc.tuple(name, name), { maxLength: 5 }), (steps, ranges) => {
      const names = new SortedNames();
      const model = new Set<string>();
      for (const { from, count, stride, deletes } of steps) {
        for (let i = 0; i < count; i++) {
          const one = ((from + i * stride) % 5_000).toString(36);
          if (deletes) names.delete(one);
          else if (!model.has(one)) names.add(one);
          if (deletes) model.delete(one);
          else model.add(one);
        }
        assert.equal(names.size, model.size);
        const sorted = [...model].sort();
        for (const [from, to] of [["", "\xff"], ...ranges] as const) {
          const expected = sorted.filter((one) => one >= from && one < to);
          assert.deepEqual([...names.between(from, to)], expected);
          assert.deepEqual([...names.between(from, to, true)], expected.reverse());
        }
      }
    }),
    propertyRuns(60),
  );
});
