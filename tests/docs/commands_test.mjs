// commands_test.mjs - what a page says one types is typed, and what it says
// comes out is compared with what does.
//
//     commands_test.mjs SOURCE BUILD PAGE.md
//
// A page is one session of bash in an empty folder, which is also its home,
// with the programs of BUILD in PATH and SOURCE as EVENTSPACE:
//
//   ```sh       its commands are run, and must succeed
//   ```console  "$ COMMAND" is run, lines that begin with "> " continue it, and
//               the other lines are what it prints. Numbers may be others, and
//               so may blanks; a line "..." stands for any lines.
//
// A comment before a block says what is special about it, and a reader does not
// see it:
//
//   <!-- file: NAME -->     the block is this file: it is written, not run
//   <!-- rows differ -->    of tables only heads are compared; a line "..." may
//                           stand for rows
//   <!-- fails -->          its last command must not succeed
//   <!-- not run: WHY -->   neither; for what takes a network, or minutes
//
// A command that is only indented is refused: it would not be run.
//
// With UPDATE_DOCS=1 in the environment nothing is compared, and the page is
// written anew with what its commands print: look at the difference then.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [source, build, page] = process.argv.slice(2).map((p) => resolve(p));
const folder = mkdtempSync(join(tmpdir(), 'eventspace-page-'));

/* --- what the page says --- */

/* Blocks, each with the comments that stand right before it. */
function blocksOf(text) {
  const lines = text.split('\n');
  const blocks = [];
  let notes = [];
  for (let i = 0; i < lines.length; i++) {
    const comment = /^\s*<!-- (.*) -->$/.exec(lines[i]);
    const fence = /^(\s*)```(\w*)$/.exec(lines[i]);
    if (comment) {
      notes.push(comment[1]);
    } else if (fence) {
      const block = {at: i + 1, language: fence[2], notes, lines: []};
      while (lines[++i].trim() !== '```')
        block.lines.push(lines[i].slice(fence[1].length));
      blocks.push(block);
      notes = [];
    } else if (lines[i].trim()) {
      assert.doesNotMatch(lines[i], /^ {4,}(\$ |eventspace |\.\/bootstrap)/,
        `${page}:${i + 1}: commands stand in a block of sh or console`);
      notes = [];
    }
  }
  return blocks;
}

const noteOf = (block, word) => block.notes.find((note) =>
  note === word || note.startsWith(`${word}: `))?.slice(word.length + 2);

/* One more line that it prints, at this line of the page, from 0. */
function take(command, at, line) {
  command.from ??= at;
  command.prints.push(line);
}

/* Commands of a block, each with the lines that it is said to print. */
function commandsOf(block) {
  if (block.language === 'sh')
    return [{at: block.at, text: block.lines.join('\n'), prints: null}];
  const commands = [];
  block.lines.forEach((line, i) => {
    if (line.startsWith('$ '))
      commands.push({at: block.at + i + 1, text: line.slice(2), prints: []});
    else if (line.startsWith('> ') && !commands.at(-1).prints.length)
      commands.at(-1).text += `\n${line.slice(2)}`;
    else if (line.trim() || commands.at(-1)?.prints.length)
      take(commands.at(-1), block.at + i, line);
  });
  return commands;
}

/* --- what comes out --- */

/* As lines to compare: a number is any number, with its sign and its commas,
 * and what is empty in one run may be a number in another. */
function masked(text) {
  return text.split('\n').map((line) => line
    .replace(/-?\d[\d,]*(\.\d+)?(e-?\d+)?/g, '#')
    .replace(/[ \t]+/g, ' ').trim()).filter((line) => line);
}

/* Heads of tables: lines without a number. */
const headsOf = (lines) => lines.filter((line) =>
  !line.includes('#') && line !== '...');

function sameLines(printed, said) {
  let from = 0;
  for (let i = 0; i < said.length; i++) {
    if (said[i] === '...') {
      if (i === said.length - 1)
        return true;
      while (from < printed.length && printed[from] !== said[i + 1])
        from++;
    } else if (printed[from++] !== said[i]) {
      return false;
    }
  }
  return from === printed.length;
}

