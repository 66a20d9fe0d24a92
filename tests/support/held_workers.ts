/** Workers that say what the test has them say, and looks at them by hand. */
import assert from "node:assert/strict";
import type { RunningWorker, WorkerEvents } from "../../server/base/workers/start_worker.ts";
import {
  type FromWorker,
  LOOK_MS,
  type ToWorker,
} from "../../server/base/workers/worker_thread.ts";

export interface HeldWorker<Job, Answer> {
  events: WorkerEvents;
  /** All that it was sent. */
  posted: ToWorker<Job, Answer>[];
  transferred: Transferable[];
  isTerminated: boolean;
}

export function heldWorkers<Job, Result, Word = never, Answer = never>() {
  const workers: HeldWorker<Job, Answer>[] = [];
  const ticks = new Set<() => void>();
  const losses: unknown[] = [];
  const clock = { nowMs: 0 };
  const at = (worker: number) => {
    assert.ok(workers[worker] !== undefined, `there is no worker ${worker}`);
    return workers[worker];
  };
  const say = (message: FromWorker<Result, Word>, worker = workers.length - 1) =>
    at(worker).events.message(message);
  const jobs = (worker = workers.length - 1) =>
    at(worker).posted.flatMap((one) => typeof one === "object" && "id" in one ? [one] : []);
  return {
    workers,
    losses,
    clock,
    say,
    /** The jobs of a worker, of the newest one unless told. */
    jobs,
    /** What a WorkerThread is given. */
    services: {
      start(events: WorkerEvents): RunningWorker {
        const worker: HeldWorker<Job, Answer> = {
          events,
          posted: [],
          transferred: [],
          isTerminated: false,
        };
        workers.push(worker);
        return {
          postMessage(message, transfer) {
            worker.posted.push(message as ToWorker<Job, Answer>);
            worker.transferred.push(...transfer);
          },
          terminate: () => void (worker.isTerminated = true),
        };
      },
      startTicker(tick: () => void, everyMs?: number) {
        assert.equal(everyMs, LOOK_MS);
        ticks.add(tick);
        return () => void ticks.delete(tick);
      },
      onLoss: (failure: unknown) => void losses.push(failure),
    },
    /** How many workers are looked at. */
    looked: () => ticks.size,
    /** Time goes by, a look at a time. */
    pass(ms: number) {
      for (let passed = 0; passed < ms; passed += LOOK_MS) {
        clock.nowMs += LOOK_MS;
        for (const tick of [...ticks]) tick();
      }
    },
    ready: (worker?: number) => say("ready", worker),
    /** Ends the newest job of a worker. */
    end: (result: Result, worker?: number) => say({ id: jobs(worker).at(-1)!.id, result }, worker),
    die: (failure: unknown, worker = workers.length - 1) => at(worker).events.died(failure),
  };
}

/** Lets settled promises run their callbacks. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve));
}
