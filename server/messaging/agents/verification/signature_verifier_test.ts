import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { heldWorkers, settle } from "../../../../tests/support/held_workers.ts";
import {
  type Batch,
  SignatureVerifier,
  type SignatureVerifierOptions,
  startVerificationWorker,
} from "./signature_verifier.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const SIGNER = { publicKey: publicKey.export({ format: "jwk" }).x! };

function signatureOver(text: string, key: KeyObject = privateKey): Buffer {
  return sign(null, Buffer.from(text), key);
}

/** A verifier whose requests are never alone, unless the test says so. */
function heldVerifier(options: Partial<SignatureVerifierOptions> = {}) {
  const held = heldWorkers<Batch, string>();
  const verifier = new SignatureVerifier({ isBusy: () => true, ...held.services, ...options });
  const check = (text: string, signature = signatureOver(text)) =>
    verifier.verify(SIGNER, text, signature);
  /** The texts of each batch. */
  const texts = () => held.jobs().map(({ job }) => job.filter((_, i) => i % 3 === 2));
  return { ...held, verifier, check, texts };
}

/** The same with a worker that is ready. */
function readyVerifier(options: Partial<SignatureVerifierOptions> = {}) {
  const made = heldVerifier(options);
  made.check("the one that starts it");
  made.ready();
  return made;
}

const pending = Symbol("pending");
async function settled(verdict: boolean | Promise<boolean>): Promise<boolean | symbol> {
  return await Promise.race([verdict, Promise.resolve().then(() => {}).then(() => pending)]);
}

Deno.test("SignatureVerifier.verify() answers at once while a request is alone, and starts no worker", () => {
  const { check, workers } = heldVerifier({ isBusy: () => false });
  assert.equal(check("a"), true);
  assert.equal(check("a", signatureOver("b")), false);
  assert.equal(workers.length, 0);
});

Deno.test("SignatureVerifier.verify() answers at once until the worker is ready, which it starts once", () => {
  const { check, workers, verifier } = heldVerifier();
  assert.deepEqual([check("a"), check("b"), check("b", signatureOver("a"))], [true, true, false]);
  assert.deepEqual([workers.length, workers[0]!.posted], [1, []]);
  verifier.close();
});

Deno.test("SignatureVerifier.verify() sends what came meanwhile in one batch of bounded size", async () => {
  const { texts, check, end, verifier } = readyVerifier({ bounds: { batch: 3, waiting: 10 } });
  const verdicts = ["a", "b", "c", "d", "e"].map((text) => check(text));
  assert.deepEqual(texts(), [["a"]]);
  end("1");
  await settle();
  assert.deepEqual(texts(), [["a"], ["b", "c", "d"]]);
  assert.equal(await verdicts[0], true);
  assert.equal(await settled(verdicts[1]!), pending);
  end("101");
  await settle();
  assert.deepEqual(texts(), [["a"], ["b", "c", "d"], ["e"]]);
  assert.deepEqual(await Promise.all(verdicts.slice(1, 4)), [true, false, true]);
  end("0");
  assert.equal(await verdicts[4], false);
  verifier.close();
});

Deno.test("SignatureVerifier.verify() gives the worker key, signature and text", () => {
  const { jobs, check, verifier } = readyVerifier();
  check("a");
  const [x, signature, text] = jobs()[0]!.job;
  assert.equal(x, publicKey.export({ format: "jwk" }).x);
  assert.deepEqual(Buffer.from(signature!, "base64"), signatureOver("a"));
  assert.equal(text, "a");
  verifier.close();
});

Deno.test("SignatureVerifier.verify() answers at once beyond what may wait", async () => {
  const { check, verifier } = readyVerifier({ bounds: { batch: 1, waiting: 2 } });
  const held = ["a", "b", "c"].map((text) => check(text));
  assert.equal(check("d"), true);
  assert.equal(check("d", signatureOver("e")), false);
  for (const verdict of held) assert.equal(await settled(verdict), pending);
  verifier.close();
});

Deno.test("SignatureVerifier.verify() refuses forms that are not strict without asking the worker", () => {
  const { jobs, check, verifier } = readyVerifier();
  const order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
  const good = signatureOver("a");
  const aboveOrder = Buffer.concat([good.subarray(0, 32), Buffer.from(order, "hex")]);
  const smallOrder = Buffer.concat([Buffer.alloc(32), good.subarray(32)]);
  const notCanonical = Buffer.concat([Buffer.alloc(32, 255), good.subarray(32)]);
  for (const form of [aboveOrder, smallOrder, notCanonical]) assert.equal(check("a", form), false);
  assert.deepEqual(jobs(), []);
  verifier.close();
});

