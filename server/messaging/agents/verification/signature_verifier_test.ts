import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { SignatureVerifier, type SignatureVerifierOptions } from "./signature_verifier.ts";
import { type Batch, type StartWorker, startWorker, type WorkerEvents } from "./start_worker.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const SIGNER = { publicKey: publicKey.export({ format: "jwk" }).x! };

function signatureOver(text: string, key: KeyObject = privateKey): Buffer {
  return sign(null, Buffer.from(text), key);
}

/** A worker that answers when the test says so. */
function heldWorker() {
  const batches: Batch[] = [];
  const state = { events: undefined as WorkerEvents | undefined, terminated: 0 };
  const start: StartWorker = (events) => {
    state.events = events;
    return { post: (batch) => void batches.push(batch), terminate: () => void state.terminated++ };
  };
  return { batches, state, start };
}

/** A verifier whose requests are never alone, unless the test says so, and its timer by hand. */
function verifierOf(start: StartWorker | null, options: Partial<SignatureVerifierOptions> = {}) {
  const losses: unknown[] = [];
  const looks: (() => void)[] = [];
  const verifier = new SignatureVerifier({
    isBusy: () => true,
    start,
    onLoss: (failure) => losses.push(failure),
    after: (_, look) => {
      looks.push(look);
      return () => void looks.splice(looks.indexOf(look), 1);
    },
    ...options,
  });
  const check = (text: string, signature = signatureOver(text)) =>
    verifier.verify(SIGNER, text, signature);
  return { verifier, losses, looks, check };
}

/** The same with a held worker that is ready. */
function readyVerifier(options: Partial<SignatureVerifierOptions> = {}) {
  const worker = heldWorker();
  const made = verifierOf(worker.start, options);
  made.check("the one that starts it");
  worker.state.events!.ready();
  return { ...worker, ...made };
}

const pending = Symbol("pending");
async function settled(verdict: boolean | Promise<boolean>): Promise<boolean | symbol> {
  return await Promise.race([verdict, Promise.resolve().then(() => {}).then(() => pending)]);
}

Deno.test("SignatureVerifier.verify() answers at once while a request is alone, and starts no worker", () => {
  const { start, state } = heldWorker();
  const { check } = verifierOf(start, { isBusy: () => false });
  assert.equal(check("a"), true);
  assert.equal(check("a", signatureOver("b")), false);
  assert.equal(state.events, undefined);
});

Deno.test("SignatureVerifier.verify() answers at once until the worker is ready, which it starts once", () => {
  let starts = 0;
  const { check } = verifierOf(() => {
    starts++;
    return { post: () => assert.fail("not ready"), terminate: () => {} };
  });
  assert.deepEqual([check("a"), check("b"), check("b", signatureOver("a"))], [true, true, false]);
  assert.equal(starts, 1);
});

Deno.test("SignatureVerifier.verify() sends what came meanwhile in one batch of bounded size", async () => {
  const { batches, check, state, verifier } = readyVerifier({
    bounds: { batch: 3, waiting: 10, lookEveryMs: 1, patienceLooks: 2 },
  });
  const verdicts = ["a", "b", "c", "d", "e"].map((text) => check(text));
  const texts = () => batches.map((batch) => batch.filter((_, i) => i % 3 === 2));
  assert.deepEqual(texts(), [["a"]]);
  state.events!.verdicts("1");
  assert.deepEqual(texts(), [["a"], ["b", "c", "d"]]);
  assert.equal(await verdicts[0], true);
  assert.equal(await settled(verdicts[1]!), pending);
  state.events!.verdicts("101");
  assert.deepEqual(texts(), [["a"], ["b", "c", "d"], ["e"]]);
  assert.deepEqual(await Promise.all(verdicts.slice(1, 4)), [true, false, true]);
  state.events!.verdicts("0");
  assert.equal(await verdicts[4], false);
  verifier.close();
});

