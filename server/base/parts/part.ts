/** A part of the relay with a life of its own, and how parts are opened, started and closed together. */
import type { Route } from "../http/routes/route.ts";
import type { Log } from "../log.ts";
import { describeFailure } from "../describe_failure.ts";

/** Every cron of the service and when it runs, UTC: server/main.ts registers these and no others. */
export const CRON_SCHEDULES = {
  digest: "*/5 * * * *",
  // A running process ticks each second; this one is for where nothing runs between requests.
  outgoing: "* * * * *",
  figures: "* * * * *",
} as const;

export type CronName = keyof typeof CRON_SCHEDULES;

/** Bodies of crons. Each takes a lease first, since a cron fires in every process. */
export type Crons<Result = unknown> = Readonly<Partial<Record<CronName, () => Promise<Result>>>>;

/** What a part shows the composition root; most parts need a few of these only. */
export interface Part {
  routes?: readonly Route[];
  /** What start-up prints of it. */
  notes?: readonly string[];
  crons?: Crons;
  /** Begins its work in the background; called once, when all parts are open. */
  start?(): Promise<unknown> | void;
  /** Work that is due once a minute. */
  everyMinute?(): Promise<unknown>;
  /** The first step of a shutdown: answers what waits, and lets nothing wait from now on. */
  endWaits?(): void;
  /** Finishes what was accepted, and gives back what the part holds. */
  close?(): Promise<unknown> | void;
}

/**
 * Opens parts one after the other, each upon those before it.
 * @param open adds each to what it is given; where it throws, what was added is closed
 */
export async function openTogether<T>(
  log: Log,
  open: (parts: OpenParts) => Promise<T>,
): Promise<T> {
  const parts = new OpenParts(log);
  try {
    return await open(parts);
  } catch (error) {
    await parts.close().catch(() => {}); // it is logged; why a part did not open says more
    throw error;
  }
}

/** Parts in the order in which they were opened: a part too, so that an area can be made of several. */
export class OpenParts implements Part {
  readonly #parts: { name: string; part: Part }[] = [];

  constructor(private readonly log: Log) {}

  /** Takes a part that has just been opened. */
  add<P extends Part>(name: string, part: P): P {
    this.#parts.push({ name, part });
    return part;
  }

  get routes(): Route[] {
    return this.#parts.flatMap(({ part }) => part.routes ?? []);
  }

  get notes(): string[] {
    return this.#parts.flatMap(({ part }) => part.notes ?? []);
  }

  /** The crons of all parts; they log what fails, and throw nothing. */
  get crons(): Crons<void> {
    return Object.fromEntries(
      this.#parts.flatMap(({ part }) => Object.entries(part.crons ?? {})).map(([cron, body]) => [
        cron,
        () => this.#logged("cron_failed", { cron }, body),
      ]),
    );
  }

  /** Starts the parts in order. @throws what the first one threw that failed; none after it is started */
  async start(): Promise<void> {
    for (const { part } of this.#parts) await part.start?.();
  }

  /** The work of a minute, of all parts at the same time: a failed one is logged and stops no other. */
  async everyMinute(): Promise<void> {
    await Promise.all(
      this.#parts.map(({ name, part }) =>
        this.#logged("minute_failed", { part: name }, async () => await part.everyMinute?.())
      ),
    );
  }

  endWaits(): void {
    for (const { part } of this.#parts) part.endWaits?.();
  }

  /**
   * Closes all parts, the last one first, each whatever the others threw. Later calls do nothing.
   * @throws what the first one threw that failed
   */
  async close(): Promise<void> {
    let failure: { error: unknown } | undefined;
    for (const { name, part } of this.#parts.splice(0).reverse()) {
      try {
        await part.close?.();
      } catch (error) {
        this.log("close_failed", { part: name, ...describeFailure(error) });
        failure ??= { error };
      }
    }
    if (failure !== undefined) throw failure.error;
  }

  async #logged(
    event: string,
    fields: Record<string, string>,
    work: () => Promise<unknown>,
  ): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.log(event, { ...fields, ...describeFailure(error) });
    }
  }
}
