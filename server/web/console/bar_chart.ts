/** A chart by the server: bars of one hue on a line, two labels, and the values for who cannot see them. Pure. */
import { html } from "hono/html";
import { countText, type Html } from "../../base/pages/elements.ts";

export interface Bar {
  label: string;
  value: number;
}

const HEIGHT = 96;

/** @param bars oldest first, at least one @param name what is counted */
export function barChart(name: string, bars: readonly Bar[]): Html {
  const most = Math.max(...bars.map(({ value }) => value));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  const words = `${name}: ${countText(total)} in all, at most ${countText(most)}`;
  if (total === 0) return html`<p class="soft">None.</p>`;
  // deno-fmt-ignore
  const rects = bars.map(({ label, value }, i) => {
    const height = value === 0 ? 0 : Math.max(2, Math.round((HEIGHT - 2) * value / most));
    return html`<rect x="${i * 10 + 1}" y="${HEIGHT - height}" width="8" height="${height}"><title>${label}: ${countText(value)}</title></rect>`;
  });
  const some = bars.filter(({ value }) => value > 0);
  // deno-fmt-ignore
  return html`<svg class="chart" viewBox="0 0 ${bars.length * 10} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${words}">${rects}</svg>
<p class="chart-labels soft"><span>${bars[0]!.label}</span><span>${words}</span><span>${bars.at(-1)!.label}</span></p>
<details><summary class="soft">Values</summary><ul>${some.map(({ label, value }) => html`<li>${label}: ${countText(value)}</li>`)}</ul></details>`;
}
