import assert from "node:assert/strict";
import { decodeSegment, rawPath, rawQuery } from "./target.ts";

/** What a server hands over: its url is no URL object's, and its headers are as sent. */
function received(url: string, host: string | null = "h"): Request {
  const headers = new Headers(host === null ? {} : { host });
  return { url, headers } as Request;
}

Deno.test("rawPath() is the path as it stands, never normalised", () => {
  for (
    const path of [
      "/",
      "/v1/inbox",
      "//v1//inbox/",
      "/a/../b/./c",
      "/%2e%2E/%41",
      "/a\\b|c",
      "/é",
      "/a#b",
      "/*",
      "/a:b@c",
    ]
  ) {
    assert.equal(rawPath(received(`http://h:1${path}`)), path);
    assert.equal(rawPath(received(`http://h:1${path}?x=/y?z`)), path);
  }
});

Deno.test("rawPath() takes absolute-form, authority-form and asterisk-form targets", () => {
  assert.equal(rawPath(received("https://user@o:9/a/b?c")), "/a/b");
  assert.equal(rawPath(received("http://o?x=/health")), "/");
  assert.equal(rawPath(received("http://o")), "/");
  assert.equal(rawPath(received("*")), "*");
  assert.equal(rawPath(received("http://o#/health")), "#/health");
});

Deno.test("rawPath() matches nothing when the Host header would shift the path", () => {
  for (const host of ["a/v1/inbox?", "a/v1/inbox", "a?", "a#", "u@a", "a\\b"]) {
    assert.equal(rawPath(received(`http://${host}/health`, host)), "*");
  }
  assert.equal(rawPath(received("http://localhost/health", null)), "/health");
});

Deno.test("rawQuery() is what follows the first ? behind the authority", () => {
  assert.equal(rawQuery("http://h/a?b=c?d&e=/f"), "b=c?d&e=/f");
  assert.equal(rawQuery("http://h/a"), "");
  assert.equal(rawQuery("http://h/a?"), "");
  assert.equal(rawQuery("http://h?x=1"), "x=1");
  assert.equal(rawQuery("*"), "");
});

Deno.test("decodeSegment() decodes once and trims nothing", () => {
  assert.equal(decodeSegment("alice"), "alice");
  assert.equal(decodeSegment("%40alice"), "@alice");
  assert.equal(decodeSegment("%2540alice"), "%40alice");
  assert.equal(decodeSegment("a+b%20"), "a+b ");
  assert.equal(decodeSegment("%C3%A9"), "é");
});

Deno.test("decodeSegment() refuses malformed escapes, slashes and control characters", () => {
  for (
    const segment of [
      "%",
      "%4",
      "%zz",
      "%ff",
      "%C3",
      "a%2Fb",
      "%2f",
      "%00",
      "a%0A",
      "%1f",
      "%7F",
      "%C2%85",
    ]
  ) {
    assert.equal(decodeSegment(segment), undefined, segment);
  }
});
