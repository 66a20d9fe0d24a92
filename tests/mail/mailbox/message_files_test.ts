/** What browsers and programs are given of a stranger's bytes: raw messages and attachments. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type InboundRig, startInboundRig } from "../../support/inbound_rig.ts";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";

interface Part {
  type: string;
  name?: string;
  body?: Uint8Array | string;
  /** Instead of the Content-Disposition that the name makes. */
  disposition?: string;
}

function mixed(parts: readonly Part[]): string {
  const shown = parts.map(({ type, name, body = "x", disposition }) =>
    [
      "--b",
      `Content-Type: ${type}`,
      `Content-Disposition: ${disposition ?? `attachment; filename="${name ?? "a.bin"}"`}`,
      "Content-Transfer-Encoding: base64",
      "",
      Buffer.from(body).toString("base64").replaceAll(/.{76}/g, "$&\r\n"),
    ].join("\r\n")
  );
  return [
    "From: a@else.test",
    `Message-ID: <${crypto.randomUUID()}@else.test>`,
    "MIME-Version: 1.0",
    'Content-Type: multipart/mixed; boundary="b"',
    "",
    ...shown,
    "--b--",
    "",
  ].join("\r\n");
}

async function fetchFile(rig: InboundRig, path: string, method = "GET") {
  const answer = await fetch(`${rig.relay.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${rig.holder.key}` },
  });
  return { status: answer.status, headers: answer.headers, bytes: await answer.bytes() };
}

async function storeParts(rig: InboundRig, parts: readonly Part[]) {
  accepted(await rig.deliver({ raw: mixed(parts) }), 200);
  const { data: [row] } = await rig.list("?limit=1");
  assert.equal(row.attachments.length, parts.length);
  return row;
}

function assertSafe(headers: Headers): void {
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  assert.match(headers.get("content-security-policy")!, /sandbox/);
  assert.match(headers.get("content-disposition")!, /^attachment/);
  assert.equal(headers.get("cache-control"), "no-store");
}

Deno.test("attachments: what a browser could run comes as octets, all under safe headers", async () => {
  await using rig = await startInboundRig();
  const active = [
    "text/html",
    "TEXT/HTML; charset=utf-8",
    "image/svg+xml",
    "image/SVG+XML",
    "text/xml",
    "application/xml",
    "application/xhtml+xml",
    "application/rss+xml",
    "text/xsl",
    "application/javascript",
    "text/javascript",
    "multipart/x-mixed-replace",
    "text/html,image/png",
    "not a type",
    "x".repeat(300) + "/y",
    "",
  ];
  const row = await storeParts(
    rig,
    active.filter((type) => !type.startsWith("multipart")).map((type) => ({ type, name: "a" })),
  );
  assert.ok(row.attachments.length > 10);
  const texts = row.attachments.filter((one: Part & { content_type: string }) =>
    one.content_type === "text/plain"
  );
  assert.ok(texts.length <= 4);
  for (const { id, content_type } of row.attachments) {
    const file = await fetchFile(rig, `/v1/mail/messages/${row.id}/attachments/${id}`);
    assert.equal(file.status, 200);
    // What is no type is text, by RFC 2045, section 5.2.
    const type = content_type === "text/plain" ? "text/plain" : "application/octet-stream";
    assert.equal(file.headers.get("content-type"), type, content_type);
    assertSafe(file.headers);
  }
  const plain = await storeParts(rig, [
    { type: "image/png", name: "a.png" },
    { type: "application/pdf", name: "a.pdf" },
    { type: "text/plain; charset=utf-7", name: "a.txt" },
  ]);
  const types: (string | null)[] = [];
  for (const { id } of plain.attachments) {
    const file = await fetchFile(rig, `/v1/mail/messages/${plain.id}/attachments/${id}`);
    types.push(file.headers.get("content-type"));
    assertSafe(file.headers);
  }
  assert.deepEqual(types, ["image/png", "application/pdf", "text/plain"]);
});

