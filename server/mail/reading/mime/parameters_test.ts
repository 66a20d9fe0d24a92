import assert from "node:assert/strict";
import { parseParameters } from "./parameters.ts";

function read(text: string) {
  const { value, parameters } = parseParameters(text);
  return [value, Object.fromEntries(parameters)];
}

Deno.test("parseParameters() reads quotes, escapes, comments and doubled names", () => {
  assert.deepEqual(read('Text/Plain (a;b); Charset="utf-8" (c) ; x="a\\"b;c"; charset=y; z'), [
    "text/plain",
    { charset: "utf-8", x: 'a"b;c', z: "" },
  ]);
  assert.deepEqual(read('a/b; name="C:\\x\\y.txt"; n="open'), ["a/b", {
    name: "C:\\x\\y.txt",
    n: '"open',
  }]);
  assert.deepEqual(read(""), ["", {}]);
  assert.deepEqual(read("Text/HTML charset=utf-8; a=b"), ["text/html", { a: "b" }]);
  assert.deepEqual(read(" attachment, x"), ["attachment", {}]);
  assert.deepEqual(read("a/b; boundary==_b=; c(d)=e"), ["a/b", { boundary: "=_b=", "c(d)": "e" }]);
});

Deno.test("parseParameters() puts the pieces of RFC 2231 together, whatever their order", () => {
  // RFC 2231, section 4.1
  const text =
    "application/x-stuff; title*0*=us-ascii'en'This%20is%20even%20more%20; title*2=\"isn't it!\"; title*1*=%2A%2A%2Afun%2A%2A%2A%20";
  assert.deepEqual(read(text), ["application/x-stuff", {
    title: "This is even more ***fun*** isn't it!",
  }]);
  assert.deepEqual(read("a/b; n=a; n*=koi8-r''%F0"), ["a/b", { n: "П" }]);
  assert.deepEqual(read("a/b; n*0*=utf-8''%E2%82; n*1*=%AC; n*3=%41"), ["a/b", { n: "€%41" }]);
  assert.deepEqual(read("a/b; n*=plain%20; m*x=1; *=2"), ["a/b", {
    n: "plain ",
    "m*x": "1",
    "*": "2",
  }]);
});

Deno.test("parseParameters() reads a bounded part of a value, and a bounded number of parameters", () => {
  const { parameters } = parseParameters(
    `a/b; ${Array.from({ length: 300 }, (_, i) => `n${i}=x`).join(";")}`,
  );
  assert.equal(parameters.size, 200);
  assert.ok(parseParameters(`a/b; n=${"x".repeat(20_000)}`).parameters.get("n")!.length < 16_384);
});