Deno.test("SignatureVerifier.verify() gives the worker key, signature and text", () => {
  const { batches, check, verifier } = readyVerifier();
  check("a");
  const [x, signature, text] = batches[0]!;
  assert.equal(x, publicKey.export({ format: "jwk" }).x);
  assert.deepEqual(Buffer.from(signature!, "base64"), signatureOver("a"));
  assert.equal(text, "a");
  verifier.close();
});

Deno.test("SignatureVerifier.verify() answers at once beyond what may wait", async () => {
  const { check, verifier } = readyVerifier({
    bounds: { batch: 1, waiting: 2, lookEveryMs: 1, patienceLooks: 2 },
  });
  const held = ["a", "b", "c"].map((text) => check(text));
  assert.equal(check("d"), true);
  assert.equal(check("d", signatureOver("e")), false);
  for (const verdict of held) assert.equal(await settled(verdict), pending);
  verifier.close();
});

Deno.test("SignatureVerifier.verify() refuses forms that are not strict without asking the worker", () => {
  const { batches, check, verifier } = readyVerifier();
  const order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
  const good = signatureOver("a");
  const aboveOrder = Buffer.concat([good.subarray(0, 32), Buffer.from(order, "hex")]);
  const smallOrder = Buffer.concat([Buffer.alloc(32), good.subarray(32)]);
  const notCanonical = Buffer.concat([Buffer.alloc(32, 255), good.subarray(32)]);
  for (const form of [aboveOrder, smallOrder, notCanonical]) assert.equal(check("a", form), false);
  assert.deepEqual(batches, []);
  verifier.close();
});

Deno.test("SignatureVerifier answers what a dying worker held, tells it once, and goes on without", async () => {
  const { check, losses, looks, state } = readyVerifier({
    bounds: { batch: 2, waiting: 10, lookEveryMs: 1, patienceLooks: 2 },
  });
  const verdicts = ["a", "b", "c", "d"].map((text) => check(text));
  verdicts.push(check("e", signatureOver("f")));
  const failure = new Error("gone");
  state.events!.died(failure);
  state.events!.died(failure);
  state.events!.verdicts("00");
  assert.deepEqual(await Promise.all(verdicts), [true, true, true, true, false]);
  assert.deepEqual([losses, state.terminated, looks], [[failure], 1, []]);
  assert.equal(check("g"), true);
});

Deno.test("SignatureVerifier checks for itself where the worker gives no verdict", async () => {
  const { check, losses, state, verifier } = readyVerifier();
  const good = check("a");
  state.events!.verdicts("?");
  assert.equal(await good, true);
  const bad = check("a", signatureOver("b"));
  state.events!.verdicts("x");
  assert.equal(await bad, false);
  assert.deepEqual(losses, []);
  verifier.close();
});

Deno.test("SignatureVerifier drops a worker whose answer does not fit its question", async () => {
  const { check, losses, state } = readyVerifier();
  const bad = check("a", signatureOver("b"));
  state.events!.verdicts("11");
  assert.equal(await bad, false);
  assert.match(String(losses), /2 verdicts on 1 signatures/);
  assert.equal(state.terminated, 1);
});

Deno.test("SignatureVerifier answers for a worker that is late at two looks, and uses it again", async () => {
  const { batches, check, looks, losses, state, verifier } = readyVerifier({
    bounds: { batch: 1, waiting: 10, lookEveryMs: 1, patienceLooks: 5 },
  });
  const look = () => looks.shift()!();
  const first = check("a");
  look();
  state.events!.verdicts("1");
  assert.equal(await first, true);
  const second = [check("a"), check("b", signatureOver("a"))];
  look(); // another batch than the one seen before
  assert.equal(await settled(second[0]!), pending);
  look();
  assert.deepEqual(await Promise.all(second), [true, false]);
  assert.equal(check("c"), true);
  assert.equal(batches.length, 2);
  state.events!.verdicts("0"); // late: its check has been answered
  const third = check("d");
  assert.equal(await settled(third), pending);
  state.events!.verdicts("1");
  assert.equal(await third, true);
  assert.deepEqual([losses, state.terminated], [[], 0]);
  verifier.close();
});

