// make.mjs - draws the figures of docs/prediction.md: paper 001's figures 4 to
// 8, from what the models say.
//
//     build/release/bin/table1_print | node docs/figures/make.mjs docs/figures
//
// Nothing is worked out here but where things stand on the page; the numbers
// are those of the CSV (tests/predict/table1_print.c).
import { readFileSync, writeFileSync } from 'node:fs';

const folder = process.argv[2];
if (!folder) {
    console.error('usage: table1_print | node make.mjs FOLDER');
    process.exit(2);
}

const rows = readFileSync(0, 'utf8').trim().split('\n').slice(1)
    .map(line => line.split(','))
    .map(([figure, program, series, value]) =>
        ({ figure, program, series, value: Number(value) }));
const unique = list => [...new Set(list)];

const colours = ['#33608c', '#7fa8d1', '#c9772b', '#7a7a7a'];
const style = `
  text { font: 12px sans-serif; fill: #222 }
  .small { font-size: 10px }
  .title { font-size: 14px; font-weight: bold }
  .grid { stroke: #ddd } .axis { stroke: #222 }
  .dedicated { stroke: #a00; stroke-dasharray: 4 3 }`;

function page(width, height, title, parts) {
    return `<svg xmlns="http://www.w3.org/2000/svg" ` +
        `viewBox="0 0 ${width} ${height}" width="${width}" ` +
        `height="${height}" role="img">
<title>${title}</title>
<style>${style}
</style>
<rect width="${width}" height="${height}" fill="#fff"/>
<text class="title" x="16" y="24">${title}</text>
${parts.join('\n')}
</svg>
`;
}

function legend(names, y) {
    let x = 56;
    return names.flatMap((name, i) => {
        const at = x;
        x += 34 + 7 * name.length;
        return [
            `<rect x="${at}" y="${y - 10}" width="12" height="12" ` +
                `fill="${colours[i]}"/>`,
            `<text x="${at + 18}" y="${y}">${name}</text>`,
        ];
    });
}

// --- bars ---

function bars(figure, title) {
    const mine = rows.filter(row => row.figure === figure);
    const programs = unique(mine.map(row => row.program));
    const series = unique(mine.map(row => row.series));
    const width = 760, height = 340, left = 56, right = 16, top = 64,
        bottom = 36;
    const step = 50;
    const most = Math.max(...mine.map(row => row.value));
    const ceiling = Math.ceil(most / step + 0.2) * step;
    const y = value =>
        height - bottom - value / ceiling * (height - top - bottom);
    const group = (width - left - right) / programs.length;
    const bar = group * 0.84 / series.length;
    const parts = legend(series, 48);

    for (let value = 0; value <= ceiling; value += step) {
        const kind = value === 100 ? 'dedicated' : value ? 'grid' : 'axis';
        parts.push(`<line class="${kind}" x1="${left}" x2="${width - right}" ` +
            `y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>`);
        parts.push(`<text class="small" x="${left - 6}" ` +
            `y="${(y(value) + 3).toFixed(1)}" text-anchor="end">${value}` +
            `</text>`);
    }
    programs.forEach((program, i) => {
        const from = left + i * group + group * 0.08;
        parts.push(`<text x="${(left + (i + 0.5) * group).toFixed(1)}" ` +
            `y="${height - 14}" text-anchor="middle">${program}</text>`);
        series.forEach((name, j) => {
            const row = mine.find(one =>
                one.program === program && one.series === name);
            if (!row)
                return;
            const x = from + j * bar;
            parts.push(`<rect x="${x.toFixed(1)}" ` +
                `y="${y(row.value).toFixed(1)}" ` +
                `width="${(bar - 2).toFixed(1)}" ` +
                `height="${(y(0) - y(row.value)).toFixed(1)}" ` +
                `fill="${colours[j]}"><title>${program}, ${name}: ` +
                `${row.value}</title></rect>`);
            parts.push(`<text class="small" text-anchor="middle" ` +
                `x="${(x + bar / 2 - 1).toFixed(1)}" ` +
                `y="${(y(row.value) - 4).toFixed(1)}">` +
                `${row.value.toFixed(0)}</text>`);
        });
    });
    return page(width, height, title, parts);
}

// --- busy and idle in turns ---

function patterns(title) {
    const mine = rows.filter(row => row.figure === '4');
    const cases = unique(mine.map(row => row.program));
    const value = (program, series) => mine.find(row =>
        row.program === program && row.series === series).value;
    const width = 760, height = 400, left = 150, span = 1500;
    const x = ms => left + ms / span * (width - left - 36);
    const parts = legend(['busy', 'busy, longer as it shares'], 48);

    // Cycles until the page ends.
    const draw = (y, busy, extra, idle) => {
        parts.push(`<line class="grid" x1="${x(0)}" x2="${x(span)}" ` +
            `y1="${y + 18}" y2="${y + 18}"/>`);
        for (let at = 0; at < span; at += busy + extra + idle) {
            [[at, busy], [at + busy, extra]].forEach(([from, ms], i) => {
                const to = Math.min(from + ms, span);
                if (to > from)
                    parts.push(`<rect x="${x(from).toFixed(1)}" y="${y}" ` +
                        `width="${(x(to) - x(from)).toFixed(1)}" ` +
                        `height="18" fill="${colours[i]}" stroke="#fff"/>`);
            });
        }
    };
    cases.forEach((program, i) => {
        const y = 72 + i * 104;
        const busy = value(program, 'busy'), idle = value(program, 'idle');
        parts.push(`<text x="16" y="${y + 8}">(${program}) ${busy} ms busy, ` +
            `${idle} ms idle</text>`);
        [['alone', 0], ['credit', value(program, 'extra by credit')],
            ['fair', value(program, 'extra by fair')]].forEach(
            ([name, extra], j) => {
                parts.push(`<text class="small" x="${left - 8}" ` +
                    `y="${y + 28 + j * 26}" text-anchor="end">${name}` +
                    `${j ? ` (+${extra} ms)` : ''}</text>`);
                draw(y + 15 + j * 26, busy, extra, idle);
            });
    });
    for (let ms = 0; ms <= span; ms += 250)
        parts.push(`<text class="small" x="${x(ms).toFixed(1)}" ` +
            `y="${height - 10}" text-anchor="middle">${ms} ms</text>`);
    return page(width, height, title, parts);
}

const figures = {
    4: patterns('A busy phase beside one competing process, by two laws'),
    5: bars('5', 'One node shared (dedicated: 100)'),
    6: bars('6', 'All nodes shared: bounds (dedicated: 100)'),
    7: bars('7', 'One link of 10 Mbit/s (dedicated: 100)'),
    8: bars('8', 'All links of 10 Mbit/s: bounds (dedicated: 100)'),
};
for (const [number, text] of Object.entries(figures))
    writeFileSync(`${folder}/prediction-${number}.svg`, text);
