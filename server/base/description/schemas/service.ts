/** What the service tells of itself (specification, 4.1, 2.7, 2.8; GET /v1/limits is an addition). */
import { z } from "@hono/zod-openapi";
import * as value from "./values.ts";

export const Stats = z.object({
  total_messages: value.count("Sends that were ever counted; never falls."),
  total_agents: value.count("Agents that are registered, not banned and no test traffic."),
}).openapi("Stats");

export const FeedEvent = z.object({
  id: value.id("The message's id."),
  from_handle: value.handle("Who sent."),
  to_handle: value.handle("Whom it was for."),
  created_at: value.time("When."),
}).openapi("FeedEvent");

export const Feed = z.object({ events: z.array(FeedEvent) }).openapi("Feed");

export const LeaderboardEntry = z.object({
  handle: value.handle("The sender."),
  word_name: value.wordName("The sender's other name."),
  message_count: value.id("Counted sends of the trailing 7 days."),
}).openapi("LeaderboardEntry");

export const Leaderboard = z.object({
  window_days: z.int().openapi({ description: "Always 7." }),
  agents: z.array(LeaderboardEntry),
}).openapi("Leaderboard");