/* What is to be written over lines of the page. */
const updates = process.env.UPDATE_DOCS ? [] : null;

/* Where "..." stands for rows, the others are found by their words. */
function update(command, printed) {
  const lines = printed.trimEnd().split('\n').map((line) => line.trimEnd());
  const wordsOf = (line) => line.match(/\S*[A-Za-z]\S*/g)?.join(' ') ?? '';
  const sameAs = (said) => said === '...' ? said :
    lines.find((line) => wordsOf(line) === wordsOf(said)) ?? said;
  updates.push({from: command.from, count: command.prints.length,
    lines: command.prints.includes('...') ?
      [lines[0], ...command.prints.slice(1).map(sameAs)] : lines});
}

function writePage() {
  const lines = readFileSync(page, 'utf8').split('\n');
  for (const {from, count, lines: now} of updates.reverse())
    lines.splice(from, count, ...now);
  writeFileSync(page, lines.join('\n'));
}

function compare(where, printed, said, rowsDiffer) {
  const [a, b] = [masked(printed), masked(said.join('\n'))];
  if (rowsDiffer)
    assert.deepEqual(headsOf(a).filter((line) => headsOf(b).includes(line)),
      headsOf(b), `${where}: other heads:\n${printed}`);
  else
    assert.ok(sameLines(a, b), `${where}: it prints\n${printed}\nand is said ` +
      `to print\n${said.join('\n')}`);
}

/* --- the session --- */

/* Open MPI refuses root, and more processes than processors, unless these say so. */
const ofMpi = {OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1'};

/* Each command in a shell of its own, which has what the one before has left:
 * its folder and its variables. */
function run(command) {
  const script = `trap 'code=$?; export FOLDER=$PWD; ` +
    `export -p >"$HOME/.session"; exit $code' EXIT\n` +
    `[ ! -e ~/.session ] || . ~/.session\n` +
    `cd "\${FOLDER:-$HOME}"\nset -e -o pipefail\n${command}\n`;
  const done = spawnSync('bash', ['-c', script], {cwd: folder,
    encoding: 'utf8', timeout: 280000, maxBuffer: 1 << 26, env: {
      ...process.env, ...ofMpi, HOME: folder, EVENTSPACE: source,
      LC_ALL: 'C.UTF-8',
      PATH: `${join(build, 'bin')}:${process.env.PATH}`}});
  assert.ok(!done.error, `${command}: ${done.error}`);
  /* Whether others have the processors is not of the page. */
  done.stderr = done.stderr.replace(/^eventspace: disturbed: .*\n/gm, '');
  return done;
}

function blockRun(block, counts) {
  const file = noteOf(block, 'file');
  if (file) {
    writeFileSync(join(folder, file), `${block.lines.join('\n')}\n`);
    return;
  }
  if (block.language !== 'sh' && block.language !== 'console')
    return;
  if (noteOf(block, 'not run') !== undefined) {
    counts.skipped++;
    return;
  }
  const commands = commandsOf(block);
  commands.forEach((command, i) => {
    const where = `${page}:${command.at}: ${command.text}`;
    const fails = noteOf(block, 'fails') !== undefined &&
      i === commands.length - 1;
    const done = run(command.text);
    assert.equal(done.status !== 0, fails,
      `${where}: ${done.status} ${done.stdout}${done.stderr}`);
    if (command.prints?.length && updates)
      update(command, done.stdout + done.stderr);
    else if (command.prints)
      compare(where, done.stdout + done.stderr, command.prints,
        noteOf(block, 'rows differ') !== undefined);
    counts.run++;
  });
}

try {
  const counts = {run: 0, skipped: 0};
  for (const block of blocksOf(readFileSync(page, 'utf8')))
    blockRun(block, counts);
  console.log(`${page}: ${counts.run} commands run, ${counts.skipped} blocks ` +
    'not run');
  if (updates)
    writePage();
  assert.ok(counts.run > 0, 'it has no command that could be run');
} finally {
  rmSync(folder, {recursive: true, force: true});
}
