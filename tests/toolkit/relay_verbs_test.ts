/** The verbs that talk to a relay, each against a real one: output, --json, exit codes, refusals. */
import assert from "node:assert/strict";
import { wordName } from "../../toolkit/mod.ts";
import { refusal, startClientWorld } from "./client_world.ts";
import type { MemoryHostState } from "./memory_host.ts";
import { Person, registered } from "./person.ts";

Deno.test("register and whoami tell the names, and the owner_token once", async () => {
  await using world = await startClientWorld();
  const alice = new Person(world);
  await alice.out(["keygen"]);
  const { address, publicKey } = alice.keys;
  const [made] = await alice.json([
    "register",
    "@Alice",
    "--display-name",
    "A",
    "--description",
    "adds",
    "--tag",
    "math",
    "--tag",
    "fast",
  ]);
  const { owner_token, ...names } = made;
  assert.match(owner_token, /^rt_owner_/);
  assert.deepEqual(names, { handle: "alice", word_name: wordName(publicKey), address });
  const [own] = await alice.json(["whoami"]);
  const { created_at, ...rest } = own;
  assert.match(created_at, /Z$/);
  assert.deepEqual(rest, {
    ...names,
    key_custody: "self",
    display_name: "A",
    description: "adds",
    tags: ["math", "fast"],
  });
  const shown = await alice.out(["whoami"]);
  assert.match(shown, /^address +\w+\nword name +\S+\nhandle +alice\n/);
  assert.match(shown, /^tags +math fast$/m);
  assert.match(shown, /^custody +self$/m);
});

Deno.test("register refused by the relay ends with 4, the error on stderr in words or JSON", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const again = await alice.run(["register", "alice"]);
  assert.deepEqual([again.code, again.out], [4, ""]);
  assert.match(again.err, /^relay register: refused \(handle_taken\): .+\n$/);
  const json = await alice.run(["register", "admin", "--json"]);
  assert.equal(json.code, 4);
  const { error, status, ...rest } = JSON.parse(json.err);
  assert.deepEqual([error.code, status, rest], ["reserved_handle", 403, {}]);
  world.faults.push(refusal(429, "rate_limited", 3_000_000));
  const late = await alice.run(["register", "alice", "--json"]);
  assert.equal(JSON.parse(late.err).retry_after_ms, 3_000_000);
  assert.equal((await alice.run(["register"])).code, 2);
  const stranger = await new Person(world).run(["whoami"]);
  assert.equal(stranger.code, 2);
  const unknown = new Person(world);
  await unknown.out(["keygen"]);
  assert.match((await unknown.run(["whoami"])).err, /refused \(unknown_agent\)/);
});

Deno.test("send takes a text, a file, standard input or a JSON document", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  alice.files.set("letter.txt", "line 1\nline 2\n");
  const sends: [string[], MemoryHostState, unknown, string][] = [
    [["bob", "--text", "hi"], {}, { text: "hi" }, "text"],
    [["@Bob", "--text", "hi", "--subject", "s"], {}, { subject: "s", text: "hi" }, "text"],
    [["bob", "--file", "letter.txt"], {}, { text: "line 1\nline 2\n" }, "text"],
    [["bob", "-"], { stdin: "from stdin" }, { text: "from stdin" }, "text"],
    [["bob", "--file", "-"], { stdin: "too" }, { text: "too" }, "text"],
    [["bob", "--json-body", '{"b":1,"a":[]}'], {}, { a: [], b: 1 }, "json"],
    [["bob", "--json-body", "-"], { stdin: "5" }, 5, "json"],
    [[bob.keys.address, "--text", "x", "--reply-to", "4711"], {}, { text: "x" }, "text"],
  ];
  const ids: number[] = [];
  for (const [args, state, , type] of sends) {
    const [sent] = await alice.json(["send", ...args], state);
    assert.deepEqual(Object.keys(sent), ["id", "content_hash", "created_at", "to", "replayed"]);
    assert.deepEqual([sent.to, sent.replayed], [bob.keys.address, false], type);
    ids.push(sent.id);
  }
  const received = await bob.json(["inbox"]);
  assert.deepEqual(
    received.map(({ id, body, content_type }) => [id, body, content_type]),
    sends.map(([, , body, type], index) => [ids[index], body, type]),
  );
  assert.deepEqual(received.map(({ in_reply_to }) => in_reply_to).slice(-2), [null, 4711]);
  assert.match(
    await alice.out(["send", "bob", "--text", "x"]),
    /^message +\d+\nto +\w+\ncontent_hash +[0-9a-f]{64}\ncreated +\S+Z\n$/,
  );
});

