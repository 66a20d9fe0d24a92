import assert from "node:assert/strict";
import { readEvents } from "../../../../tests/support/event_stream.ts";
import { Waiter } from "../../../base/waiting/waiter.ts";
import type { MessagePage } from "./message_pages.ts";
import { MessageStreams, type StreamRequest } from "./message_streams.ts";
import type { MessageRow } from "../../records/message_record.ts";

/** Timers that a test lets run out. */
class Timers {
  readonly running: { ms: number; callback: () => void }[] = [];

  readonly start = (callback: () => void, ms: number) => {
    const timer = { ms, callback };
    this.running.push(timer);
    return () => {
      const at = this.running.indexOf(timer);
      if (at >= 0) this.running.splice(at, 1);
    };
  };

  fire(ms: number): void {
    const timer = this.running.find((one) => one.ms === ms);
    assert.ok(timer !== undefined, `no timer of ${ms} ms runs`);
    this.running.splice(this.running.indexOf(timer), 1);
    timer.callback();
  }
}

const EMPTY: MessagePage = { rows: [], json: [], position: null, more: false };

function pageOf(id: string): MessagePage {
  return { rows: [{ id } as MessageRow], json: [`{"id":"${id}"}`], position: id, more: false };
}

/** A stream over pages that the test puts behind each other. */
function rig(change: Partial<StreamRequest> = {}) {
  const timers = new Timers();
  const streams = new MessageStreams({ startTimer: timers.start, perOrg: 2 });
  let left = 0;
  const waiter = new Waiter<string>({}, () => left++);
  const pages: MessagePage[] = [];
  const positions: string[] = [];
  const giveBack = streams.take("org");
  const answer = streams.answer({
    position: "m0",
    waiter,
    readAfter(position) {
      positions.push(position);
      return Promise.resolve(pages.shift() ?? EMPTY);
    },
    cursorAt: (id) => `cursor-${id}`,
    confirm: () => Promise.resolve(),
    ...change,
  }, giveBack);
  const stream = readEvents(answer);
  const places = () => {
    const taken: (() => void)[] = [];
    try {
      for (;;) taken.push(streams.take("org"));
    } catch {
      for (const giveBack of taken) giveBack();
      return taken.length;
    }
  };
  return { timers, waiter, pages, positions, stream, places, leftCount: () => left };
}

/** Lets everything run that waits for nothing. */
const nextTask = () => new Promise((resolve) => setTimeout(resolve, 0));

Deno.test("MessageStreams: a comment after 15 silent seconds, again and again, and events between", async () => {
  const { timers, waiter, pages, positions, stream } = rig();
  const event = stream.next();
  await nextTask();
  assert.deepEqual(stream.comments, ["from here on"]);
  timers.fire(15_000);
  await nextTask();
  assert.deepEqual(stream.comments, ["from here on", "still here"]);
  timers.fire(15_000);
  await nextTask();
  assert.equal(stream.comments.length, 3);
  pages.push(pageOf("m1"));
  waiter.wake();
  assert.deepEqual(await event, { event: "message", id: "cursor-m1", data: { id: "m1" } });
  // The silence starts over, at the place behind the event.
  const end = stream.next();
  await nextTask();
  assert.equal(timers.running.filter(({ ms }) => ms === 15_000).length, 1);
  assert.equal(positions.at(-1), "m1");
  await stream.close();
  assert.equal(await end, null);
  assert.deepEqual(timers.running, []);
});

Deno.test("MessageStreams: the end after 15 minutes, of a silent stream and of a busy one", async () => {
  for (const isBusy of [false, true]) {
    const { timers, pages, stream, places, leftCount } = rig();
    if (isBusy) pages.push(pageOf("m1"), pageOf("m2"));
    if (isBusy) assert.notEqual(await stream.next(), null);
    const end = isBusy ? null : stream.next();
    await nextTask();
    assert.equal(places(), 1);
    timers.fire(15 * 60_000);
    if (!isBusy) assert.equal(await end, null);
    else while (await stream.next() !== null);
    assert.equal(places(), 2);
    assert.equal(leftCount(), 1);
    assert.deepEqual(timers.running, []);
  }
});

Deno.test("MessageStreams: after 15 minutes a client that reads nothing has its end at hand", async () => {
  const { timers, pages, stream, places } = rig();
  pages.push(pageOf("m1"), pageOf("m2"));
  await nextTask();
  timers.fire(15 * 60_000);
  await nextTask();
  assert.equal(places(), 2);
  assert.equal(await stream.next(), null);
});

Deno.test("MessageStreams: a key that has died ends the stream at the comment, and shows no event", async () => {
  for (const withEvent of [false, true]) {
    const { timers, waiter, pages, stream, places } = rig({
      confirm: () => Promise.reject(new Error("unknown_key")),
    });
    const end = stream.next();
    await nextTask();
    if (withEvent) {
      pages.push(pageOf("m1"));
      waiter.wake();
    } else timers.fire(15_000);
    assert.equal(await end, null);
    assert.equal(places(), 2);
    assert.deepEqual(timers.running, []);
  }
});

Deno.test("MessageStreams: one that is not read reads one page ahead at most, and holds its place", async () => {
  const { pages, positions, stream, places } = rig();
  for (let i = 1; i < 10; i++) pages.push(pageOf(`m${i}`));
  await nextTask();
  assert.ok(positions.length <= 1, `${positions.length} pages were read`);
  assert.equal(places(), 1);
  await stream.close();
  assert.equal(places(), 2);
});

Deno.test("MessageStreams: a client that leaves and a relay that stops give the place back once", async () => {
  const gone = rig();
  await gone.stream.close();
  await nextTask();
  assert.equal(gone.places(), 2);
  assert.equal(gone.leftCount(), 1);
  const stopped = rig();
  const end = stopped.stream.next();
  await nextTask();
  stopped.waiter.finish("stopped");
  assert.equal(await end, null);
  assert.equal(stopped.places(), 2);
  assert.deepEqual(stopped.timers.running, []);
});