Deno.test("attachments: no file name gets out of its header", async () => {
  await using rig = await startInboundRig();
  const encoded = (name: string) => `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
  const names = [
    'a"; filename="b.exe',
    "a\r\nSet-Cookie: x=1\r\n\r\n<script>",
    "a\\",
    "../../etc/passwd",
    "C:\\Windows\\x.dll",
    "%00%0d%0a",
    "\u202egnp.exe",
    "寿司🍣.pdf",
    "\ud83d",
    "'()*;,/?:@&=+$#",
    " ",
    ".",
    "x".repeat(5_000),
  ];
  const row = await storeParts(
    rig,
    names.map((name) => ({
      type: "application/pdf",
      disposition: encoded(name.toWellFormed()),
    })),
  );
  for (const { id, filename } of row.attachments) {
    const file = await fetchFile(rig, `/v1/mail/messages/${row.id}/attachments/${id}`);
    assert.equal(file.status, 200);
    assert.equal(file.headers.get("set-cookie"), null);
    const header = file.headers.get("content-disposition")!;
    assert.match(
      header,
      // deno-lint-ignore no-control-regex -- they are what must not be there
      /^attachment(?:; filename="[^"\\\x00-\x1f\x7f-\uffff]*"; filename\*=UTF-8''[A-Za-z0-9%!#$&+.^_`|~-]*)?$/,
      filename,
    );
    assert.ok(header.length < 8_000);
    assertSafe(file.headers);
  }
});

Deno.test("attachments and raw come back byte for byte, and HEAD tells the same headers", async () => {
  await using rig = await startInboundRig();
  const body = crypto.getRandomValues(new Uint8Array(60_000));
  const raw = mixed([{ type: "image/png", name: "a.png", body }, { type: "image/gif", body: "" }]);
  accepted(await rig.deliver({ raw }), 200);
  const { data: [row] } = await rig.list();
  const path = `/v1/mail/messages/${row.id}`;
  const file = await fetchFile(rig, `${path}/attachments/att_0`);
  assert.deepEqual(file.bytes, body);
  assert.equal(row.attachments[0].size, body.length);
  const hash = await crypto.subtle.digest("SHA-256", body);
  assert.equal(row.attachments[0].sha256, Buffer.from(hash).toString("hex"));
  assert.equal((await fetchFile(rig, `${path}/attachments/att_1`)).bytes.length, 0);
  const whole = await fetchFile(rig, `${path}/raw`);
  assert.deepEqual(whole.bytes, new TextEncoder().encode(raw));
  assert.equal(whole.headers.get("content-type"), "message/rfc822");
  assertSafe(whole.headers);
  const head = await fetchFile(rig, `${path}/raw`, "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.headers.get("content-type"), "message/rfc822");
  assert.equal(head.bytes.length, 0);
  for (const id of ["att_2", "att_-1", "att_00", "0", "att_", "__proto__"]) {
    assertMailRefused(await rig.holder.ask("GET", `${path}/attachments/${id}`), "not_found");
  }
});

Deno.test("raw: every byte comes back, whatever a message is made of", async () => {
  await using rig = await startInboundRig();
  const raws = [
    Uint8Array.from({ length: 256 }, (_, i) => i),
    new Uint8Array(100_000),
    new TextEncoder().encode("From: a@b.test\n\nbare line feeds\n.\n..\nFrom x\r\r\n"),
    new TextEncoder().encode("\ufeffFrom: a@b.test\r\n\r\n\ufffd"),
  ];
  assert.ok(raws.length > 0);
  for (const raw of raws) {
    accepted(await rig.deliver({ raw }), 200);
    const { data: [row] } = await rig.list("?limit=1");
    assert.deepEqual((await fetchFile(rig, `/v1/mail/messages/${row.id}/raw`)).bytes, raw);
  }
});