Deno.test("SignatureVerifier answers what a dying worker held, tells it once, and does without for a while", async () => {
  const { check, losses, die, pass, workers, ready, verifier } = readyVerifier({
    bounds: { batch: 2, waiting: 10 },
  });
  const verdicts = ["a", "b", "c", "d"].map((text) => check(text));
  verdicts.push(check("e", signatureOver("f")));
  const failure = new Error("gone");
  die(failure);
  assert.deepEqual(await Promise.all(verdicts), [true, true, true, true, false]);
  assert.deepEqual([losses, workers[0]!.isTerminated], [[failure], true]);
  assert.equal(check("g"), true);
  assert.equal(workers.length, 1);
  pass(10_000);
  assert.equal(check("h"), true);
  ready(1);
  assert.equal(await settled(check("i")), pending);
  verifier.close();
});

Deno.test("SignatureVerifier checks for itself where the worker gives no verdict, or too many", async () => {
  const { check, losses, end, verifier } = readyVerifier();
  const good = check("a");
  end("?");
  assert.equal(await good, true);
  for (const verdict of ["x", "11", ""]) {
    const bad = check("a", signatureOver("b"));
    end(verdict);
    assert.equal(await bad, false);
  }
  assert.match(losses.join(), /^Error: 2 verdicts on 1 signatures,Error: 0 verdicts on 1 [a-z]+$/);
  verifier.close();
});

Deno.test("SignatureVerifier answers for a worker that is late, and does without for a while", async () => {
  const { check, losses, pass, workers, verifier } = readyVerifier({
    bounds: { batch: 1, waiting: 10 },
  });
  const verdicts = [check("a"), check("b", signatureOver("a"))];
  pass(1_500);
  assert.equal(await settled(verdicts[0]!), pending);
  pass(250);
  assert.deepEqual(await Promise.all(verdicts), [true, false]);
  assert.match(String(losses), /does not answer/);
  assert.deepEqual([check("c"), workers.length, workers[0]!.isTerminated], [true, 1, true]);
  verifier.close();
});

Deno.test("SignatureVerifier.close() answers what waits, ends the worker, and answers later checks", async () => {
  const { check, losses, looked, verifier, workers } = readyVerifier({
    bounds: { batch: 1, waiting: 10 },
  });
  const verdicts = [check("a"), check("b"), check("c", signatureOver("b"))];
  verifier.close();
  verifier.close();
  assert.deepEqual(await Promise.all(verdicts), [true, true, false]);
  assert.deepEqual([workers[0]!.isTerminated, losses, looked()], [true, [], 0]);
  assert.deepEqual([check("d"), workers.length], [true, 1]);
});

Deno.test("SignatureVerifier goes on without a worker where none can be started, or none exists", () => {
  const refusal = new Error("no workers here");
  const { check, losses } = heldVerifier({
    start: () => {
      throw refusal;
    },
  });
  assert.deepEqual([check("a"), check("b", signatureOver("a"))], [true, false]);
  assert.deepEqual(losses, [refusal]);
  const without = heldVerifier({ start: null });
  assert.equal(without.check("a"), true);
  assert.deepEqual(without.losses, []);
});

Deno.test("startVerificationWorker() verifies in a real worker that has no permissions", async () => {
  const ready = Promise.withResolvers<void>();
  const answers: ((message: unknown) => void)[] = [];
  const worker = startVerificationWorker({
    message(message) {
      if (message === "ready") ready.resolve();
      else answers.shift()!(message);
    },
    died: (failure) => ready.reject(failure),
  });
  const ask = (id: number, ...job: string[]) =>
    new Promise<unknown>((resolve) => {
      answers.push(resolve);
      worker.postMessage({ id, job }, []);
    });
  await ready.promise;
  const x = publicKey.export({ format: "jwk" }).x!;
  const base64 = (text: string) => signatureOver(text).toString("base64");
  const good = [x, base64("a"), "a"];
  assert.deepEqual(
    await ask(3, ...good, x, base64("b"), "a", "no key", base64("a"), "a", ...good),
    { id: 3, result: "10?1" },
  );
  assert.deepEqual(await ask(4, x, base64("ä"), "ä"), { id: 4, result: "1" });
  worker.terminate();
});

Deno.test("SignatureVerifier answers all checks when its real worker is killed among them", async () => {
  const ready = Promise.withResolvers<void>();
  const worker: { kill?: () => void } = {};
  const { check, losses, verifier } = heldVerifier({
    start(events) {
      const started = startVerificationWorker({
        ...events,
        message(message) {
          events.message(message);
          ready.resolve();
        },
      });
      // What it cannot iterate over ends it.
      worker.kill = () => started.postMessage(null, []);
      return started;
    },
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
