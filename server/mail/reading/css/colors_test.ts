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

Deno.test("readAttributeColor() reads whatever stands there, as browsers do", () => {
  assert.deepEqual(readAttributeColor(" FFFFFF "), WHITE);
  assert.deepEqual(readAttributeColor("White"), WHITE);
  assert.deepEqual(readAttributeColor("chucknorris"), readColor("#c00000"));
  assert.deepEqual(readAttributeColor("#ffffffffffff"), WHITE);
  assert.deepEqual(readAttributeColor("fff"), readColor("#0f0f0f"));
  assert.deepEqual(readAttributeColor("#1234567"), readColor("#124570"));
  assert.equal(readAttributeColor("transparent"), undefined);
  assert.equal(readAttributeColor(" "), undefined);
});

Deno.test("isInvisible() compares what is seen", () => {
  assert.ok(isInvisible(readColor("rgba(255,255,255,.1)")!, WHITE));
  assert.ok(isInvisible(readColor("transparent")!, WHITE));
  assert.ok(isInvisible(readColor("#fefefe")!, WHITE));
  assert.ok(isInvisible(readColor("#d5d5d5")!, WHITE));
  assert.ok(!isInvisible(readColor("#d0d0d0")!, WHITE));
});

Deno.test("readColor() reads the colour spaces of CSS Color 4", () => {
  const close = (value: string, hex: string) => {
    const [found, wanted] = [readColor(value)!, readColor(hex)!];
    for (const channel of ["red", "green", "blue"] as const) {
      assert.ok(Math.abs(found[channel] - wanted[channel]) <= 1, `${value} is no ${hex}`);
    }
  };
  close("hwb(90 10% 10%)", "#80e619");
  close("hwb(0 60% 60%)", "#808080");
  close("hwb(0 100% 0%)", "#ffffff");
  close("lab(100% 0 0)", "#ffffff");
  close("lab(29.2345% 39.3825 20.0664)", "#7d2329");
  close("lch(29.2345% 44.2 27)", "#7d2329");
  close("lch(100% 0 0)", "#ffffff");
  close("oklab(40.101% 0.1147 0.0453)", "#7d2329");
  close("oklch(100% 0 0)", "#ffffff");
  close("oklch(40.101% 0.12332 21.555)", "#7d2329");
  close("canvastext", "#000000");
});
