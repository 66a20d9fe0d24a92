import assert from "node:assert/strict";
import { isInvisible, readAttributeColor, readColor, WHITE } from "./colors.ts";

const rgb = (text: string) => {
  const color = readColor(text);
  return color && [color.red, color.green, color.blue, color.alpha];
};

Deno.test("readColor() reads what CSS calls colours", () => {
  assert.deepEqual(rgb("#f80"), [255, 136, 0, 1]);
  assert.deepEqual(rgb("#ff880080"), [255, 136, 0, 128 / 255]);
  assert.deepEqual(rgb("rebeccapurple"), [102, 51, 153, 1]);
  assert.deepEqual(rgb("rgb(1, 2, 300)"), [1, 2, 255, 1]);
  assert.deepEqual(rgb("rgb(10% 20% 30% / 50%)"), [26, 51, 77, 0.5]);
  assert.deepEqual(rgb("hsl(120, 100%, 25%)"), [0, 128, 0, 1]);
  assert.deepEqual(rgb("hsla(-0.5turn 100% 50% / .25)"), [0, 255, 255, 0.25]);
  assert.deepEqual(rgb("transparent"), [0, 0, 0, 0]);
});

Deno.test("readColor() reads nothing else", () => {
  const texts = [
    "",
    "#",
    "#ggg",
    "#12345",
    "ffffff",
    "rgb(1,2)",
    "rgb(a,b,c)",
    "rgb(1,2,3",
    "url(x)",
  ];
  assert.deepEqual(texts.filter((text) => readColor(text) !== undefined), []);
  assert.equal(readColor(`rgb(${" ".repeat(200)}1,2,3)`), undefined);
});

Deno.test("readAttributeColor() reads digits without #, too", () => {
  assert.deepEqual(readAttributeColor(" FFFFFF "), WHITE);
  assert.deepEqual(readAttributeColor("White"), WHITE);
  assert.equal(readAttributeColor("chucknorris"), undefined);
});

Deno.test("isInvisible() compares what is seen", () => {
  assert.ok(isInvisible(readColor("rgba(255,255,255,.1)")!, WHITE));
  assert.ok(isInvisible(readColor("transparent")!, WHITE));
  assert.ok(!isInvisible(readColor("#fefefe")!, WHITE));
});
