import assert from "node:assert/strict";
import { contentHash, type HashedContent } from "./content_hash.ts";

const CONTENT: HashedContent = {
  to: [{ name: "Ann", address: "ann@example.org" }],
  cc: [],
  bcc: [{ name: null, address: "b@example.org" }],
  subject: "Hi \u20ac",
  text: "x\n",
  html: null,
  attachments: [{ filename: "a.txt", contentType: "text/plain", sha256: "00ff", contentId: null }],
  replyTo: [],
  sendAtMs: null,
};

Deno.test("contentHash() is SHA-256 of sorted JSON, in hex", () => {
  // printf '%s' '{"attachments":[{"content_id":null,"content_type":"text/plain","filename":"a.txt",
  // "sha256":"00ff"}],"bcc":[{"address":"b@example.org","name":null}],"cc":[],"html":null,
  // "reply_to":[],"send_at":null,"subject":"Hi €","text":"x\n","to":[{"address":"ann@example.org","name":"Ann"}]}' without line ends | sha256sum
  assert.equal(
    contentHash(CONTENT),
    "ae2b9473cab320ecd18b1c5151e06d058fcc2046e4252525237f82b092212f4b",
  );
});

Deno.test("contentHash() changes with every part of what would be sent", () => {
  const others: HashedContent[] = [
    { ...CONTENT, to: [{ name: "Bob", address: "ann@example.org" }] },
    { ...CONTENT, to: [], cc: CONTENT.to },
    { ...CONTENT, bcc: [] },
    { ...CONTENT, subject: null },
    { ...CONTENT, text: "x" },
    { ...CONTENT, html: "" },
    { ...CONTENT, attachments: [] },
    { ...CONTENT, attachments: [{ ...CONTENT.attachments[0]!, sha256: "00fe" }] },
    { ...CONTENT, attachments: [{ ...CONTENT.attachments[0]!, filename: "b.txt" }] },
    { ...CONTENT, attachments: [{ ...CONTENT.attachments[0]!, contentId: "a" }] },
    { ...CONTENT, replyTo: CONTENT.to },
    { ...CONTENT, sendAtMs: 0 },
  ];
  assert.equal(new Set([CONTENT, ...others].map(contentHash)).size, others.length + 1);
});

Deno.test("contentHash() takes nothing else of what it is given", () => {
  const attachments = [{ ...CONTENT.attachments[0]!, id: "att_0", size: 3 }];
  assert.equal(
    contentHash({ ...CONTENT, attachments, revision: 7 } as never),
    contentHash(CONTENT),
  );
});