Deno.test("send refuses wrong usage before it asks the relay, with 2", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  world.seen.length = 0;
  const wrong: [string[], MemoryHostState?][] = [
    [[]],
    [["bob"]],
    [["bob", "hello"]],
    [["bob", "--text", "a", "-"]],
    [["bob", "--text", "a", "--file", "b"]],
    [["bob", "--json-body", "1", "--subject", "s"]],
    [["bob", "--json-body", "{a:1}"]],
    [["bob", "--json-body", "9007199254740993"]],
    [["bob", "--text", "a", "--reply-to", "0"]],
    [["no one", "--text", "a"]],
    [["bob", "--file", "gone.txt"]],
    [["bob", "-"], { stdin: new Uint8Array([0xff]) }],
  ];
  for (const [args, state] of wrong) {
    const { code, out, err } = await alice.run(["send", ...args], state);
    assert.deepEqual([code, out], [2, ""], args.join(" "));
    assert.match(err, /^relay send: /);
  }
  assert.equal(world.seen.length, 0);
  const nobody = await alice.run(["send", "nobody", "--text", "a"]);
  assert.equal(nobody.code, 4);
  assert.match(nobody.err, /refused \(not_found\)/);
});

Deno.test("send says on stderr that it tries again, and what may have happened", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  world.faults.push(undefined, "dropped", refusal(503, "unavailable", 2_000));
  const { code, out, err } = await alice.run(["send", "bob", "--text", "once", "--json"]);
  assert.equal(code, 0);
  assert.equal(JSON.parse(out).replayed, true);
  assert.match(err, /^relay send: http.+ cannot be reached: .+; trying again in 0\.\d s$/m);
  assert.match(err, /; trying again in 2\.0 s$/m);
  assert.equal((await bob.json(["inbox"])).length, 1);
  world.faults.push(...Array(50).fill("refused"));
  const lost = await alice.run(["send", bob.keys.address, "--text", "x", "--retry-for", "3"]);
  assert.equal(lost.code, 5);
  assert.match(lost.err, /it may have been carried out all the same.*'relay outbox' shows/);
});

Deno.test("outbox shows what was sent and what was fetched", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  await alice.out(["send", "bob", "--text", "a"]);
  await bob.out(["inbox"]);
  await alice.out(["send", "bob", "--text", "b"]);
  const [first, second, ...more] = await alice.json(["outbox"]);
  assert.deepEqual(more, []);
  assert.match(first.delivered_at, /Z$/);
  assert.deepEqual([second.delivered_at, second.to_handle, second.body], [null, "bob", {
    text: "b",
  }]);
  assert.deepEqual(await alice.json(["outbox", "--since", `${second.id}`]), []);
  assert.deepEqual((await alice.json(["outbox", "--limit", "1"])).map(({ id }) => id), [first.id]);
  const shown = await alice.out(["outbox"]);
  assert.match(
    shown,
    /^\w{43,44} \([a-z-]+, @bob\): sent message \d+, \S+Z, delivered \S+Z\n {2}\| a\n/,
  );
  assert.match(shown, /, not fetched yet\n {2}\| b\n$/);
  assert.equal((await alice.run(["outbox", "--limit", "201"])).code, 2);
});

Deno.test("outbox goes on after a page that ended for its bytes", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const bob = await registered(world, "bob");
  const ids: number[] = [];
  for (let n = 0; n < 5; n++) {
    const text = `${n}${"x".repeat(40_000)}`;
    ids.push((await alice.json(["send", bob.keys.address, "--text", text]))[0].id);
  }
  world.alter = (target, text) => {
    if (!target.startsWith("/v1/outbox")) return text;
    const messages = JSON.parse(text).messages.slice(0, 2);
    return JSON.stringify({ messages, last_id: messages.at(-1)?.id ?? ids.at(-1) });
  };
  const shown = async (...args: string[]) =>
    (await alice.json(["outbox", ...args])).map(({ id }) => id);
  assert.deepEqual(await shown(), ids);
  assert.deepEqual(await shown("--limit", "3"), ids.slice(0, 3));
});

