/**
 * What every group commit writes for the network's figures: one feed block, one delta of the
 * leaderboard and one sum. Their number does not grow with the sends.
 */
import type { Registered } from "../agents/register_agent.ts";
import { listingKey, listingOf } from "../directory/listing.ts";
import type { Receipt } from "../messages/send/sender.ts";
import type { CommitSize, GroupAnnotation } from "../../base/storage/commits/group_commit.ts";
import { EXPIRY_MARGIN_MS } from "../../base/storage/rows/store.ts";
import { isTestHandle, minuteOf } from "./counted.ts";
import { encodeBlock, type FeedEvent, feedEventOf, feedKey, packEvents } from "./feed_block.ts";
import { type Count, deltaKey, encodeCounts, mergeCounts, TALLY_KEPT_MS } from "./tally_rows.ts";
import { MESSAGE_COUNT, REGISTRATION_COUNT } from "./totals.ts";

/** Result of a sweep's step: what it takes from or gives back to the leaderboard. */
export interface Swept {
  kind: "swept";
  corrections: readonly Count[];
}

type Result = Receipt | Registered | Swept;

/**
 * Adds the rows of one group.
 * @param retentionMs life of a message and of its feed event
 * @param counted called where the leaderboard has a delta to fold
 */
export function recordFigures(
  retentionMs: number,
  counted: () => void = () => {},
): GroupAnnotation<Result> {
  return {
    kinds: ["sent", "registered", "swept"],
    sizeOf: sizeOfFigures,
    annotate(results, transaction) {
      const events: FeedEvent[] = [];
      const corrections: Count[] = [];
      let registrations = 0n;
      for (const result of results) {
        if (result.kind === "sent") {
          const event = feedEventOf(result);
          if (event !== null) events.push(event);
        } else if (result.kind === "registered") {
          transaction.set(listingKey(result.agent.id), listingOf(result.agent));
          if (!isTestHandle(result.agent.handle)) registrations++;
        } else corrections.push(...result.corrections);
      }
      if (registrations > 0n) transaction.sum(REGISTRATION_COUNT, registrations);
      if (events.length > 0) {
        transaction.sum(MESSAGE_COUNT, BigInt(events.length));
        for (const [blockId, block] of packEvents(events)) {
          transaction.set(feedKey(blockId), encodeBlock(block), retentionMs + EXPIRY_MARGIN_MS);
        }
      }
      const counts = mergeCounts([...events.map(countOf), ...corrections]);
      if (counts.length === 0) return;
      transaction.set(deltaKey(transaction.attempt), encodeCounts(counts), TALLY_KEPT_MS);
      counted();
    },
  };
}

/** A feed event, or one change of a sender's standing, as it is stored. */
const EVENT_BYTES = 200;
/** The directory's row of an agent. */
const LISTING_BYTES = 8_000;

function sizeOfFigures(result: Result): CommitSize {
  switch (result.kind) {
    case "sent":
      return { mutations: 1, bytes: 2 * EVENT_BYTES };
    case "registered":
      return { mutations: 1, bytes: LISTING_BYTES };
    case "swept":
      return { mutations: 1, bytes: EVENT_BYTES * result.corrections.length };
  }
}

/** What an event adds to its sender's standing. */
export function countOf({ senderId, senderHandle, createdAtMs }: FeedEvent): Count {
  return { senderId, handle: senderHandle, minute: minuteOf(createdAtMs), count: 1 };
}
