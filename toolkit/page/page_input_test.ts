import assert from "node:assert/strict";
import { type PageFields, PageInputError, readPageInput } from "./page_input.ts";

const EMPTY: PageFields = {
  message: '{"from":"a"}',
  address: "",
  handle: "",
  wordName: "",
  from: "",
  maxSkew: "",
  request: undefined,
};

function refused(fields: Partial<PageFields>, field: string, words: RegExp): void {
  assert.throws(() => readPageInput({ ...EMPTY, ...fields }), (thrown) => {
    assert.ok(thrown instanceof PageInputError);
    assert.equal(thrown.field, field);
    assert.match(thrown.message, words);
    return true;
  });
}

Deno.test("readPageInput() takes one message, an array, and the inbox's whole answer", () => {
  const one = { from: "a" };
  const cases: [unknown, unknown[]][] = [
    [one, [one]],
    [[one, 5], [one, 5]],
    [{ messages: [one], last_id: 1 }, [one]],
    [{ from: "a", messages: [] }, [{ from: "a", messages: [] }]],
    [{ messages: 5 }, [{ messages: 5 }]],
    ["text", ["text"]],
  ];
  for (const [given, messages] of cases) {
    const message = ` \n${JSON.stringify(given)}\n`;
    assert.deepEqual(readPageInput({ ...EMPTY, message }).messages, messages);
  }
});

Deno.test("readPageInput() takes what is filled in without the space around it", () => {
  const request = new Uint8Array([1]);
  const { options } = readPageInput({
    ...EMPTY,
    address: " key ",
    handle: "\tsome_agent\n",
    from: " sender",
    maxSkew: " 1.5 ",
    request,
  });
  assert.deepEqual(options, {
    recipient: { address: "key", handle: "some_agent", wordName: undefined },
    from: "sender",
    maxSkewSeconds: 1.5,
    request,
  });
  assert.equal(readPageInput({ ...EMPTY, address: " " }).options.recipient, undefined);
});

Deno.test("readPageInput() says in words what is wrong, and in which field", () => {
  refused({ message: " \n" }, "message", /^Paste a message/);
  refused({ message: "{" }, "message", /not the JSON of a message: .*line 1, column 2/);
  refused({ message: '{"a":1,"a":2}' }, "message", /appears twice/);
  refused({ message: "[]" }, "message", /no message/);
  refused({ message: '{"messages":[]}' }, "message", /no message/);
  refused({ handle: "some_agent" }, "address", /needs the recipient's address/);
  refused({ wordName: "a-b-c-d" }, "address", /needs the recipient's address/);
  for (const maxSkew of ["-1", "1e3", "five", "1,5", "Infinity"]) {
    refused({ maxSkew }, "maxSkew", /number of seconds/);
  }
});
