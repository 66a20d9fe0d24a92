import assert from "node:assert/strict";
import { isListed } from "./address_list.ts";

Deno.test("isListed() matches an address, a domain itself, or what is below one", () => {
  const cases: [entry: string, address: string, listed: boolean][] = [
    ["a@b.org", "a@b.org", true],
    ["a@b.org", "aa@b.org", false],
    ["a@b.org", "a@sub.b.org", false],
    ["a@b.org", "a+tag@b.org", false],
    ["b.org", "x@b.org", true],
    ["b.org", "x@sub.b.org", false],
    ["b.org", "x@ab.org", false],
    ["*.b.org", "x@sub.b.org", true],
    ["*.b.org", "x@deep.sub.b.org", true],
    ["*.b.org", "x@b.org", false],
    ["*.b.org", "x@ab.org", false],
    ["*.b.org", "b.org@x.org", false],
  ];
  for (const [entry, address, listed] of cases) {
    assert.equal(isListed([entry], address), listed, `${entry} ${address}`);
    assert.equal(isListed(["other.org", entry], address), listed);
  }
  assert.equal(isListed([], "a@b.org"), false);
});