Deno.test("resolve and find need no key file and show profiles", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  await registered(world, "bob");
  world.relay.clock.advance(2_000);
  const anybody = new Person(world);
  const [profile] = await anybody.json(["resolve", "@Alice"]);
  assert.equal(profile.address, alice.keys.address);
  assert.deepEqual((await anybody.json(["resolve", profile.word_name]))[0], profile);
  assert.match(await anybody.out(["resolve", "alice"]), /^last seen +(never|\S+Z)$/m);
  const gone = await anybody.run(["resolve", "carol"]);
  assert.deepEqual([gone.code, gone.out], [4, ""]);
  assert.deepEqual((await anybody.json(["find"])).map(({ handle }) => handle), ["bob", "alice"]);
  assert.equal((await anybody.json(["find", "--limit", "1"])).length, 1);
  assert.equal((await anybody.json(["find", "ALI"]))[0].handle, "alice");
  assert.deepEqual(await anybody.json(["find", "--tag", "math"]), []);
  assert.equal(await anybody.out(["find", "nobody"]), "");
  assert.match(await anybody.out(["find"]), /^handle +bob\n[^]+\n\naddress [^]+\nhandle +alice\n/m);
  assert.equal((await anybody.run(["find", "--tag", "no tag"])).code, 4);
  assert.equal((await anybody.run(["find", "--limit", "x"])).code, 2);
});

Deno.test("mail register reports that mail is off with 4, and mail inject as what passes", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const secret = {
    HOME: "/me",
    RELAY_URL: world.relay.url,
    RELAY_MAIL_INBOUND_SECRET: btoa("x".repeat(24)),
  };
  const inject = ["mail", "inject", "--from", "a@relay.example", "--to", "b@relay.example"];
  world.seen.length = 0;
  const register = await alice.run(["mail", "register", "--label", "l", "--json"]);
  assert.deepEqual([register.code, register.out], [4, ""]);
  const { error, status } = JSON.parse(register.err);
  assert.deepEqual([error.code, status], ["mail_disabled", 503]);
  const injected = await alice.run(inject, { env: secret, stdin: "Subject: x\r\n\r\n" });
  assert.deepEqual([injected.code, injected.out], [75, ""]);
  assert.match(injected.err, /^relay mail inject: refused \(mail_disabled\): .*\n$/);
  assert.deepEqual(world.seen.map(({ target }) => target), [
    "/v1/mail/agents/register",
    "/v1/mail/inbound/raw",
  ]);
});

Deno.test("mail register and mail inject print what the relay gives", async () => {
  await using world = await startClientWorld();
  const alice = await registered(world, "alice");
  const made = {
    org_id: "org_1",
    agent_id: 1,
    api_key: "rm_sk_1",
    key_prefix: "rm_sk_1",
    trial: true,
    expires_in_hours: 24,
    note: "receive-only",
  };
  const result = {
    accepted: ["b@relay.example"],
    rejected: [{ address: "c@relay.example", code: "not_found" }],
  };
  const whole = { accepted: ["b@relay.example", "c@relay.example"], rejected: [] };
  const inject = [
    "mail",
    "inject",
    "--from",
    "",
    "--to",
    "b@relay.example",
    "--to",
    "c@relay.example",
  ];
  alice.files.set("secret", `whsec_${btoa("x".repeat(24))}\n`);
  const state = { stdin: "Subject: x\r\n\r\n" };
  world.faults.push({ status: 201, body: made }, { status: 201, body: made });
  assert.deepEqual(await alice.json(["mail", "register"]), [made]);
  assert.match(await alice.out(["mail", "register"]), /^API key +rm_sk_1$/m);
  for (const body of [whole, whole, result]) world.faults.push({ status: 200, body });
  const args = [...inject, "--secret-file", "secret", "--client-ip", "127.0.0.1"];
  assert.deepEqual(await alice.json(args, state), [whole]);
  assert.equal(await alice.out(args, state), "accepted b@relay.example, c@relay.example\n");
  const { code, out, err } = await alice.run([...args, "--json"], state);
  assert.deepEqual([code, JSON.parse(out)], [67, result]);
  assert.match(err, /: accepted b@relay\.example; rejected c@relay\.example \(not_found\)\n$/);
  assert.deepEqual(JSON.parse(world.seen.at(-1)!.headers.get("x-relay-envelope")!), {
    from: "",
    to: ["b@relay.example", "c@relay.example"],
    client_ip: "127.0.0.1",
  });
});
