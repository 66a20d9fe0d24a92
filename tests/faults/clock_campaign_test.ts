/** Load while the clock of a real relay is moved at random. */
import assert from "node:assert/strict";
import { longTest } from "../support/long_test.ts";
import { findPart, partOrSkip } from "../support/part.ts";
import { propertySeed } from "../support/property_runs.ts";
import { type CampaignFigures, type CampaignOptions, runClockCampaign } from "./clock_campaign.ts";

const SHORT_MOVES = 4;
const LONG_MOVES = 200;
const LONG_STAYS = 0.05;

async function run(faketime: string, options: CampaignOptions): Promise<CampaignFigures> {
  try {
    const figures = await runClockCampaign(faketime, options);
    assert.ok(figures.acknowledged >= 10 * options.moves);
    return figures;
  } catch (error) {
    throw new Error(`PROPERTY_SEED=${propertySeed()} finds it again`, { cause: error });
  }
}

for (const processes of [1, 2]) {
  const name = `load on ${processes} process${processes > 1 ? "es" : ""} whose clock`;
  partOrSkip(
    "faketime",
    `${name} is moved ${SHORT_MOVES} times: what was acknowledged is there once`,
    async (faketime) => {
      await run(faketime, { seed: propertySeed(), moves: SHORT_MOVES, processes });
    },
  );
  longTest(
    `${name} is moved ${LONG_MOVES} times: what was acknowledged is there once`,
    async () => {
      const faketime = findPart("faketime");
      assert.ok(faketime !== null, "install the faketime package");
      const seed = propertySeed() + processes;
      console.log(await run(faketime, { seed, moves: LONG_MOVES, processes, stays: LONG_STAYS }));
    },
  );
}
