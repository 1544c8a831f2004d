// page.mjs - what the figures that are drawn from measurements share: a page of SVG,
// its axes, and lines.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';

export const width = 760, left = 56, right = 16, top = 60, bottom = 44;
export const number = value => Number(value.toFixed(2));

const style = `
  text { font: 12px sans-serif; fill: #222 }
  .small { font-size: 10px }
  .title { font-size: 14px; font-weight: bold }
  .grid { stroke: #ddd } .axis { stroke: #222 }
  .range { fill: #7fa8d1; opacity: 0.55 } .mean { stroke: #33608c; stroke-width: 2 }
  .within { fill: #222 } .outside { fill: #c33 }
  .line { fill: none; stroke: #33608c; stroke-width: 1.5 }
  .normal { fill: none; stroke: #c9772b; stroke-dasharray: 5 3; stroke-width: 1.5 }
  .bar { fill: #7fa8d1 } .aside { fill: none; stroke: #bbb }
  .during { fill: #7fa8d1; opacity: 0.35 } .promised { fill: #e8efe4 }`;

export function page(output, name, title, height, parts) {
  writeFileSync(join(output, `${name}.svg`),
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `width="${width}" height="${height}" role="img">\n<title>${title}</title>\n` +
    `<style>${style}\n</style>\n<rect width="${width}" height="${height}" fill="#fff"/>\n` +
    `<text class="title" x="16" y="24">${title}</text>\n${parts.join('\n')}\n</svg>\n`);
}

export const scale = (from, to, low, high) =>
  value => low + (value - from) / (to - from) * (high - low);

export function steps(from, to) {
  const raw = (to - from) / 6, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(k => k * power).find(k => k >= raw);
  const all = [];
  for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-6; at += step)
    all.push(Number(at.toPrecision(6)));
  return all;
}

export function axes(x, y, xs, ys, height, xTitle, yTitle, [from, to] = [left, width - right]) {
  return [
    ...ys.map(value => `<line class="grid" x1="${from}" x2="${to}" y1="${y(value)}" ` +
      `y2="${y(value)}"/><text class="small" x="${from - 6}" y="${y(value) + 3}" ` +
      `text-anchor="end">${value}</text>`),
    ...xs.map(value => `<text class="small" x="${x(value)}" y="${height - bottom + 14}" ` +
      `text-anchor="middle">${value}</text>`),
    `<line class="axis" x1="${from}" x2="${to}" y1="${height - bottom}" ` +
      `y2="${height - bottom}"/>`,
    `<text class="small" x="${(from + to) / 2}" y="${height - 10}" text-anchor="middle">` +
      `${xTitle}</text>`,
    `<text class="small" x="${from}" y="${top - 12}">${yTitle}</text>`,
  ];
}

export const path = (className, points) => `<path class="${className}" d="M${points
  .map(([x, y]) => `${number(x)} ${number(y)}`).join('L')}"/>`;
