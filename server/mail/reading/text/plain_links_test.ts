import assert from "node:assert/strict";
import { linksOfText } from "./plain_links.ts";

const urls = (text: string) => linksOfText(text).map(({ url }) => url);

Deno.test("linksOfText() finds http and https in order, each once", () => {
  assert.deepEqual(linksOfText("HTTP://a.test/x and https://b.test, http://b.test ftp://c.test"), [
    { url: "HTTP://a.test/x", text: "HTTP://a.test/x" },
    { url: "https://b.test", text: "https://b.test" },
    { url: "http://b.test", text: "http://b.test" },
  ]);
  assert.equal(urls("https://a.test https://a.test").length, 1);
  assert.deepEqual(
    urls("javascript:alert(1) xhttps://a.test https:// https://[ mailto:a@b.test"),
    [],
  );
});

Deno.test("linksOfText() leaves out what ends a sentence or closes a bracket", () => {
  assert.deepEqual(
    urls(
      `See https://a.test/1. (https://a.test/2) [https://a.test/3], <https://a.test/4> "https://a.test/5"
https://a.test/6_(x) (see https://a.test/7_(y)). https://a.test/8?q=1&r=2!? https://a.test/9… https://a.test/10。次`,
    ),
    [
      "https://a.test/1",
      "https://a.test/2",
      "https://a.test/3",
      "https://a.test/4",
      "https://a.test/5",
      "https://a.test/6_(x)",
      "https://a.test/7_(y)",
      "https://a.test/8?q=1&r=2",
      "https://a.test/9",
      "https://a.test/10",
    ],
  );
});

Deno.test("linksOfText() gives 50 at most, and none with text direction in it", () => {
  assert.equal(
    urls(Array.from({ length: 60 }, (_, i) => `https://a.test/${i}`).join(" ")).length,
    50,
  );
  assert.deepEqual(urls("https://a.test/\u202egpj"), ["https://a.test/%E2%80%AEgpj"]);
  assert.deepEqual(urls(`https://a.test/${"x".repeat(5_000)}`), []);
});
