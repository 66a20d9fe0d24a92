import assert from "node:assert/strict";
import { changeToUndo, livingRestores, restoresOfOwner } from "./former_owners.ts";
import type { OrgRecord, Restore } from "./org_record.ts";

const DAY_MS = 86_400_000;
const ADA = { sub: "1", email: "ada@example.org" };
const EVE = { sub: "2", email: "eve@example.org" };

/** What an org keeps of a change at a time that took it from somebody. */
function change(linkId: string, email: string, google: OrgRecord["google"] = null): Restore {
  const former = { email, emailProof: null, google };
  return { linkId, sinceMs: 1, expiresAtMs: 7 * DAY_MS, former };
}

function owned(
  verifiedEmail: string,
  restores: readonly Restore[],
  google: OrgRecord["google"] = null,
): Pick<OrgRecord, "verifiedEmail" | "google" | "restores"> {
  return { verifiedEmail, google, restores };
}

const idsOf = (restores: readonly Restore[]) => restores.map(({ linkId }) => linkId);

Deno.test("livingRestores() ends with 7 days, on the millisecond", () => {
  const org = owned("b@x.test", [change("1", "a@x.test")]);
  assert.deepEqual(idsOf(livingRestores(org, 7 * DAY_MS - 1)), ["1"]);
  assert.deepEqual(livingRestores(org, 7 * DAY_MS), []);
  assert.deepEqual(livingRestores(owned("b@x.test", []), 2), []);
});

Deno.test("livingRestores() gives nobody a way back from who owned the org before them", () => {
  // As a former version left an owner's return: the thief's link was mailed and lay there.
  const returned = [change("1", "a@x.test"), change("2", "thief@x.test")];
  assert.deepEqual(idsOf(livingRestores(owned("a@x.test", returned), 2)), ["1"]);
  assert.deepEqual(idsOf(livingRestores(owned("thief@x.test", returned), 2)), ["1", "2"]);
  assert.deepEqual(idsOf(livingRestores(owned("c@x.test", returned), 2)), ["1", "2"]);
});

Deno.test("changeToUndo() is the earliest of who proves an address, and nobody's who owns the org", () => {
  const org = owned("thief@x.test", [
    change("1", "first@x.test"),
    change("2", "a@x.test"),
    change("3", "a@x.test", EVE),
  ], EVE);
  const undone = (email: string) => changeToUndo(org, { email }, 2)?.linkId ?? null;
  assert.deepEqual(
    ["first@x.test", "a@x.test", "thief@x.test", "other@x.test"].map(undone),
    ["1", "2", null, null],
  );
  assert.equal(changeToUndo(org, { email: "a@x.test" }, 7 * DAY_MS), null);
});

Deno.test("changeToUndo() takes an identity of the oldest owner alone", () => {
  const ofAda = [change("1", "a@x.test", ADA), change("2", "thief@x.test", EVE)];
  assert.equal(changeToUndo(owned("c@x.test", ofAda), { sub: ADA.sub }, 2)?.linkId, "1");
  assert.equal(changeToUndo(owned("c@x.test", ofAda), { sub: EVE.sub }, 2), null);
  assert.equal(changeToUndo(owned("c@x.test", ofAda, ADA), { sub: ADA.sub }, 2), null);
});

Deno.test("restoresOfOwner() leaves the owner's own, and the oldest", () => {
  const all = [change("1", "a@x.test"), change("2", "b@x.test"), change("3", "thief@x.test")];
  assert.deepEqual(idsOf(restoresOfOwner(owned("c@x.test", all), 2)), ["1"]);
  assert.deepEqual(idsOf(restoresOfOwner(owned("b@x.test", all), 2)), ["1", "2"]);
  assert.deepEqual(restoresOfOwner(owned("c@x.test", all), 7 * DAY_MS), []);
});
