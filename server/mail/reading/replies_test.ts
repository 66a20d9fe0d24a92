import assert from "node:assert/strict";
import vectors from "../../../tests/vectors/mail/replies.json" with { type: "json" };
import { parseMail } from "./parse_mail.ts";

interface Reply {
  program: string;
  language: string;
  shape: string;
  subject: string;
  /** One of the two. */
  text?: string;
  html?: string;
  /** What a person would call new; white space does not count. */
  new: string;
  /** What the signature is, where the mail has one. */
  signature?: string;
}

const replies: readonly Reply[] = vectors.replies;

function read({ subject, text, html }: Reply) {
  const raw = [
    `Subject: =?utf-8?B?${new TextEncoder().encode(subject).toBase64()}?=`,
    `Content-Type: text/${html === undefined ? "plain" : "html"}; charset=utf-8`,
    "Content-Transfer-Encoding: 8bit",
    "",
    (html ?? text)!,
  ].join("\r\n");
  const limits = { parts: 10, depth: 10 };
  const { facts, texts } = parseMail(new TextEncoder().encode(raw), { envelopeFrom: "", limits });
  return { text: texts.extractedText!, signature: facts.signature };
}

const words = (text: string) => text.trim().split(/\s+/).join(" ");

Deno.test("parseMail() extracts of replies and forwards what a person would call new", () => {
  assert.ok(replies.length >= 150);
  assert.ok(new Set(replies.map(({ program }) => program)).size >= 20);
  assert.ok(new Set(replies.map(({ language }) => language)).size >= 12);
  const wrong = replies.filter((reply) => words(read(reply).text) !== words(reply.new))
    .map((reply) => ({ ...reply, found: read(reply).text }));
  assert.deepEqual(wrong, []);
});

Deno.test("parseMail() tells where the signature of an extracted text begins", () => {
  assert.ok(replies.filter(({ signature }) => signature !== undefined).length >= 10);
  const wrong = replies.map((reply) => {
    const { text, signature } = read(reply);
    const found = signature === null ? undefined : [...text].slice(signature).join("").trimEnd();
    return [reply.program, reply.language, reply.shape, found, reply.signature];
  }).filter(([, , , found, expected]) => found !== expected);
  assert.deepEqual(wrong, []);
});
