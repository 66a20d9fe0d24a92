import assert from "node:assert/strict";
import { forMail, mayUse, type NextHopUse, NextHopUses } from "./next_hop_uses.ts";

const never = new AbortController().signal;
const USES: NextHopUse[] = ["link", "notice", "mail"];

Deno.test("mayUse() keeps room for each use, in whatever order the others came, whatever they hold for ever", () => {
  const most: Record<string, number> = {};
  for (let connections = 3; connections <= 20; connections++) {
    for (const orders of [["notice", "mail"], ["mail", "notice"]] as NextHopUse[][]) {
      const used = { link: 0, notice: 0, mail: 0 };
      for (const use of orders) while (mayUse(use, used, connections)) used[use]++;
      most[`${connections} ${orders[0]}`] = used.mail;
      assert.ok(used.mail >= 1, `mail of ${connections}`);
      assert.ok(used.notice >= 1, `notices of ${connections}`);
      assert.ok(mayUse("link", used, connections), `a link of ${connections}`);
      assert.equal(used.mail, forMail(connections));
    }
  }
  assert.deepEqual([most["10 mail"], most["10 notice"], most["8 mail"], most["3 mail"]], [
    7,
    7,
    5,
    1,
  ]);
});

Deno.test("mayUse() leaves mail and notices a connection each, however many links hang", () => {
  for (let connections = 3; connections <= 20; connections++) {
    const used = { link: 0, notice: 0, mail: 0 };
    while (mayUse("link", used, connections)) used.link++;
    assert.equal(used.link, connections - 2);
    for (const use of ["mail", "notice"] as const) {
      assert.ok(mayUse(use, used, connections), `${use} of ${connections}`);
      used[use]++;
    }
  }
});

Deno.test("mayUse() gives all of two connections to anybody", () => {
  for (const use of USES) {
    const used = { link: 0, notice: 0, mail: 0 };
    while (mayUse(use, used, 2)) used[use]++;
    assert.equal(used[use], 2);
  }
});

Deno.test("NextHopUses admits who waits longest among those who may, and nobody who gave up", async () => {
  const uses = new NextHopUses(3);
  assert.equal(await uses.take("mail", never), true);
  const order: string[] = [];
  const abort = new AbortController();
  const gone = uses.take("mail", abort.signal);
  const waiting = (["mail", "notice", "link"] as const).map((use) =>
    uses.take(use, never).then((admitted) => order.push(`${use} ${admitted}`))
  );
  await Promise.all(waiting.slice(1));
  assert.deepEqual(order.sort(), ["link true", "notice true"], "room is kept for both");
  abort.abort();
  assert.equal(await gone, false);
  uses.giveBack("notice");
  uses.giveBack("mail");
  await waiting[0];
  assert.equal(order.at(-1), "mail true");
  assert.equal(await uses.take("mail", abort.signal), false);
});
