import assert from "node:assert/strict";
import { joinAddresses, readWrittenForm, splitAddresses } from "./form_data.ts";

/** What of a request the reader takes. */
function contextOf(
  type: string,
  body: Uint8Array<ArrayBuffer>,
): Parameters<typeof readWrittenForm>[0] {
  const raw = new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "content-type": type },
  });
  const read = () => Promise.resolve(body);
  return {
    req: { raw },
    get: (name: string) => name === "body" ? { read } : undefined,
  } as unknown as Parameters<typeof readWrittenForm>[0];
}

async function sent(data: FormData) {
  const answer = new Response(data);
  const body = new Uint8Array(await answer.arrayBuffer());
  return await readWrittenForm(contextOf(answer.headers.get("content-type")!, body));
}

Deno.test("readWrittenForm() gives fields with lines of LF, and files in base64 under plain names", async () => {
  const data = new FormData();
  data.set("text", "one\r\ntwo");
  data.append("files", new File(["hello"], "../a\\b.txt", { type: "text/plain" }));
  data.append("files", new File([], ""));
  const { text, files } = await sent(data);
  assert.equal(text("text"), "one\ntwo");
  assert.equal(text("subject"), "");
  assert.deepEqual(files, [
    { filename: ".._a_b.txt", content_type: "text/plain", content: "aGVsbG8=" },
  ]);
});

Deno.test("readWrittenForm() refuses many parts before it takes them apart, and what is no such form", async () => {
  const many = new FormData();
  for (let i = 0; i < 100; i++) many.append("text", "x");
  await assert.rejects(sent(many), /at most 63 parts/);
  for (const type of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
    await assert.rejects(
      readWrittenForm(contextOf(type, new TextEncoder().encode("--b\r\n"))),
      /must be a form/,
    );
  }
});

Deno.test("splitAddresses() takes names and addresses apart, and joinAddresses() gives them back", () => {
  const text = `a@b.example, Ann <ann@b.example>; "Lee, Bo" <bo@b.example>\n<c@b.example>,`;
  const list = splitAddresses(text);
  assert.deepEqual(list, [
    "a@b.example",
    { name: "Ann", address: "ann@b.example" },
    { name: "Lee, Bo", address: "bo@b.example" },
    "c@b.example",
  ]);
  const whole = list.map((one) => typeof one === "string" ? { name: null, address: one } : one);
  assert.deepEqual(splitAddresses(joinAddresses(whole)), list);
});
