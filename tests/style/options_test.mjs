// options_test.mjs - docs/options.md has all options of all commands and
// applications, each with its letter, what it takes and where it is known; and
// no others. A letter stands for one word.
//
//     options_test.mjs SOURCE BIN
import {execFileSync} from 'child_process';
import {readFileSync, readdirSync} from 'fs';
import {join} from 'path';

const [source, bin] = process.argv.slice(2);

let failures = 0;
function wrong(text) {
  console.log(text);
  failures++;
}

// --- what the programs say ---

// The lines of a list, each as its fields.
function listed(program, ...words) {
  return execFileSync(join(bin, program), words,
                      {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']})
      .split('\n').filter(line => line).map(line => line.split('\t'));
}

// Commands that have commands of their own list them; for others that is wrong
// usage.
function commands(...words) {
  return listed('eventspace', ...words, '--list-commands').flatMap(([name]) => {
    const all = [...words, name];
    try {
      return commands(...all);
    } catch (error) {
      if (error.status !== 2)
        throw error;
      return [all];
    }
  });
}

const applications = readdirSync(join(source, 'apps')).flatMap(folder => {
  try {
    const text = readFileSync(join(source, 'apps', folder, 'CMakeLists.txt'),
                              'utf8');
    return [...text.matchAll(/^add_executable\((\w+)/gm)].map(m => m[1]);
  } catch {
    return [];
  }
});
const programs = new Map([
  ...commands().map(words => [words.join(' '), ['eventspace', ...words]]),
  ...applications.map(name => [name, [name]])]);

// By word: {letters, takes, commands}, each a sorted list.
const known = new Map();
for (const [name, words] of programs) {
  for (const [word, letter, takes] of listed(...words, '--list-options')) {
    const option = known.get(word) ??
      {letters: new Set(), takes: new Set(), commands: new Set()};
    option.letters.add(letter);
    option.takes.add(takes);
    option.commands.add(name);
    known.set(word, option);
  }
}

// --- what the table says ---

const text = readFileSync(join(source, 'docs', 'options.md'), 'utf8');
const rows = text.split('\n').filter(line => line.startsWith('| `--'))
    .map(line => line.split(/(?<!\\)\|/).slice(1, -1)
        .map(cell => cell.trim().replaceAll('\\|', '|')));

function names(cell) {
  return cell.split(', ').flatMap(name =>
    name === 'all' ? [...programs.keys()]
      : name === 'applications' ? applications : [name]);
}

const sorted = set => [...set].sort().join(', ');
const quoted = cell => [...cell.matchAll(/`([^`]*)`/g)].map(m => m[1]);
const told = new Map(rows.map(([option, letter, takes, meaning, commands]) => [
  quoted(option)[0].slice(2), {
    letters: sorted(new Set(letter ? [quoted(letter)[0].slice(1)] : [''])),
    takes: takes ? sorted(new Set(quoted(takes))) : '',
    commands: sorted(new Set(names(commands))), meaning}]));

// --- in both directions ---

function compare(word, what, table, programs) {
  if (table !== programs)
    wrong(`--${word}: ${what}: the table has "${table}", the programs ` +
          `"${programs}"`);
}

for (const [word, option] of known) {
  const row = told.get(word);
  if (!row) {
    wrong(`--${word}, of ${sorted(option.commands)}, is not in the table`);
    continue;
  }
  compare(word, 'letter', row.letters, sorted(option.letters));
  compare(word, 'takes', row.takes, sorted(option.takes));
  compare(word, 'commands', row.commands, sorted(option.commands));
  if (!/^[A-Z].*\.$/.test(row.meaning))
    wrong(`--${word}: its meaning is no sentence`);
}
for (const word of told.keys()) {
  if (!known.has(word))
    wrong(`--${word} is in the table only`);
}
const words = rows.map(row => quoted(row[0])[0]);
for (let i = 1; i < words.length; i++) {
  if (words[i - 1] >= words[i])
    wrong(`${words[i - 1]} stands before ${words[i]}`);
}
const letters = new Map();
for (const [word, option] of known) {
  for (const letter of option.letters) {
    if (letter && letters.has(letter))
      wrong(`-${letter} is --${letters.get(letter)} and --${word}`);
    if (letter)
      letters.set(letter, word);
  }
}

console.log(`${known.size} options of ${programs.size} programs, ` +
            `${failures} wrong`);
process.exitCode = known.size > 80 && failures === 0 ? 0 : 1;
