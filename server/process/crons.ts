/** Periodic work: what runs when. What it does, the open relay knows. */

export interface CronSchedule {
  /** Unique; letters, digits, spaces, `_` and `-`. */
  name: string;
  /** Five cron fields, UTC. */
  schedule: string;
}

/** Every cron of the service. A body takes a lease first, since a cron fires in every process. */
export const CRON_SCHEDULES: readonly CronSchedule[] = [
  { name: "digest", schedule: "*/5 * * * *" },
  // A running process ticks each second; this one is for where nothing runs between requests.
  { name: "outgoing", schedule: "* * * * *" },
  { name: "figures", schedule: "* * * * *" },
];

/**
 * Registers every cron. Deno Deploy finds crons only when this happens at the top level of the
 * main module, always and before serving, hence before there is a relay to run them.
 * @param handleOf the body of a cron; undefined while no relay is open, when the run is skipped
 */
export function registerCrons(
  handleOf: (name: string) => (() => Promise<void>) | undefined,
  schedules: readonly CronSchedule[] = CRON_SCHEDULES,
): void {
  for (const { name, schedule } of schedules) {
    Deno.cron(name, schedule, async () => {
      await handleOf(name)?.();
    });
  }
}