Deno.test("SignatureVerifier drops a worker that is late for too long", async () => {
  const { check, looks, losses, state } = readyVerifier({
    bounds: { batch: 1, waiting: 10, lookEveryMs: 1, patienceLooks: 3 },
  });
  const look = () => looks.shift()!();
  const verdict = check("a");
  look();
  look();
  assert.equal(await verdict, true);
  look();
  assert.deepEqual([losses, state.terminated, looks.length], [[], 0, 1]);
  look();
  assert.match(String(losses), /does not answer/);
  assert.deepEqual([state.terminated, looks.length], [1, 0]);
  assert.equal(check("b"), true);
});

Deno.test("SignatureVerifier stops looking when nothing is under way", () => {
  const { check, looks, state, verifier } = readyVerifier();
  check("a");
  state.events!.verdicts("1");
  looks.shift()!();
  assert.equal(looks.length, 0);
  verifier.close();
});

Deno.test("SignatureVerifier.close() answers what waits, ends the worker, and answers later checks", async () => {
  const { check, losses, looks, state, verifier } = readyVerifier({
    bounds: { batch: 1, waiting: 10, lookEveryMs: 1, patienceLooks: 2 },
  });
  const verdicts = [check("a"), check("b"), check("c", signatureOver("b"))];
  verifier.close();
  verifier.close();
  assert.deepEqual(await Promise.all(verdicts), [true, true, false]);
  assert.deepEqual([state.terminated, losses, looks.length], [1, [], 0]);
  assert.equal(check("d"), true);
});

Deno.test("SignatureVerifier goes on without a worker where none can be started, or none exists", () => {
  const refusal = new Error("no workers here");
  const { check, losses } = verifierOf(() => {
    throw refusal;
  });
  assert.deepEqual([check("a"), check("b", signatureOver("a"))], [true, false]);
  assert.deepEqual(losses, [refusal]);
  const without = verifierOf(null);
  assert.equal(without.check("a"), true);
  assert.deepEqual(without.losses, []);
});

Deno.test("startWorker() verifies in a real worker that has no permissions", async () => {
  const ready = Promise.withResolvers<void>();
  const answers: ((verdicts: string) => void)[] = [];
  const worker = startWorker({
    ready: () => ready.resolve(),
    verdicts: (verdicts) => answers.shift()!(verdicts),
    died: (failure) => ready.reject(failure),
  });
  const ask = (...batch: string[]) =>
    new Promise<string>((resolve) => {
      answers.push(resolve);
      worker.post(batch);
    });
  await ready.promise;
  const x = publicKey.export({ format: "jwk" }).x!;
  const base64 = (text: string) => signatureOver(text).toString("base64");
  const good = [x, base64("a"), "a"];
  assert.equal(
    await ask(...good, x, base64("b"), "a", "no key", base64("a"), "a", ...good),
    "10?1",
  );
  assert.equal(await ask(x, base64("ä"), "ä"), "1");
  worker.terminate();
});

Deno.test("SignatureVerifier answers all checks when its real worker is killed among them", async () => {
  const ready = Promise.withResolvers<void>();
  const worker: { kill?: () => void } = {};
  const { check, losses, verifier } = verifierOf((events) => {
    const started = startWorker({
      ...events,
      ready() {
        events.ready();
        ready.resolve();
      },
    });
    // What it cannot iterate over ends it.
    worker.kill = () => started.post(null as unknown as Batch);
    return started;
  });
  check("the one that starts it");
  await ready.promise;
  const before = Array.from({ length: 50 }, (_, i) => check(`${i}`));
  worker.kill!();
  const after = Array.from({ length: 10 }, (_, i) => check(`${i}`, signatureOver("x")));
  assert.deepEqual(await Promise.all(before), before.map(() => true));
  assert.deepEqual(await Promise.all(after), after.map(() => false));
  assert.equal(losses.length, 1);
  verifier.close();
});
