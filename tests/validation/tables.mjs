// tables.mjs - the tables of docs/prediction.md from what validation has found.
//
//     node tables.mjs FOLDER DOCUMENT
//
// Each FOLDER/NAME.jsonl for which there is a table here takes the place of what
// stands in the document between <!-- table NAME --> and <!-- end -->.
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [folder, file] = process.argv.slice(2);
const percent = share => share === null ? '' : `${(share * 100).toFixed(1)} %`;
const seconds = s => s === null ? '' : s.toFixed(2);

const shared = ({where, link}) => ({one: 'one processor', all: 'all processors', link,
  both: `one processor, ${link}`})[where];

const tables = {
  foreign: lines => [
    '| program | alone s | with competitors s | predicted s | error | scaled |',
    '|---|---|---|---|---|---|',
    ...lines.filter(line => line.best).map(line =>
      `| ${line.program} | ${seconds(line.alone_s)} | ` +
      `${seconds(line.measured_s)} | ${seconds(line.predicted_s)}` +
      `${line.to_s === null ? '' : ` to ${seconds(line.to_s)}`} | ` +
      `${percent(line.error)} | ${percent(line.scaled_error)} |`),
  ],
  mpi: lines => [
    '| program | library | shared | session | alone s | shared s | predicted s | error | scaled |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines.map(line =>
      `| ${line.kernel}${line.language === 'fortran' ? ' (Fortran)' : ''} | ` +
      `${line.library.replace('.', ', ')} | ${shared(line)} | ` +
      `${line.where === 'link' ? '' : line.session} | ${seconds(line.alone_s)} | ${seconds(line.shared_s)} | ` +
      `${seconds(line.predicted_s)} | ${percent(line.error)} | ${percent(line.scaled)} |`),
  ],
};

let text = readFileSync(file, 'utf8');
for (const [name, make] of Object.entries(tables)) {
  const from = join(folder, `${name}.jsonl`);
  const place = new RegExp(
    `(<!-- table ${name} -->\n)[^]*?(<!-- end -->)`);
  if (!existsSync(from))
    continue;
  if (!place.test(text))
    throw new Error(`${file}: it has no place for the table ${name}`);
  const lines = readFileSync(from, 'utf8').trim().split('\n')
    .map(line => JSON.parse(line));
  text = text.replace(place, (_, begin, end) =>
    `${begin}${make(lines).join('\n')}\n${end}`);
}
writeFileSync(file, text);
