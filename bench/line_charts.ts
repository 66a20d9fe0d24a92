/** Small line charts side by side as one SVG, the horizontal axis logarithmic. */

export interface Chart {
  /** What is shown, with its unit. */
  title: string;
  points: readonly { x: number; y: number }[];
}

const WIDTH = 230;
const HEIGHT = 170;
const MARGIN = { left: 46, right: 14, top: 30, bottom: 30 };
const PLOT = {
  width: WIDTH - MARGIN.left - MARGIN.right,
  height: HEIGHT - MARGIN.top - MARGIN.bottom,
};

/**
 * @param charts of the same horizontal values, ascending and above 0
 * @param columns how many stand in one line
 */
export function lineCharts(charts: readonly Chart[], columns: number): string {
  const lines = Math.ceil(charts.length / columns);
  const width = WIDTH * Math.min(columns, charts.length);
  const height = HEIGHT * lines;
  const cells = charts.map((chart, i) => {
    const [left, top] = [(i % columns) * WIDTH, Math.floor(i / columns) * HEIGHT];
    return `<g transform="translate(${left} ${top})">${drawChart(chart)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `width="${width}" height="${height}" font-family="sans-serif" font-size="10">\n` +
    `<rect width="100%" height="100%" fill="#fff"/>\n${cells.join("\n")}\n</svg>\n`;
}

function drawChart({ title, points }: Chart): string {
  const top = roundUp(Math.max(...points.map(({ y }) => y)));
  const [first, last] = [points[0]!.x, points.at(-1)!.x];
  const span = Math.log10(last) - Math.log10(first);
  const xOf = (x: number) =>
    round(
      MARGIN.left + (span === 0 ? 0.5 : (Math.log10(x) - Math.log10(first)) / span) * PLOT.width,
    );
  const yOf = (y: number) => round(MARGIN.top + (1 - y / top) * PLOT.height);
  const grid = [0, 0.5, 1].map((share) => {
    const y = yOf(top * share);
    return `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${y}" y2="${y}" ` +
      `stroke="#ddd"/><text x="${MARGIN.left - 5}" y="${y + 3}" text-anchor="end">${
        short(top * share)
      }</text>`;
  });
  const ticks = points.map(({ x }) =>
    `<text x="${xOf(x)}" y="${HEIGHT - MARGIN.bottom + 14}" text-anchor="middle">${short(x)}</text>`
  );
  const path = points.map(({ x, y }) => `${xOf(x)},${yOf(y)}`).join(" ");
  const dots = points.map(({ x, y }) =>
    `<circle cx="${xOf(x)}" cy="${yOf(y)}" r="2.5" fill="#1a5fb4"><title>${
      y.toLocaleString("en")
    }</title></circle>`
  );
  return [
    `<text x="${MARGIN.left}" y="16" font-weight="bold">${escapeText(title)}</text>`,
    ...grid,
    ...ticks,
    `<polyline points="${path}" fill="none" stroke="#1a5fb4" stroke-width="1.5"/>`,
    ...dots,
  ].join("");
}

/** The next of 1, 2, 5 times a power of ten. */
function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value)!;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function short(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`;
  if (value >= 1_000) return `${value / 1_000}k`;
  return String(value);
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
