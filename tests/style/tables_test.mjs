// tables_test.mjs - docs/tables.md has all columns of all tables, by their keys
// in CSV and JSON and their heads, and no others; and each view, each --table
// and each command with --format has its section.
//
//     tables_test.mjs SOURCE BIN
//
// The heading of a section is a command, and where its JSON has the table. The
// commands look at a small run, and a profile of it, which are made here.
import {spawnSync} from 'child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'fs';
import {tmpdir} from 'os';
import {join, resolve} from 'path';

const [source, bin] = process.argv.slice(2).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'eventspace-tables-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

let failures = 0;
function wrong(text) {
  console.log(text);
  failures++;
}

// --- what the programs print ---

function run(program, words, input = '') {
  const done = spawnSync(join(bin, program), words, {
    cwd: folder, input, encoding: 'utf8', maxBuffer: 1 << 28,
    env: {...process.env, PATH: `${bin}:${process.env.PATH}`}});
  return {...done, command: `${program} ${words.join(' ')}`};
}

function output(...words) {
  const done = run('eventspace', words);
  if (done.status !== 0)
    throw new Error(`${done.command}: ${done.status}\n${done.stderr}`);
  return done.stdout;
}

const application = run('gsum', ['mapping', '--threads', '4']).stdout;
writeFileSync(join(folder, 'application.dot'), application);
output('map', 'generate', '--application', 'application.dot', '--processes',
       '2', '--output', 'plain.dot');
output('map', 'instrument', 'plain.dot', '--output', 'map.dot');
output('profile', '--no-packets', '--no-switches', '--run=RUN',
       '--output=PROFILE', '--', join(bin, 'eventspace'), 'run', 'map.dot',
       '--output', 'RUN', '--', join(bin, 'gsum'), 'run', '--rounds', '50');
// One of a single process, for experiments that are not about links: each link
// is measured for seconds.
output('profile', '--no-packets', '--no-switches', '--output=LONE', '--', 'true');
writeFileSync(join(folder, 'CLUSTER'),
              'digraph now { a; b; a -> b [latency="50us", bandwidth="1gbit"]; }');

writeFileSync(join(folder, 'MODEL'), 'time = 3s +- 10% + 2s');
writeFileSync(join(folder, 'SERIES'), '0.5\n0.6\n0.4\n');
writeFileSync(join(folder, 'HISTORY'), `# eventspace history 1
# series: latency of a-b
# unit: s
# interval: 5000 ms
1764216000000,50e-6
1764216005000,51e-6
`);
output('map', 'instrument', 'plain.dot', '--output', 'MAP');
mkdirSync(join(folder, 'HISTORIES'));
for (const machine of ['a', 'h0'])
  writeFileSync(join(folder, `HISTORIES/${machine}.history`), `# eventspace history 1
# series: availability of ${machine}
# unit: share
# interval: 5000 ms
1764216000000,0.5
1764216005000,0.6
`);
output('export', 'RUN', '--format=otf2', '--output=OTF2');
// One that no run keeps.
writeFileSync(join(folder, 'CONTRACT'), `interval 0.0001; violated 1;
  metric intrinsic many = operations;
  class intrinsic of all (1e12) deviates (0) seen 3;
  class intrinsic of "h0" (1e12) deviates (0) seen 3;
`);

// Files that the page calls otherwise.
const files = {'TRACE.otf2': 'OTF2/traces.otf2'};

// What a command needs besides, to be quick and to have all its columns.
const besides = {
  import: ['--replace'],
  netbench: ['--duration=50ms', '--sizes=65536..4M'],
  load: ['--duration=20ms'],
  signature: ['--interval=100us', '--tolerance=1'],
  predict: ['--node=h0:load=1'],
  choose: ['--profiled-link=latency=50us,bandwidth=1gbit'],
  experiment: ['--command', '--runs=1', '--profile=LONE', '--', 'true'],
  'experiment --table=links': ['--command', '--runs=1', '--profile=PROFILE', '--',
                               'true'],
};

const kept = new Map();
function print(command, format) {
  const words = command.split(' ').map(word => files[word] ?? word);
  const all = [...words, `--format=${format}`,
               ...besides[command] ?? besides[words[0]] ?? []];
  const key = all.join(' ');
  for (let tries = 1; !kept.has(key); tries++) {
    const done = run('eventspace', all);
    // On a busy machine large messages may seem to be as quick as small ones.
    if (done.status === (words[1] === 'check' ? 3 : 0)) // it is violated
      kept.set(key, done.stdout);
    else if (tries === 20 || !done.stderr.includes('larger messages'))
      throw new Error(`${done.command}: ${done.status}\n${done.stderr}`);
  }
  return kept.get(key);
}

// Some print one value after the other: the first is enough.
function parsed(command) {
  const text = print(command, 'json');
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.slice(0, text.indexOf('\n]') + 2));
  }
}

// What a path of names leads to, of arrays the first item; undefined if one has
// none.
function at(value, path) {
  const inside = Array.isArray(value) ? value[0] : value;
  if (!path || inside === undefined)
    return inside;
  const [name, ...rest] = path.split('.');
  return at(inside[name], rest.join('.'));
}

// The placements have a column for each node, named as it is.
const nodes = output('profile', '--show=PROFILE', '--format=csv').trim()
    .split('\r\n').slice(1).map(line => line.split(',')[0]);
const named = key => nodes.includes(key) ? 'NODE' : key;

// --- what the page says ---

const sections = [];
for (const line of readFileSync(join(source, 'docs/tables.md'), 'utf8')
    .split('\n')) {
  const heading = /^### `eventspace ([^`]+)`(?: in `([^`]+)`)?$/.exec(line);
  const row = /^\| `([^`]+)` \| (.+?) \| (.*?) ?\| (.+) \|$/.exec(line);
  if (heading)
    sections.push({command: heading[1], path: heading[2], rows: []});
  else if (row)
    sections.at(-1).rows.push({key: row[1], head: row[2]});
  else if (line.startsWith('### ') || line.startsWith('| `'))
    wrong(`docs/tables.md: what is "${line}"?`);
}

// --- both ---

function compare(what, printed, wanted, ordered) {
  const sort = list => ordered ? list : [...list].sort();
  const [has, says] = [printed, wanted].map(list => sort(list).join(' '));
  if (has !== says)
    wrong(`${what}:\n  has       ${has}\n  the page  ${says}`);
}

function checkTable({command, path, rows}) {
  const keys = rows.map(row => row.key);
  const unique = list => [...new Set(list)];
  const csv = print(command, 'csv').split('\r\n')[0].split(',').map(named);
  compare(`${command}, CSV`, unique(csv), keys, true);
  if (/^experiment --table=(?!answers)/.test(command))
    return; // each takes seconds, and all formats are made from one table
  const first = at(parsed(command), path);
  // Objects may have more than the table has room for: those have a section.
  const more = sections.some(other => other.path === path &&
                             other.command === `${command} --format=json`);
  if (first === undefined)
    return;
  if (!more)
    compare(`${command}, JSON`, unique(Object.keys(first).map(named)), keys,
            true);
  const heads = rows.map(row => row.head).filter(head => head !== '—')
      .flatMap(head => head === 'NODE' ? nodes : [head]).join(' ');
  const plain = text => text.trim().split(/\s+/).join(' ');
  if (!print(command, 'table').split('\n').some(line => plain(line) === heads))
    wrong(`${command}: no line has the heads "${heads}"`);
}

function checkObject({command, path, rows}) {
  const value = at(parsed(command.replace(' --format=json', '')), path);
  compare(`${command} ${path ?? ''}`, value ? Object.keys(value) : [],
          rows.map(row => row.key), false);
}

// Events have no table for people; CSV and JSON lines have the same columns.
function checkEvents({command, rows}) {
  const keys = rows.map(row => row.key);
  const csv = output(...command.split(' '), '--format=csv').split('\r\n');
  const jsonl = output(...command.split(' '), '--format=jsonl').split('\n');
  compare(`${command}, CSV`, csv[0].split(','), keys, true);
  compare(`${command}, JSON lines`, Object.keys(JSON.parse(jsonl[0])), keys,
          true);
}

for (const section of sections)
  (section.command.includes(' --format=json') ? checkObject
   : section.command.startsWith('export ')    ? checkEvents
                                              : checkTable)(section);

// --- is there all? ---

const commands = new Set(sections.map(section => section.command));
const begins = words => [...commands].some(
    command => command === words || command.startsWith(`${words} `));

const views = JSON.parse(output('view', '--list', '--format=json'));
for (const {view, detail} of views) {
  for (const words of [`view RUN ${view}`,
                       ...detail ? [`view RUN ${view} --detail`] : []])
    if (!commands.has(words))
      wrong(`docs/tables.md has no ${words}`);
}
for (const command of output('--list-commands').trim().split('\n')) {
  const name = command.split('\t')[0];
  if (run('eventspace', [name, '--list-commands']).status === 0)
    continue; // of several, each with options of its own
  const options = run('eventspace', [name, '--list-options']).stdout.split('\n')
      .map(line => line.split('\t')[0]);
  if (options.includes('format') !== begins(name))
    wrong(`${name} ${options.includes('format') ? 'has' : 'has no'} --format`);
  if (!options.includes('table'))
    continue;
  // The refusal of a wrong one names them all.
  const names = /one of (.+)/.exec(run('eventspace', [name, '--table=?'])
      .stderr)[1].split(', ');
  const found = [...commands].filter(words => words.startsWith(`${name} `) &&
                                    !words.includes(' --format=json'))
      .flatMap(words => /--table=(\w+)/.exec(words)?.[1] ?? []);
  compare(`${name} --table`, names, found, false);
}
if (!sections.length)
  wrong('docs/tables.md has no tables');

console.log(`${sections.length} tables, ${failures} problems`);
process.exit(failures ? 1 : 0);
